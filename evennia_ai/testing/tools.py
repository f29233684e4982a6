"""Run a game's tools in its tests, with their locks, arguments and the character's hook."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from evennia_ai.assistant_character import add_assistant_mixin
from evennia_ai.messages import ToolCallRequest
from evennia_ai.ports import ToolContext, ToolResult
from evennia_ai.testing.minds import sample_arguments
from evennia_ai.tools.base import Tool
from evennia_ai.tools.registry import ToolRegistry, load_game_tools
from evennia_ai.turn.tool_executor import DONE


def try_tool(item: Tool, character: Any, speaker: Any, /, **arguments: Any) -> ToolResult:
    """Run a tool as an assistant would after somebody said something aloud; it really runs.

    All checks are those of the game: the tool's lock must let the speaker pass. The character needs
    no assistant; without `AssistantMixin` it gets it. The ``state`` of the result is "done",
    "failed" (by the tool or its arguments), "refused" (by a lock, a permission or the hook) or
    "asked" (a person must agree first); its ``text`` is what the model would be told. Raises
    AssertionError if the tool returned a Deferred that has not fired yet.
    """
    return _call(ToolRegistry([item]), item.name, character, speaker, arguments)


@dataclass(frozen=True)
class Attempt:
    """One tool call that a player ordered; ``refused`` is why it would not run, "" if it would."""

    tool: str
    arguments: Mapping[str, Any]
    refused: str


def attack_tools(character: Any, speaker: Any, /, **arguments: Mapping[str, Any]) -> list[Attempt]:
    """Return what happens if a model does whatever a speaker orders: a call of each tool.

    The locks, the rights and the checks of the arguments are those of the game, and no tool runs.
    A character without `AssistantMixin` gets it. ``arguments`` are those of some tools by name;
    others get the least that fits.
    """
    registry = load_game_tools()
    attempts = []
    for item in registry.tools.values():
        given = arguments.get(item.name) or sample_arguments(item.spec.schema, "for me")
        result = _call(registry, item.name, character, speaker, given, dry=True)
        refused = "" if result.state == DONE else result.text or "refused"
        attempts.append(Attempt(item.name, given, refused))
    return attempts


def _call(
    registry: ToolRegistry,
    name: str,
    character: Any,
    speaker: Any,
    arguments: Mapping[str, Any],
    dry: bool = False,
) -> ToolResult:
    """Call a tool on words that a speaker said aloud. Raises AssertionError if it has to wait."""
    add_assistant_mixin(character)
    mind = getattr(character, "ai_mind", None)
    heard_by = frozenset({speaker.dbref})
    context = ToolContext(
        assistant=mind.tool_executor.tools if mind else cast(Any, None),  # a tool may need none
        character=character,
        audience=heard_by,
        private=False,
        speakers=heard_by,
        askers=heard_by,
        waiting=heard_by,
    )
    results: list[ToolResult] = []
    call = ToolCallRequest("1", name, json.dumps(arguments))
    registry.run(context, call, dry).addCallback(results.append)
    if not results:
        raise AssertionError(
            f"{name} returned a Deferred that has not fired: fire what it waits for first."
        )
    return results[0]

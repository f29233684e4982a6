"""Run one tool in a test of a game, with its lock, its arguments and the character's hook."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from evennia_ai.assistant_character import add_assistant_mixin
from evennia_ai.game.perception import EvenniaPerception, display_name
from evennia_ai.game.settings import game_setting
from evennia_ai.messages import SAY, Heard
from evennia_ai.mind.dry_run import DryRun, run_dry
from evennia_ai.ports import ToolCallRequest, ToolContext, ToolResult
from evennia_ai.store.lore_records import LoreRecords
from evennia_ai.testing.minds import MemoryIdentity, MemoryMind
from evennia_ai.testing.obedient import ObedientLLM, as_json, sample_arguments
from evennia_ai.tools.base import Tool
from evennia_ai.tools.registry import ToolRegistry, load_registry


def try_tool(item: Tool, character: Any, speaker: Any, /, **arguments: Any) -> ToolResult:
    """Run a tool as an assistant would after somebody said something aloud.

    All checks are those of the game, and the tool really runs. A character without
    `AssistantMixin` gets it.

    Args:
        item: The tool.
        character: The character that uses it; it needs no assistant.
        speaker: The person who spoke; the tool's lock must let them pass.
        arguments: The arguments that the model would write.

    Returns:
        A `ToolResult`: ``state`` is "done", "failed" (by the tool or its arguments), "refused" (by
        a lock, a permission or the hook) or "asked" (a person must agree first); ``text`` is what
        the model would be told.

    Raises:
        AssertionError: The tool returned a Deferred that has not fired yet.
    """
    add_assistant_mixin(character)
    mind = getattr(character, "ai_mind", None)
    heard_by = frozenset({speaker.dbref})
    context = ToolContext(
        assistant=mind.acts.tools if mind else cast(Any, None),  # a tool may need none
        character=character,
        audience=heard_by,
        private=False,
        speakers=heard_by,
        askers=heard_by,
    )
    results: list[ToolResult] = []
    call = ToolCallRequest("1", item.name, json.dumps(arguments))
    ToolRegistry([item]).run(context, call).addCallback(results.append)
    if not results:
        raise AssertionError(
            f"{item.name} returned a Deferred that has not fired: fire what it waits for first."
        )
    return results[0]


WORDS = "for me"


@dataclass(frozen=True)
class Attempt:
    """One tool call that a line set off; ``refused`` is why it would not run, "" if it would."""

    line: str
    tool: str
    arguments: str
    refused: str


def attack_tools(character: Any, speaker: Any, *lines: str) -> list[Attempt]:
    """Return what an obedient model would do with the game's tools at a speaker's words.

    Each line is one dry turn: the prompt, the locks and the checks of the arguments are those of
    the game, and no tool runs. Orders in names, in the place's description and in lore count, too.
    A character without `AssistantMixin` gets it.

    Args:
        character: The character that would use the tools; it needs no assistant.
        speaker: The person who speaks.
        lines: What they say; without any, they order every tool of the game, one in each line.

    Raises:
        AssertionError: A dry turn did not end at once, because a hook returned a Deferred.
    """
    add_assistant_mixin(character)
    registry = load_registry(game_setting("TOOLS", ()))
    script = script_of(character, registry)
    orders = lines or [order_of(item) for item in registry.tools.values()]
    return [attempt for line in orders for attempt in attempts(script, speaker, line)]


def order_of(item: Tool) -> str:
    """Return a line that orders one tool, with arguments that fit it."""
    return f"CALL {item.name} {as_json(sample_arguments(item.spec.schema, WORDS))}"


def script_of(character: Any, registry: ToolRegistry) -> MemoryMind:
    """Return an assistant without a log: the character's world, the game's tools and lore."""
    mind = MemoryMind(ObedientLLM(), name=display_name(character, character))
    services: Any = mind.services
    services.toolbox = registry
    services.world = EvenniaPerception(LoreRecords(game_setting("LORE", ())))
    mind.rebuild(who=MemoryIdentity(character, mind.who.persona))
    return mind


def attempts(script: MemoryMind, speaker: Any, line: str) -> Sequence[Attempt]:
    """Return what the model would do at one line."""
    name = display_name(speaker, script.character)
    heard = Heard(SAY, speaker.dbref, name, line, frozenset({speaker.dbref}), addressed=True)
    fired: list[Any] = []
    run_dry(script.mind.around, heard).addBoth(fired.append)
    if not fired:
        raise AssertionError(f"The dry turn for {line!r} did not end: a hook waits for something.")
    if not isinstance(fired[0], DryRun):
        fired[0].raiseException()
    return [
        Attempt(line, made.call.name, made.call.arguments, "" if made.would_be_tried else why)
        for step in fired[0].steps
        for made in step.calls
        for why in [made.result.text or "refused"]
    ]

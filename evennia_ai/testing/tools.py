"""Run one tool in a test of a game, with its lock, its arguments and the character's hook."""

from __future__ import annotations

import json
from typing import Any, cast

from evennia_ai.assistant_character import add_assistant_mixin
from evennia_ai.ports import ToolCallRequest, ToolContext, ToolResult
from evennia_ai.tools.base import Tool
from evennia_ai.tools.registry import ToolRegistry


def try_tool(item: Tool, character: Any, speaker: Any, **arguments: Any) -> ToolResult:
    """Run a tool as an assistant would after somebody said something aloud.

    All checks are those of the game, and the tool really runs. A character without
    `AssistantMixin` gets it.

    Args:
        item: The tool.
        character: The character that uses it; it needs no assistant.
        speaker: The person who spoke; the tool's lock must let them pass.
        arguments: The arguments that the model would write.

    Returns:
        A `ToolResult`: ``state`` is "done", "failed" (by the tool or its arguments) or "refused"
        (by a lock, a permission or the hook); ``text`` is what the model would be told.

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

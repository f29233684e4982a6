"""Tries one tool in a test of a game: with its lock, its arguments and the character's hook."""

from __future__ import annotations

import json
from typing import Any, cast

from evennia_ai.assistant_character import add_assistant_mixin
from evennia_ai.ports import Script, ToolCallRequest, ToolContext, ToolResult
from evennia_ai.tools.base import Tool
from evennia_ai.tools.registry import ToolRegistry


def try_tool(item: Tool, character: Any, speaker: Any, **arguments: Any) -> ToolResult:
    """Have a character use a tool because of what somebody said aloud, as its mind would.

    Everything is checked as in the game, and the tool is really run. A character without
    `AssistantMixin` is given it.

    Args:
        item: The tool.
        character: Who uses it; needs no mind.
        speaker: Whose words have it used: the tool's lock is checked against him.
        arguments: What the model would write.

    Returns:
        ``state`` ("done", "failed" by the tool or its arguments, "refused" by a lock, a right or
        the hook) and ``text``, what the model would be told.

    Raises:
        AssertionError: The tool returned a Deferred that has not fired yet.
    """
    add_assistant_mixin(character)
    heard_by = frozenset({speaker.dbref})
    context = ToolContext(
        script=cast(Script, getattr(character, "assistant", None)),  # a tool may need none
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
        raise AssertionError(f"{item.name} still waits: fire what it waits for before it is tried.")
    return results[0]

"""Sources and audience of what a tool writes into memory."""

from __future__ import annotations

from typing import Any

from evennia_ai.messages import Message
from evennia_ai.ports import ToolContext


def sources_of(context: ToolContext) -> dict[str, Any]:
    """Return the fields of a record that name its sources and its audience.

    A record made from a private prompt is private to that prompt's audience (P9).
    """
    speakers = sorted(context.speakers)
    return {
        "source_type": "direct" if speakers else "observation",
        "source_entity": speakers[0] if len(speakers) == 1 else "",
        "speakers": speakers,
        "source_seqs": list(context.source_seqs) or [m["metadata"]["seq"] for m in heard(context)],
        "audience": sorted(context.audience) if context.private else None,
    }


def heard(context: ToolContext) -> list[Message]:
    """Return the messages heard in the open turn, newest first."""
    turn_id = context.script.turns.current
    found: list[Message] = []
    for message in reversed(context.script.conversation.view()):
        if turn_id is None or message["metadata"].get("turn_id") != turn_id:
            break
        if message["role"] == "user":
            found.append(message)
    return found


def is_named_in(context: ToolContext) -> bool:
    """Return True if somebody used the character's name in this turn."""
    name = context.character.key.lower()
    return any(name in message["content"].lower() for message in heard(context))

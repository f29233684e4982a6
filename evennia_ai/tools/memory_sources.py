"""Where what a tool writes into memory comes from, and who may know it."""

from __future__ import annotations

from typing import Any

from evennia_ai.messages import Message
from evennia_ai.ports import ToolContext


def sources_of(context: ToolContext) -> dict[str, Any]:
    """The fields of a record that say where it comes from and who may know of it.

    What is written from a prompt that held something private is as private as that (P9).
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
    """What was heard in the turn that is under way, newest first."""
    turn_id = context.script.turns.current
    found: list[Message] = []
    for message in reversed(context.script.conversation.view()):
        if turn_id is None or message["metadata"].get("turn_id") != turn_id:
            break
        if message["role"] == "user":
            found.append(message)
    return found


def is_named_in(context: ToolContext) -> bool:
    """True where somebody called the character by its name in this turn."""
    name = context.character.key.lower()
    return any(name in message["content"].lower() for message in heard(context))

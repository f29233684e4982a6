"""Note where the parts of a prompt come from, so that it can be rebuilt and explained later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evennia_ai.messages import Message
from evennia_ai.policy.context.projection import is_marker
from evennia_ai.policy.explanation.call_record import PromptTrace, Span
from evennia_ai.ports import Script


def trace_talk(
    script: Script, said: Sequence[Message], own: Sequence[Message], **parts: Any
) -> PromptTrace | None:
    """Return the trace of a prompt with this talk; None if it holds a message that no log has.

    ``parts`` are the other fields of the trace.
    """
    view = script.conversation.current
    messages = [message for message in said if not is_marker(message)]
    if any("seq" not in message["metadata"] for message in (*messages, *own)):
        return None
    shown = [message["metadata"]["seq"] for message in messages]
    known = (one["metadata"]["seq"] for one in view.messages if "seq" in one["metadata"])
    return PromptTrace(
        summary_id=view.record.id if view.record and len(messages) < len(said) else 0,
        masked_upto=view.masked_upto,
        talk=Span.of(shown, known),
        own=tuple(message["metadata"]["seq"] for message in own),
        shortened={
            str(message["metadata"]["seq"]): message["content"]
            for message in (*messages, *own)
            if message["metadata"].get("shortened")
        },
        **parts,
    )

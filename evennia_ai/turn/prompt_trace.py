"""Note where the parts of a prompt come from, so that it can be rebuilt and explained later."""

from __future__ import annotations

from collections.abc import Sequence

from evennia_ai.messages import Message, to_wire
from evennia_ai.policy.context.projection import is_marker
from evennia_ai.policy.explanation.call_record import PromptTrace, Span
from evennia_ai.ports import Script


def trace_talk(script: Script, said: Sequence[Message], own: Sequence[Message]) -> PromptTrace:
    """Return the trace of a prompt with this talk, without its other parts."""
    view = script.conversation.current
    known = [one["metadata"]["seq"] for one in view.messages if is_logged(one)]
    shown = [one["metadata"]["seq"] for one in said if is_logged(one)]
    new = [one for one in said if not (is_logged(one) or is_marker(one))]
    own_known = all(map(is_logged, own))
    return PromptTrace(
        summary_id=view.record.id if view.record and any(map(is_marker, said)) else 0,
        masked_upto=view.masked_upto,
        talk=Span.of(shown, [*known, *script.conversation.hidden]),
        own=tuple(one["metadata"]["seq"] for one in own) if own_known else (),
        unlogged=tuple(to_wire(new)),
        unlogged_own=() if own_known else tuple(to_wire(own)),
        amended={
            str(one["metadata"]["seq"]): one["metadata"]["amendment"]
            for one in (*said, *own)
            if "amendment" in one["metadata"]
        },
        shortened={
            str(one["metadata"]["seq"]): one["content"]
            for one in (*said, *own)
            if one["metadata"].get("shortened") and is_logged(one)
        },
    )


def is_logged(message: Message) -> bool:
    """Return True for a message of the log; a dry run has others."""
    return "seq" in message["metadata"]

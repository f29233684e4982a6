"""Note where the parts of a prompt come from, so that it can be rebuilt and explained later."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from evennia_ai.messages import Audience, ChatMessage, is_private, is_scene, to_wire
from evennia_ai.policy.call_record import PromptTrace
from evennia_ai.policy.context.projection import is_marker
from evennia_ai.ports import Conversation

# Metadata of a message that a prompt shows in other words than the log: edited, cut or masked.
CHANGES = {"amendment", "shortened", "original_tool"}


def trace_talk(
    log: Conversation, talk: Sequence[ChatMessage], own: Sequence[ChatMessage]
) -> PromptTrace:
    """Return the trace of a prompt with this talk, without its other parts."""
    view = log.current
    logged = [message for message in talk if is_logged(message)]
    others = (message for message in talk if "seq" not in message["metadata"])
    new = [message for message in others if not (is_marker(message) or is_scene(message))]
    own_logged = [message for message in own if is_logged(message)]
    own_known = len(own_logged) == len(own)
    return PromptTrace(
        summary_id=view.record.id if view.record and any(map(is_marker, talk)) else 0,
        scenes=tuple(filter(is_scene, talk)),
        talk=tuple([message["metadata"]["seq"] for message in logged]),
        own=tuple(message["metadata"]["seq"] for message in own) if own_known else (),
        unlogged=tuple(to_wire(new)),
        unlogged_own=() if own_known else tuple(to_wire(own)),
        shown={
            str(message["metadata"]["seq"]): {
                key: message[key] for key in ("content", "tool_calls") if key in message
            }
            for message in (*logged, *own_logged)
            if CHANGES & message["metadata"].keys()
        },
    )


def trace_apart(audience: Iterable[str] | None) -> PromptTrace:
    """Return the trace of a call apart from any turn; an audience of None is public."""
    return PromptTrace(audience=tuple(sorted(audience or ())), private=audience is not None, step=0)


def trace_summary(
    log: Conversation,
    teller: str,
    messages: Sequence[ChatMessage],
    audience: Audience | None,
    previous: str,
    with_results: bool,
) -> PromptTrace:
    """Return the trace of a request to summarise messages, all of one audience.

    ``teller`` is the name of the character.
    """
    if audience is None and any(map(is_private, messages)):
        audience = frozenset()
    apart, record = trace_apart(audience), log.current.record
    if not all(map(is_logged, messages)):  # pieces of a long message
        return apart
    is_stored = record is not None and record.summary.get(apart.part) == previous != ""
    return replace(
        trace_talk(log, messages, ()),
        audience=apart.audience,
        private=apart.private,
        step=0,
        summary_id=record.id if record and is_stored else 0,
        teller=teller,
        with_results=with_results,
        previous="" if is_stored else previous,
    )


def is_logged(message: ChatMessage) -> bool:
    """Return True for a message of the log; a dry run has others."""
    return "seq" in message["metadata"]

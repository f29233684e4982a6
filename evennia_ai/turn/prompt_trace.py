"""Note where the parts of a prompt come from, so that it can be rebuilt and explained later."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from evennia_ai.messages import Audience, Message, is_private, is_scene, to_wire
from evennia_ai.policy.context.projection import is_marker
from evennia_ai.policy.explanation.call_record import Origin, PromptTrace, ShownScene, Span
from evennia_ai.ports import Conversation


def trace_talk(log: Conversation, said: Sequence[Message], own: Sequence[Message]) -> PromptTrace:
    """Return the trace of a prompt with this talk, without its other parts."""
    view = log.current
    known = [one["metadata"]["seq"] for one in view.messages if is_logged(one)]
    shown = [one["metadata"]["seq"] for one in said if is_logged(one)]
    new = [one for one in said if not (is_logged(one) or is_marker(one) or is_scene(one))]
    own_known = all(map(is_logged, own))
    return PromptTrace(
        summary_id=view.record.id if view.record and any(map(is_marker, said)) else 0,
        masked_upto=view.masked_upto,
        scenes=tuple(map(shown_scene, filter(is_scene, said))),
        talk=Span.of(shown, [*known, *log.hidden]),
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


def shown_scene(scene: Message) -> ShownScene:
    meta = scene["metadata"]
    origins = (Origin(label, line.source, line.score) for label, line in meta["rows"])
    told_in = () if meta.get("shortened") else meta.get("told_in", ())
    named = told_in if any(told_in[:1]) else ()  # a dry run is no turn
    return ShownScene(meta["after"], named, scene["content"], tuple(origins))


def trace_apart(audience: Iterable[str] | None) -> PromptTrace:
    """Return the trace of a call apart from any turn; an audience of None is public."""
    return PromptTrace(audience=tuple(sorted(audience or ())), private=audience is not None, step=0)


def trace_summary(
    log: Conversation,
    teller: str,
    messages: Sequence[Message],
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


def is_logged(message: Message) -> bool:
    """Return True for a message of the log; a dry run has others."""
    return "seq" in message["metadata"]

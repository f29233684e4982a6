"""What is stored of a call is read again as it was."""

from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.policy.explanation.call_record import (
    KeptCall,
    Origin,
    PromptTrace,
    RawReply,
    Sent,
    ShownScene,
    Span,
    make_record,
    read_record,
    request_digest,
    shared_digests,
)

TEXTS = st.text(max_size=30)
SPANS = st.sets(st.integers(1, 10**9), min_size=1, max_size=30).flatmap(
    lambda view: st.tuples(
        st.just(sorted(view)), st.sets(st.sampled_from(sorted(view)), min_size=1)
    )
)


@given(SPANS)
def test_a_span_holds_the_messages_that_were_shown_and_no_others(drawn):
    view, shown = drawn
    span = Span.unpacked(*Span.of(shown, view).packed())
    assert {seq for seq in view if span.holds(seq)} == shown
    assert span.count == len(shown)


def test_the_digest_is_of_all_that_a_model_is_sent():
    messages, tools = [{"role": "user", "content": "hi"}], [{"function": {"name": "say"}}]
    sent = [Sent(), Sent(tools=tools), Sent(schema={"type": "object"})]
    digests = {request_digest(messages, one) for one in sent} | {request_digest([], Sent())}
    assert len(digests) == 4


def test_an_empty_talk_holds_nothing():
    assert Span.of((), (1, 2)) == Span() and not Span().holds(1)


@given(
    lines=st.lists(TEXTS, max_size=3),
    opening=st.lists(TEXTS, min_size=1, max_size=2),
    reply=TEXTS,
    origins=st.lists(st.builds(Origin, TEXTS, TEXTS, st.sampled_from([0.0, 0.5, 2.125]))),
    schema=st.none() | st.dictionaries(TEXTS, TEXTS),
)
def test_a_record_is_read_as_it_was_made(lines, opening, reply, origins, schema):
    messages = [{"role": "user", "content": text} for text in opening]
    trace = PromptTrace(
        audience=("#1",),
        opening=tuple(messages),
        lines=tuple(lines),
        scenes=(ShownScene(3, (7, 1, 0)), ShownScene(9, (), reply, tuple(origins))),
        length=len(messages),
    )
    sent = Sent(({"type": "function"},), schema or None, "tools", 0.0, 300)
    kept = KeptCall(trace, sent, RawReply(reply, (("say", "{}"),)))
    record = make_record(kept, messages, frozenset({"#2"}))
    shared = [record.shared[digest] for digest in shared_digests(record.packed)]
    assert read_record(record.packed, shared) == kept
    assert record.people == {"#1", "#2"}

"""What is stored of a call is read again as it was."""

from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.messages import SCENE, make_message
from evennia_ai.policy.audience import KnownLine
from evennia_ai.policy.call_record import (
    KeptCall,
    PromptTrace,
    RecordedReply,
    RequestExtras,
    make_record,
    read_record,
    request_digest,
    shared_digests,
)
from evennia_ai.policy.context.situation_updates import scene_text

TEXTS = st.text(max_size=30)
ROWS = st.builds(
    lambda text, source, score: KnownLine(text, source=source, score=score),
    TEXTS,
    TEXTS,
    st.sampled_from([0.0, 0.5, 2.125]),
)


def test_the_digest_is_of_all_that_a_model_is_sent():
    messages, tools = [{"role": "user", "content": "hi"}], [{"function": {"name": "say"}}]
    sent = [RequestExtras(), RequestExtras(tools=tools), RequestExtras(schema={"type": "object"})]
    digests = {request_digest(messages, one) for one in sent} | {
        request_digest([], RequestExtras())
    }
    assert len(digests) == 4


@given(
    lines=st.lists(TEXTS, max_size=3),
    opening=st.lists(TEXTS, min_size=1, max_size=2),
    reply=TEXTS,
    rows=st.lists(st.tuples(TEXTS, ROWS), min_size=1, max_size=3),
    cut=TEXTS,
    talk=st.sets(st.integers(1, 10**9), max_size=8).map(sorted),
    schema=st.none() | st.dictionaries(TEXTS, TEXTS),
)
def test_a_record_is_read_as_it_was_made(lines, opening, reply, rows, cut, talk, schema):
    messages = [{"role": "user", "content": text} for text in opening]
    texts = filter(None, [scene_text(rows), cut])
    trace = PromptTrace(
        audience=("#1",),
        opening=tuple(messages),
        lines=tuple(lines),
        talk=tuple(talk),
        scenes=tuple(make_message("user", one, type=SCENE, after=9, rows=rows) for one in texts),
        shown={"7": {"content": reply}},
        length=len(messages),
    )
    sent = RequestExtras(({"type": "function"},), schema or None, "tools", 0.0, 300)
    kept = KeptCall(trace, sent, RecordedReply(reply, (("say", "{}"),)))
    record = make_record(kept, messages, frozenset({"#2"}))
    shared = [record.shared[digest] for digest in shared_digests(record.packed)]
    assert read_record(record.packed, shared) == kept
    assert record.people == {"#1", "#2"}

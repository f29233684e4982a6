"""Streamed replies, from bytes to deltas and one whole body."""

import asyncio
import json
from contextlib import suppress
from itertools import count, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.llm.openai_stream import read_body
from evennia_ai.llm.reply_body import BrokenReply, ReplyBody
from evennia_ai.messages import Delta, LLMReply, ToolCallRequest
from tests.provider.stub_replies import build_completion
from tests.provider.stub_stream import stream_completion


def event(payload):
    return f"data: {json.dumps(payload)}\n\n".encode()


def chunk(delta, finish_reason=None):
    return event({"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]})


def call_entry(index=None, call_id=None, name=None, arguments=None):
    entry = {"index": index, "id": call_id, "function": {"name": name, "arguments": arguments}}
    return {key: value for key, value in entry.items() if value is not None}


def calls_chunk(*entries):
    return chunk({"tool_calls": list(entries)})


END = chunk({}, "stop") + b"data: [DONE]\n\n"


def body_of(*pieces, on_delta=None):
    """The body that came in these pieces."""

    async def arriving():
        for piece in pieces:
            yield piece

    body = ReplyBody()
    asyncio.run(read_body(arriving(), body, on_delta))
    return body


def read(*pieces):
    """The deltas, and the reply, of a body that came in these pieces."""
    deltas = []
    body = body_of(*pieces, on_delta=deltas.append)
    return deltas, body.reply(map("made{}".format, count(1)).__next__)


def added_up(deltas):
    """What the deltas say: the content, and each call's name and arguments."""
    content = "".join(delta.content for delta in deltas)
    calls = {}
    for delta in deltas:
        if delta.tool_index is not None:
            _, arguments = calls.get(delta.tool_index, ("", ""))
            calls[delta.tool_index] = (delta.tool_name, arguments + delta.arguments)
    return content, [calls[index] for index in sorted(calls)]


# --- the same reply as unstreamed ----------------------------------------------------------------

TEXTS = st.text(st.characters(codec="utf-8"), max_size=40)
CALLS = st.fixed_dictionaries(
    {"name": st.sampled_from(["say", "look"]), "arguments": st.dictionaries(TEXTS, TEXTS)}
)


@given(
    text=TEXTS,
    calls=st.lists(CALLS, max_size=3),
    piece=st.integers(1, 9),
    cuts=st.lists(st.integers(0, 4_000), max_size=30),
    line_end=st.sampled_from([b"\n", b"\r\n", b"\r"]),
    done=st.booleans(),
)
def test_any_cutting_gives_the_reply_of_the_whole_body(text, calls, piece, cuts, line_end, done):
    completion = build_completion({"text": text, "tool_calls": calls}, {"model": "stub"}, 7)
    how = {"piece": piece} if done else {"piece": piece, "break": "no_done"}
    events, _ = stream_completion(completion, how, usage_wanted=True)
    data = b"".join(events).replace(b"\n", line_end)
    edges = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
    deltas, reply = read(*(data[a:b] for a, b in pairwise(edges)))
    assert reply == read(json.dumps(completion).encode())[1]
    told_calls = [(call.name, call.arguments) for call in reply.tool_calls]
    assert added_up(deltas) == (reply.content, told_calls)


def test_a_body_that_is_not_streamed_is_read_whole():
    whole = b'{\n"data": {"choices": []},\n"choices": [{"message": {"content": "Hm."}}]}'
    assert read(whole[:9], whole[9:]) == ([], LLMReply("Hm."))


# --- what servers do differently -----------------------------------------------------------------


def test_reasoning_is_no_delta():
    thought = chunk({"reasoning_content": "I should greet."})
    assert read(thought, chunk({"content": "Hm."}), END)[0] == [Delta("Hm.")]


def test_every_delta_of_a_call_has_its_name():
    pieces = calls_chunk(call_entry(0, "a", "say", "")), calls_chunk(call_entry(0, arguments="{}"))
    deltas, reply = read(*pieces, END)
    assert deltas == [Delta("", 0, "say", ""), Delta("", 0, "say", "{}")]
    assert reply.tool_calls == (ToolCallRequest("a", "say", "{}"),)


# --- what goes wrong -----------------------------------------------------------------------------


def test_an_event_that_is_cut_is_a_broken_stream():
    with pytest.raises(BrokenReply, match="not readable"):
        read(chunk({"content": "Hm."}), b'data: {"choi\n\n')


def test_a_stream_without_finish_reason_and_last_event_is_broken():
    with pytest.raises(BrokenReply, match="before the reply was complete"):
        read(chunk({"content": "Hm."}))


@pytest.mark.parametrize(
    "line",
    [
        b'data: {"error": {"code": 500}}',
        b'event: error\ndata: {"code": 500}',
        b'data: {"object": "error", "code": 500}',
        b'data: {"choices": [{"error": {"code": 500}}]}',
    ],
)
def test_an_error_event_ends_the_stream_and_is_its_body(line):
    body = body_of(chunk({"content": "Hm."}), line + b"\n\n", chunk({"content": "more"}))
    assert (body.done, body.begun) == (True, True)
    assert body.failure["code"] == 500


@given(st.lists(st.binary(max_size=60) | st.sampled_from([b"data: ", b"\n", b'{"choices": ['])))
def test_no_bytes_raise_anything_but_a_broken_stream(pieces):
    with suppress(BrokenReply):
        body_of(*pieces).reply(str)

"""Raw replies become tool calls: the same ones, however the reply arrives."""

import json
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evennia_ai.messages import Delta, LLMReply, ToolCallRequest
from evennia_ai.policy.replies.reply_reader import reply_reader
from evennia_ai.policy.sanitize import strip_reasoning


def tool(name, *required, **fields):
    properties = {key: {"type": "string"} for key in (*required, *fields)}
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


TOOLS = [
    tool("say", "text"),
    tool("whisper", "text", target=""),
    tool("emote", "text"),
    tool("give", "item", "to"),
    tool("noop"),
    tool("brew", "drink", "cups"),
]
LONG = "The mill stands by the river. It has been shut since spring, Dr. Weaver says! Ask him."
FIRST = "The mill stands by the river."


def read(form, content="", calls=(), finish_reason="stop"):
    """What a whole reply is read as."""
    reply = LLMReply(content, tuple(calls), finish_reason)
    return reply_reader(form, TOOLS).finish(reply)


def done(reply):
    return [(call.name, json.loads(call.arguments)) for call in reply.tool_calls]


def stream(form, *pieces, finish_reason="stop"):
    """The calls that each part of a text finishes, and the reply at its end."""
    reader = reply_reader(form, TOOLS)
    early = [reader.hear(Delta(piece)) for piece in pieces]
    return early, reader.finish(LLMReply("".join(pieces), (), finish_reason))


# However it arrives


@dataclass(frozen=True)
class Chunks:
    """A text and where it is cut."""

    text: str
    cuts: tuple[int, ...]

    @property
    def pieces(self):
        ends = [*sorted(self.cuts), len(self.text)]
        return [self.text[a:b] for a, b in zip([0, *ends], ends, strict=False)]


def chunks(texts):
    def cut(text):
        places = st.lists(st.integers(0, len(text)), max_size=8).map(tuple)
        return places.map(lambda cuts: Chunks(text, cuts))

    return texts.flatmap(cut)


SPEECHES = st.lists(
    st.sampled_from(
        ["Good evening, Ann.", FIRST, "No!", "Dr. B. has 3.5 mugs, e.g. that one.", "“Aye”, I say.",
         "Was ist das für ein Lärm, um Himmels willen?", "你好。", "Hm…", "wait", "\n",
         '"So?"', "\\"]
    ),
    max_size=6,
).map(" ".join)  # fmt: skip


def plain(text):
    return "".join(text.split())


def told(reply):
    """What a reply does, with each speech as one text, and the text of a reply without calls."""
    told = []
    last = None
    for call in reply.tool_calls:
        arguments = json.loads(call.arguments)
        words = plain(arguments.pop("text", ""))
        if call.id == last:
            told[-1] = (*told[-1][:2], told[-1][2] + words)
        else:
            told.append((call.name, arguments, words))
        last = call.id
    return told or [("say", {}, plain(strip_reasoning(reply.content)))]


WORDY = st.lists(
    st.one_of(
        SPEECHES,
        st.sampled_from(
            ['{"name": "emote", "arguments": {"text": "nods"}}', "<think>Who is that?</think>",
             'say("Come in, the fire is lit.")', "Whisper: no", "`noop`", "[1]"]
        ),
    ),
    max_size=5,
).map(" ".join)  # fmt: skip


@settings(deadline=None)
@given(chunks(WORDY), st.sampled_from(["stop", "length"]))
def test_words_are_the_same_in_parts(arriving, reason):
    early, reply = stream("plain", *arriving.pieces, finish_reason=reason)
    assert told(reply) == told(read("plain", arriving.text, finish_reason=reason))
    flat = [call for calls in early for call in calls]
    assert list(reply.tool_calls[: len(flat)]) == flat


NATIVE = st.lists(
    st.one_of(
        SPEECHES.map(lambda words: ("say", json.dumps({"text": words}))),
        st.sampled_from(
            [("emote", '{"text": "nods"}'), ("noop", ""), ("whisper", '{"text": "a"}')]
        ),
    ),
    max_size=4,
)


@settings(deadline=None)
@given(NATIVE.flatmap(lambda calls: st.tuples(*(
    st.tuples(st.just(name), chunks(st.just(arguments))) for name, arguments in calls
))))  # fmt: skip
def test_native_calls_are_the_same_in_parts(arriving):
    reader, early = reply_reader("tools", TOOLS), []
    for index, (name, arguments) in enumerate(arriving):
        for piece in arguments.pieces:
            early += reader.hear(Delta("", index, name, piece))
    calls = tuple(
        ToolCallRequest(f"c{index}", name, arguments.text or "{}")
        for index, (name, arguments) in enumerate(arriving)
    )
    reply = reader.finish(LLMReply("", calls))
    assert told(reply) == told(read("tools", calls=calls))
    assert list(reply.tool_calls[: len(early)]) == early


@settings(deadline=None)
@given(st.sampled_from(["tools", "plain"]), st.text(), st.booleans())
def test_no_text_raises(form, text, in_parts):
    if in_parts:
        stream(form, *text)
    else:
        read(form, text)


# The mode `tools`


@pytest.mark.parametrize(
    "text", ['say("Good evening, my dear Ann. Come in.")', 'say: "Aye."', "noop"]
)
def test_calls_without_a_mark_of_their_own_wait_too(text):
    early, reply = stream("plain", *text)
    assert not any(early)
    assert done(reply) == done(read("plain", text)) == done(read("tools", text))


@pytest.mark.parametrize("form", ["tools", "plain"])
@pytest.mark.parametrize("reason", ["stop", "length"])
def test_calls_in_the_text_are_calls(form, reason):
    text = 'Let me see. ```json\n{"name": "say", "arguments": {"text": "Aye."}}\n```' + "\n" * 200
    reply = read(form, text, finish_reason=reason)
    assert done(reply) == [("say", {"text": "Aye."})]
    assert reply.finish_reason == "stop"


def test_native_calls_count_more_than_calls_in_the_text():
    native = ToolCallRequest("a", "noop", "{}")
    assert read("tools", 'say("Aye.")', [native]).tool_calls == (native,)


def test_text_beside_no_calls_stays_raw():
    assert read("tools", LONG).content == LONG
    assert read("tools", LONG).tool_calls == ()


# The mode `plain`


def test_words_wait_for_the_end_of_the_reply():
    early, reply = stream("plain", LONG[:40], LONG[40:])
    assert early == [[], []] and reply.content == LONG


def test_words_that_arrive_whole_stay_one_text():
    assert replace(read("plain", LONG), finish_reason="x") == LLMReply(LONG, (), "x")


def test_words_and_a_call_are_one_reply():
    _, reply = stream("plain", *f'{FIRST} {{"name": "emote", "arguments": {{"text": "nods"}}}}')
    assert done(reply) == [("say", {"text": FIRST}), ("emote", {"text": "nods"})]


@pytest.mark.parametrize("form", ["plain", "tools"])
def test_of_words_that_were_cut_off_the_last_sentence_is_dropped(form):
    _, reply = stream(form, f"{FIRST} It has been sh", finish_reason="length")
    assert (reply.tool_calls, reply.content) == ((), FIRST)

"""Raw replies become tool calls: the same ones, however the reply arrives."""

import json
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evennia_ai.messages import Delta, LLMReply, ToolCallRequest
from evennia_ai.policy.replies.reply_reader import reply_reader
from evennia_ai.policy.sanitize import strip_reasoning
from evennia_ai.policy.tool_call_modes.form import ReplyContext


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
ASKED = ReplyContext(TOOLS, "Ann")
LONG = "The mill stands by the river. It has been shut since spring, Dr. Weaver says! Ask him."
FIRST = "The mill stands by the river."


def read(form, content="", calls=(), finish_reason="stop"):
    """What a whole reply is read as."""
    reply = LLMReply(content, tuple(calls), finish_reason)
    return reply_reader(form, ASKED).finish(reply)


def done(reply):
    return [(call.name, json.loads(call.arguments)) for call in reply.tool_calls]


def stream(form, *pieces, finish_reason="stop"):
    """The calls that each part of a text finishes, and the reply at its end."""
    reader = reply_reader(form, ASKED)
    early = [reader.hear(Delta(piece)) for piece in pieces]
    return early, reader.finish(LLMReply("".join(pieces), (), finish_reason))


def answer(act="none", target="", say="", **fields):
    return json.dumps({"act": act, "target": target, **fields, "say": say}, ensure_ascii=False)


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
ACTS = st.sampled_from(
    [("none", ""), ("give", "nails"), ("give", "nails to Ben"), ("emote", "nods"), ("fly", "up"),
     ("silence", ""), ("whisper", "Ann"), ("whisper", ""), ("move", "yard"), ("give", "")]
)  # fmt: skip
FENCES = st.sampled_from(["{}", "```json\n{}\n```", "Sure: {}", "{}\n\n\n\n", "{} {{}}"])


@st.composite
def objects(draw):
    act, target = draw(ACTS)
    fields = {"act": act, "target": target, "say": draw(SPEECHES)}
    if draw(st.booleans()):
        fields = {"act": "brew", "drink": target, "cups": "2", "say": fields["say"]}
    names = draw(st.permutations(list(fields)))
    ordered = {name: fields[name] for name in (names if draw(st.booleans()) else fields)}
    whole = draw(FENCES).format(json.dumps(ordered, ensure_ascii=draw(st.booleans())))
    return whole[: draw(st.integers(0, len(whole)))] if draw(st.booleans()) else whole


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


@settings(deadline=None)
@given(chunks(objects()), st.sampled_from(["stop", "length"]))
def test_an_object_is_the_same_in_parts(arriving, reason):
    early, reply = stream("schema", *arriving.pieces, finish_reason=reason)
    assert told(reply) == told(read("schema", arriving.text, finish_reason=reason))
    flat = [call for calls in early for call in calls]
    assert list(reply.tool_calls[: len(flat)]) == flat


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
    early, reply = stream("text", *arriving.pieces, finish_reason=reason)
    assert told(reply) == told(read("text", arriving.text, finish_reason=reason))
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
    reader, early = reply_reader("tools", ASKED), []
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
@given(st.sampled_from(["tools", "schema", "text"]), st.text(), st.booleans())
def test_no_text_raises(form, text, in_parts):
    if in_parts:
        stream(form, *text)
    else:
        read(form, text)


# The form `schema`


def test_each_sentence_of_an_object_is_a_call_as_soon_as_it_is_finished():
    whole = answer("give", "nails", LONG)
    at = whole.index("It has")
    early, reply = stream("schema", whole[: at + 1], whole[at + 1 : -1], whole[-1])
    assert [[call.name for call in calls] for calls in early] == [
        ["give", "say"],
        ["say", "say"],
        [],
    ]
    assert done(reply) == [
        ("give", {"item": "nails", "to": "Ann"}),
        ("say", {"text": FIRST}),
        ("say", {"text": "It has been shut since spring, Dr. Weaver says!"}),
        ("say", {"text": "Ask him."}),
    ]
    assert len({call.id for call in reply.tool_calls[1:]}) == 1
    assert reply.tied


def test_the_last_sentence_does_not_wait_for_the_end_of_the_reply():
    early, reply = stream("schema", answer(say="Aye."), *["\n\n\n"] * 50, finish_reason="length")
    assert [call.name for call in early[0]] == ["say"]
    assert done(reply) == [("say", {"text": "Aye."})]
    assert reply.finish_reason == "stop"


def test_an_object_that_arrives_whole_is_said_in_one_call():
    reply = read("schema", answer(say=LONG))
    assert done(reply) == [("say", {"text": LONG})]
    assert reply.content == ""


@pytest.mark.parametrize("order", [("say", "act", "target"), ("act", "say", "target")])
def test_words_before_the_act_or_its_target_wait_for_them(order):
    fields = {"act": "whisper", "target": "Ben", "say": LONG}
    whole = json.dumps({name: fields[name] for name in order})
    early, reply = stream("schema", *whole)
    assert not any(early)
    assert done(reply) == [("whisper", {"text": LONG, "target": "Ben"})]


def test_a_streamed_whisper_stays_one():
    early, _ = stream("schema", *answer("whisper", "Ben", LONG))
    calls = [call for part in early for call in part]
    assert [call.name for call in calls] == ["whisper"] * 3
    assert all(json.loads(call.arguments)["target"] == "Ben" for call in calls)


def test_an_own_tool_takes_its_fields_and_then_the_words():
    whole = json.dumps({"act": "brew", "drink": "tea", "cups": "2", "say": "At once."})
    _, reply = stream("schema", *whole)
    brewed = ("brew", {"drink": "tea", "cups": "2"})
    assert done(reply) == done(read("schema", whole)) == [brewed, ("say", {"text": "At once."})]


@pytest.mark.parametrize(
    ("say", "said"),
    [
        (f"{FIRST} It has been sh", [FIRST]),
        (f"{FIRST} It is shut.", [FIRST, "It is shut."]),
        ("It has been shut since", ["It has been shut…"]),
    ],
)
def test_of_words_that_were_cut_off_the_whole_sentences_are_said(say, said):
    whole = answer(say=say).removesuffix('"}')
    _, reply = stream("schema", whole, finish_reason="length")
    assert done(reply) == [("say", {"text": text}) for text in said]
    assert done(read("schema", whole, finish_reason="length")) == [
        ("say", {"text": " ".join(said)})
    ]
    assert reply.finish_reason == "stop"


def test_words_that_the_schema_cut_lose_their_last_sentence():
    say = (f"{FIRST} And " + "so on " * 60)[:300]
    assert done(read("schema", answer(say=say))) == [("say", {"text": FIRST})]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Aye.",
        '{"act": "give", "target": "na',
        '{"act": give}',
        '{"act": "none", "say": ',
        "{}{",
    ],
)
def test_a_text_without_an_object_is_left_as_it_is(text):
    reply = read("schema", text, finish_reason="length")
    assert reply.tool_calls == ()
    assert reply.content in (text, "")  # what ends within an object is asked for once more


@pytest.mark.parametrize(
    "text",
    [
        "<think>{who}?</think>" + answer("give", "nails", "Here."),
        "{'act': 'give', 'target': 'nails', 'say': 'Here.'}",
        f"Answer {{now}}: {answer('give', 'nails', 'Here.')}",
    ],
)
def test_an_object_in_a_mess_is_found_all_the_same(text):
    reply = read("schema", text)
    assert done(reply) == [("give", {"item": "nails", "to": "Ann"}), ("say", {"text": "Here."})]
    assert reply.tied


def test_calls_written_instead_of_an_object_are_calls():
    reply = read("schema", '<tool_call>{"name": "say", "arguments": {"text": "Aye."}}</tool_call>')
    assert done(reply) == [("say", {"text": "Aye."})]


# The form `tools`


@pytest.mark.parametrize(
    "text", ['say("Good evening, my dear Ann. Come in.")', 'say: "Aye."', "noop"]
)
def test_calls_without_a_mark_of_their_own_wait_too(text):
    early, reply = stream("text", *text)
    assert not any(early)
    assert done(reply) == done(read("text", text)) == done(read("tools", text))


@pytest.mark.parametrize("form", ["tools", "text"])
@pytest.mark.parametrize("reason", ["stop", "length"])
def test_calls_in_the_text_are_calls(form, reason):
    text = 'Let me see. ```json\n{"name": "say", "arguments": {"text": "Aye."}}\n```' + "\n" * 200
    reply = read(form, text, finish_reason=reason)
    assert done(reply) == [("say", {"text": "Aye."})]
    assert reply.finish_reason == "stop"
    assert not reply.tied


def test_native_calls_count_more_than_calls_in_the_text():
    native = ToolCallRequest("a", "noop", "{}")
    assert read("tools", 'say("Aye.")', [native]).tool_calls == (native,)


def test_text_beside_no_calls_stays_raw():
    assert read("tools", LONG).content == LONG
    assert read("tools", LONG).tool_calls == ()


# The form `text`


def test_words_wait_for_the_end_of_the_reply():
    early, reply = stream("text", LONG[:40], LONG[40:])
    assert early == [[], []] and reply.content == LONG


def test_words_that_arrive_whole_stay_one_text():
    assert replace(read("text", LONG), finish_reason="x") == LLMReply(LONG, (), "x")


def test_words_and_a_call_are_one_reply():
    _, reply = stream("text", *f'{FIRST} {{"name": "emote", "arguments": {{"text": "nods"}}}}')
    assert done(reply) == [("say", {"text": FIRST}), ("emote", {"text": "nods"})]


@pytest.mark.parametrize("form", ["text", "tools"])
def test_of_words_that_were_cut_off_the_last_sentence_is_dropped(form):
    _, reply = stream(form, f"{FIRST} It has been sh", finish_reason="length")
    assert (reply.tool_calls, reply.content) == ((), FIRST)

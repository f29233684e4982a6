"""What a server sends beside a call goes back with it, byte for byte, and to nobody else."""

import json

import pytest

from evennia_ai.llm.fields_beside import BESIDE_CHARS
from evennia_ai.llm.reply_body import ReplyBody
from evennia_ai.messages import make_message, to_wire, wire_call
from evennia_ai.policy.replies.reply_reader import reply_reader
from evennia_ai.policy.tool_call_modes.wire_order import WireStyle, arrange
from tests.llm.conftest import TOOLS
from tests.llm.endpoint_cases import END, SAY, calls, delta, entry

LOOK = '{"target": "fire"}'
SIGNED = {"google": {"thought_signature": "c2lnbmVk"}}
DETAILS = [
    {"type": "reasoning.text", "text": "She ", "index": 0, "signature": None},
    {"type": "reasoning.text", "text": "greets.", "index": 0, "signature": "c2ln"},
    {"type": "reasoning.encrypted", "data": "b3A=", "index": 1},
]


def read(*chunks):
    """Return the reply of a stream, with the calls that its reader finds."""
    body, reader = ReplyBody("us"), reply_reader("tools", TOOLS)
    for chunk in chunks:
        for part in body.hear(None, json.dumps(chunk)):
            reader.hear(part)
    return reader.finish(body.reply(iter("xyz").__next__))


def sent_again(reply, by="us", results=("You see a fire.", "You said it.")):
    """Return the assistant's messages of the next request."""
    log = [make_message("user", "Ann says: hello")]
    for number, (call, result) in enumerate(zip(reply.tool_calls, results, strict=False)):
        made = wire_call(f"00001010{number}", call.name, call.arguments, call.sent)
        log.append(make_message("assistant", "", tool_calls=[made]))
        log.append(make_message("tool", result, tool_call_id=made["id"]))
    wire = arrange(to_wire(log), WireStyle(by=by))
    return [message for message in wire if message["role"] == "assistant"], wire


def test_parts_of_a_stream_are_put_together():
    thought = [delta(reasoning_content=text) for text in ("She ", "greets", "greets.")]
    details = [delta(reasoning_details=[item]) for item in DETAILS]
    (call,) = read(*thought, *details, calls(entry(0, "look", LOOK, "a")), END).tool_calls
    assert call.sent["message"] == {
        "reasoning_content": "She greetsgreets.",
        "reasoning_details": [
            {"type": "reasoning.text", "text": "She greets.", "index": 0, "signature": "c2ln"},
            DETAILS[2],
        ],
    }


def test_calls_of_one_reply_go_back_in_one_message():
    first = {**entry(0, "look", LOOK, "a"), "extra_content": SIGNED}
    reply = read(delta(reasoning="R."), calls(first, entry(1, "say", SAY, "b")), END)
    (message,), wire = sent_again(reply)
    assert [message["reasoning"], len(message["tool_calls"])] == ["R.", 2]
    assert [call["id"] for call in message["tool_calls"]] == ["a", "b"]
    assert [call.get("extra_content") for call in message["tool_calls"]] == [SIGNED, None]
    assert [message.get("tool_call_id") for message in wire[-2:]] == ["a", "b"]


def test_another_model_gets_the_call_alone():
    reply = read(delta(reasoning="R."), calls(entry(0, "look", LOOK, "a")), END)
    (message,), _wire = sent_again(reply, by="others")
    assert set(message) == {"role", "content", "tool_calls"}
    assert set(message["tool_calls"][0]) == {"id", "type", "function"}


def test_a_call_without_them_is_an_event_where_others_have_them():
    reply = read(delta(reasoning="R."), calls(entry(0, "look", LOOK, "a")), END)
    bare = make_message("assistant", "", tool_calls=[wire_call("000010200", "look", LOOK)])
    own = make_message(
        "assistant", "", tool_calls=[wire_call("000020100", "look", LOOK, reply.tool_calls[0].sent)]
    )
    words = make_message("assistant", "A fire."), make_message("user", "Ann says: where?")
    wire = arrange(
        to_wire([make_message("user", "Ann says: hello"), bare, own, *words]), WireStyle(by="us")
    )
    assert [len(message.get("tool_calls", ())) for message in wire] == [0, 1, 0, 0, 0]
    assert "You used look" in wire[0]["content"]


@pytest.mark.parametrize("value", ["x" * BESIDE_CHARS, "\x00", "\ud83d", [float("nan")]])
def test_nothing_is_kept_of_too_much_and_of_what_cannot_be_stored(value):
    thought = delta(reasoning_content=value)
    (call,) = read(thought, calls(entry(0, "look", LOOK, "a")), END).tool_calls
    assert call.sent == {}


def test_words_are_not_beside_themselves():
    reply = read(delta(role="assistant", content="Hm.", refusal=None), delta("stop"))
    assert (reply.content, reply.sent) == ("Hm.", {})

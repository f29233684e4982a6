"""Native tool calls: run once, only when they are whole, and however a model spells them."""

import json

import pytest

from evennia_ai.messages import Delta, LLMReply, ToolCallRequest
from evennia_ai.policy.replies.reply_reader import reply_reader
from tests.policy.replies.test_reply_reader import FIRST, LONG, TOOLS, done, read


def test_the_sentences_of_a_native_say_arrive_one_by_one():
    reader = reply_reader("tools", TOOLS)
    arguments = json.dumps({"text": LONG})
    at = arguments.index("It has")
    assert reader.hear(Delta("I should answer.")) == []
    assert reader.hear(Delta("", 0, "emote", '{"text": "nods"}')) == []
    first = reader.hear(Delta("", 1, "say", arguments[: at + 1]))
    assert [call.name for call in first] == ["emote", "say"]
    reader.hear(Delta("", 1, "say", arguments[at + 1 :]))
    calls = native(("emote", '{"text": "nods"}'), ("say", arguments))
    reply = reader.finish(LLMReply("I should answer.", calls, "tool_calls"))
    assert list(reply.tool_calls[:2]) == first
    assert " ".join(told["text"] for _, told in done(reply)) == f"nods {LONG}"


def native(*calls):
    return tuple(ToolCallRequest(f"id{n}", *call) for n, call in enumerate(calls))


@pytest.mark.parametrize("later", ['{"target": "fire"}', ""])
def test_a_call_that_may_still_grow_is_not_run(later):
    reader = reply_reader("tools", TOOLS)
    early = [
        *reader.hear(Delta("", 0, "look", "")),
        *reader.hear(Delta("", 1, "say", '{"text": "Good evening, my dear Ann. ')),
        *reader.hear(Delta("", 0, "look", later)),
    ]
    assert early == []


@pytest.mark.parametrize(
    "call", [("fly", '{"to": "moon"}'), ("say", '{"text": "And so I'), ("say", "5")]
)
def test_a_native_call_that_cannot_be_read_stays_as_it_is(call):
    assert read("tools", calls=native(call)).tool_calls == native(call)


def test_a_native_say_that_was_cut_off_keeps_what_was_said():
    reader = reply_reader("tools", TOOLS)
    said = reader.hear(Delta("", 0, "say", json.dumps({"text": LONG})[:60]))
    reply = reader.finish(LLMReply("", (ToolCallRequest("a", "say", "{"),), "length"))
    assert list(reply.tool_calls) == said
    assert done(reply) == [("say", {"text": FIRST})]

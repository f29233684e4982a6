"""Requests and replies of chat-completions endpoints, as plain data."""

import json
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.config import ModelProfile
from evennia_ai.llm.openai_client import build_body
from evennia_ai.llm.reply_body import ReplyBody
from evennia_ai.messages import LLMReply, Timings, ToolCallRequest, Usage
from evennia_ai.policy.tool_call_modes.wire_order import WireStyle
from evennia_ai.ports import LLMRequest

HELLO = [{"role": "user", "content": "Ann says: hello"}]
SAY = {"type": "function", "function": {"name": "say", "parameters": {}}}


def json_with(numbers):
    """Any JSON value with these numbers beside whole ones."""
    return st.recursive(
        st.none() | st.booleans() | st.integers() | numbers | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    )


JSON = json_with(st.floats())


def body_of(request, **extra):
    return build_body(request, ModelProfile("p", "openai", "m", extra=extra))


def read(payload):
    ids, body = count(1), ReplyBody()
    body.add_whole(json.dumps(payload).encode())
    return body.reply(lambda: f"made{next(ids)}")


def read_message(**message):
    return read({"choices": [{"message": message, "finish_reason": "stop"}]})


def calls_of(*calls):
    return read_message(tool_calls=list(calls)).tool_calls


# --- the request ---------------------------------------------------------------------------------


def test_only_what_is_set_is_sent():
    assert body_of(LLMRequest(HELLO)) == {"messages": HELLO}


def test_tools_limit_and_temperature_are_sent_under_their_names():
    request = LLMRequest(HELLO, [SAY], max_tokens=50, temperature=0.0)
    assert body_of(request) == {
        "messages": HELLO,
        "tools": [SAY],
        "max_tokens": 50,
        "temperature": 0.0,
    }


def test_the_profiles_extra_is_merged_and_has_the_last_word():
    request = LLMRequest(HELLO, temperature=0.5)
    body = body_of(request, temperature=1.0, reasoning_effort="low")
    assert body == {"messages": HELLO, "temperature": 1.0, "reasoning_effort": "low"}


@pytest.mark.parametrize(
    ("extra", "sent"),
    [
        ({"max_tokens": None}, {}),
        ({"max_tokens": 9}, {"max_tokens": 9}),
        ({"max_completion_tokens": 9}, {"max_completion_tokens": 9}),
        ({"temperature": None}, {"max_tokens": 50}),
    ],
)
def test_an_extra_can_replace_or_silence_what_a_server_does_not_take(extra, sent):
    body = body_of(LLMRequest(HELLO, max_tokens=50, temperature=0.5), **extra)
    body.pop("temperature", None)
    assert body == {"messages": HELLO, **sent}


@pytest.mark.parametrize(
    ("model", "style", "roles"),
    [
        ("qwen3:8b", None, ["system", "user", "assistant", "tool"]),
        ("granite3.3:8b", None, ["system", "user"]),
        ("granite3.3:8b", WireStyle(), ["system", "user", "assistant", "tool"]),
    ],
)
def test_messages_are_arranged_for_the_models_template(model, style, roles):
    call = {"id": "000000001", "type": "function", "function": {"name": "get", "arguments": "{}"}}
    talk = [
        {"role": "system", "content": "You are Mira."},
        *HELLO,
        *HELLO,
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "000000001", "content": "You hold a rope."},
    ]
    profile = ModelProfile("p", "openai", model)
    body = build_body(LLMRequest(talk), profile, style)
    assert [message["role"] for message in body["messages"]] == roles
    assert "You hold a rope." in str(body["messages"])


# --- the reply -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "choices", [[], None, {}, [None], [{}], [{"message": None}], [{"message": {"content": None}}]]
)
def test_a_completion_with_nothing_in_it_is_an_empty_reply(choices):
    assert read({"choices": choices}) == LLMReply("")


def test_parts_of_text_are_joined_and_other_parts_left_out():
    content = [
        {"type": "thinking", "text": "I should greet."},
        {"type": "text", "text": "Good "},
        {"text": "day"},
        {"type": "image_url", "image_url": {}},
        "!",
    ]
    assert read_message(content=content).content == "Good day"


def test_calls_without_an_id_or_with_one_that_was_there_get_one_of_their_own():
    look = {"function": {"name": "look", "arguments": "{}"}}
    calls = calls_of(look, {"id": "a", **look}, {"id": "a", **look}, {"id": 7, **look})
    assert [call.id for call in calls] == ["made1", "a", "made2", "made3"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ('{"text": "hi', '{"text": "hi'),
        ({"text": "grüß dich"}, '{"text": "grüß dich"}'),
        (None, "{}"),
        ("", "{}"),
        ([1], "[1]"),
    ],
)
def test_arguments_are_json_text_in_whatever_form_they_came(arguments, text):
    assert calls_of({"id": "a", "function": {"name": "say", "arguments": arguments}}) == (
        ToolCallRequest("a", "say", text),
    )


def test_what_is_no_call_is_left_out_and_a_call_without_a_function_has_no_name():
    assert calls_of("x", None, {"id": "a"}) == (ToolCallRequest("a", "", "{}"),)


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        {"prompt_tokens": 10},
        {"prompt_tokens": -1, "completion_tokens": 2},
        {"prompt_tokens": 0, "completion_tokens": 2},
        {"prompt_tokens": 10, "completion_tokens": -2},
        {"prompt_tokens": "10", "completion_tokens": 2},
        {"prompt_tokens": 10.5, "completion_tokens": 2},
        {"prompt_tokens": 10, "completion_tokens": 2, "cached_tokens": 11},
        {"prompt_tokens": True, "completion_tokens": 2},
        {"prompt_tokens": 2**31, "completion_tokens": 2},
        {"input_tokens": 10},
        {"input_tokens": 0, "output_tokens": 2},
        {"input_tokens": True, "output_tokens": 2},
        {"input_tokens": 10, "completion_tokens": 2},
        {"input_tokens": 2**31 - 1, "output_tokens": 2, "cache_read_input_tokens": 2**31 - 1},
    ],
)
def test_a_usage_that_cannot_be_true_is_none(usage):
    assert read({"choices": [], "usage": usage}).usage is None


@pytest.mark.parametrize(
    ("told", "cached"),
    [
        ({"usage": {}}, None),
        ({"usage": {"prompt_tokens_details": {"cached_tokens": 64}}}, 64),
        ({"usage": {"prompt_tokens_details": {"cached_tokens": 0}}}, 0),
        ({"usage": {"prompt_tokens_details": None, "prompt_cache_hit_tokens": 7}}, 7),
        ({"usage": {"cache_read_input_tokens": 100}}, 100),
        ({"usage": {"input_tokens_details": {"cached_tokens": 5}}}, 5),
        ({"usage": {"cached_tokens": 6}}, 6),
        ({"usage": {}, "timings": {"cache_n": 99, "prompt_n": 1}}, 99),
        ({"usage": {"cached_tokens": -1}, "timings": {"cache_n": 3}}, 3),
        ({"usage": {"cached_tokens": True, "prompt_tokens_details": "64"}}, None),
        ({"usage": {}, "timings": [1]}, None),
    ],
)
def test_cached_tokens_are_read_wherever_an_endpoint_tells_them(told, cached):
    usage = {"prompt_tokens": 100, "completion_tokens": 2, **told["usage"]}
    assert read({"choices": [], **told, "usage": usage}).usage == Usage(100, 2, cached)


@pytest.mark.parametrize(
    ("told", "usage"),
    [
        ({}, Usage(90, 7)),
        ({"input_tokens_details": {"cached_tokens": 64}}, Usage(90, 7, 64)),
        ({"cache_read_input_tokens": 1_000}, Usage(1_090, 7, 1_000)),
        ({"cache_read_input_tokens": 0, "cache_creation_input_tokens": 500}, Usage(590, 7, 0)),
        ({"cache_read_input_tokens": -5}, Usage(90, 7)),
        ({"prompt_tokens": 0, "completion_tokens": 0}, Usage(90, 7)),
        ({"prompt_tokens": 95, "completion_tokens": 8}, Usage(95, 8)),
        ({"prompt_tokens": None, "completion_tokens": None}, Usage(90, 7)),
    ],
)
def test_input_and_output_tokens_are_a_usage_with_anthropics_cache_added(told, usage):
    counts = {"input_tokens": 90, "output_tokens": 7, **told}
    assert read({"choices": [], "usage": counts}).usage == usage


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<html>Welcome</html>",
        b"[]",
        b'"text"',
        b'{"error": {"message": "no"}}',
        b'{"choices": [',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_what_is_no_chat_completion_is_a_failure(data):
    body = ReplyBody()
    body.add_whole(data)
    assert body.failure is not None


TIMINGS = {
    "cache_n": 236, "prompt_n": 40, "prompt_per_second": 140.5, "predicted_n": 35,
    "predicted_per_second": 52,
}  # fmt: skip


def test_the_speed_that_llama_cpp_reports_is_read():
    assert read({"choices": [], "timings": TIMINGS}).timings == Timings(40, 140.5, 35, 52.0)


@pytest.mark.parametrize(
    "timings",
    [None, [], {}, {**TIMINGS, "prompt_per_second": 0}, {**TIMINGS, "predicted_per_second": "x"}],
)
def test_a_speed_that_cannot_be_true_is_none(timings):
    assert read({"choices": [], "timings": timings}).timings is None


@given(choices=JSON, usage=JSON, model=JSON, timings=JSON)
def test_no_json_at_all_breaks_the_reader(choices, usage, model, timings):
    body = {"choices": choices, "usage": usage, "model": model, "timings": timings}
    reply = read(body)
    assert isinstance(reply.content, str)

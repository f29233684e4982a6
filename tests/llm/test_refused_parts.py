"""What a refusal names of a request, and the request without it."""

import json

import pytest
from twisted.internet.defer import succeed
from twisted.python.failure import Failure

from evennia_ai.config import ModelProfile
from evennia_ai.config.profiles import request_form, wire_style
from evennia_ai.errors import ContextOverflow
from evennia_ai.llm.endpoint_facts import EndpointRegistry
from evennia_ai.llm.refusals import STREAM, refused_part, without_parts
from evennia_ai.messages import LLMReply
from evennia_ai.policy.limits.endpoints import (
    REFUSED_S,
    EndpointFacts,
    read_facts,
    should_store,
    stored_facts,
)
from evennia_ai.policy.provider_errors import ErrorResponse

CALL = {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}
BODY = {
    "model": "m", "tools": [], "response_format": {}, "max_tokens": 9, "temperature": 1,
    "reasoning_effort": "low", **STREAM,
    "messages": [
        {"role": "system", "content": "You are Mira."},
        {"role": "user", "content": "Ann says: the temperature is unknown"},
        {"role": "assistant", "content": "", "reasoning": "R.", "tool_calls": [CALL]},
    ],
}  # fmt: skip
OVERFLOW = "The maximum context length is 9 tokens, but you requested 12: lower max_tokens."


@pytest.mark.parametrize(
    ("status", "words", "content", "part"),
    [
        (400, "Unknown parameter: 'stream_options'", {}, "stream_options"),
        (422, "", {"detail": [{"loc": ["body", "stream_options"]}]}, "stream_options"),
        (400, "Not supported with it.", {"error": {"param": "temperature"}}, "temperature"),
        (400, "Streaming is not supported", {}, "stream"),
        (400, "stream must be false", {}, "stream"),
        (400, "Unsupported: 'max_tokens'. Use 'max_completion_tokens'.", {}, "max_tokens"),
        (404, "No endpoints found that support tool use.", {}, "tools"),
        (404, "There is no model 'tools'", {}, ""),
        (500, "tools param requires --jinja flag", {}, "tools"),
        (500, "the stream broke", {}, ""),
        (503, "streaming is not supported while loading", {}, ""),
        (400, "'response_format' is not available", {}, "response_format"),
        (400, "System role not supported", {}, "system"),
        (400, "messages.2: property 'reasoning' must not be sent", {}, "reasoning"),
        (400, "The thought_signature is missing in a call", {}, "calls"),
        (400, "'tool_calls' must be followed by tool messages", {}, "calls"),
        (400, "Unrecognized argument: reasoning_effort", {}, "reasoning_effort"),
        (400, "Unknown parameter: 'top_p'", {}, ""),
        (400, "Only user and assistant roles are supported!", {}, "system"),
        (400, "Role 'tool' is not supported", {}, "calls"),
        (500, "After the system message, conversation roles must alternate", {}, "calls"),
        (400, "Invalid schema for function 'look'", {}, "tools"),
        (400, "To use tools, set reasoning_effort to 'none'.", {}, "reasoning_effort=none"),
        (400, "parameter.enable_thinking must be set to false", {}, "enable_thinking=false"),
        (400, "temperature must be set to 1", {}, "temperature"),
        (400, "set `model` to 'other'", {}, ""),
        (400, OVERFLOW, {}, ""),
        (401, "temperature", {}, ""),
        (429, "too many requests with stream", {}, ""),
    ],
)
def test_a_refusal_names_a_part_that_was_sent(status, words, content, part):
    assert refused_part(ErrorResponse(words, status), json.dumps(content).encode(), BODY) == part


@pytest.mark.parametrize(
    ("refused", "left_out", "added"),
    [
        (["stream"], {"stream", "stream_options"}, {}),
        (["stream_options"], {"stream_options"}, {}),
        (["max_tokens"], {"max_tokens"}, {"max_completion_tokens": 9}),
        (["max_tokens", "max_completion_tokens"], {"max_tokens"}, {}),
        (["system", "calls"], set(), {}),
        (["reasoning_effort=none"], set(), {"reasoning_effort": "none"}),
        (["think=false"], set(), {"think": False}),
    ],
)
def test_a_part_is_left_out_with_what_belongs_to_it(refused, left_out, added):
    kept = {name: value for name, value in BODY.items() if name not in left_out}
    assert without_parts(BODY, refused) == kept | added


def test_a_field_beside_a_call_is_left_out_of_each_message():
    *before, last = without_parts(BODY, ["reasoning"])["messages"]
    assert before == BODY["messages"][:2]
    assert last == {"role": "assistant", "content": "", "tool_calls": [CALL]}


def test_what_a_model_refuses_decides_how_it_is_asked():
    def profile(*refused):
        facts = EndpointFacts(refused=dict.fromkeys(refused, "No."))
        return ModelProfile("p", "openai", "m", told=facts)

    forms = [request_form(profile(*names)).name for names in ((), ["tools"])]
    assert forms == ["tools", "plain"]
    assert wire_style(profile(), "tools").calls
    assert not wire_style(profile("calls"), "tools").calls
    assert not wire_style(profile("system"), "tools").system


def test_what_was_refused_is_stored_and_read_again():
    facts = EndpointFacts(refused={"temperature": "Only 1 is supported"})
    assert should_store(EndpointFacts(), facts) and not should_store(facts, facts)
    assert read_facts(stored_facts(facts)) == facts


def registry(now, window=None):
    """Return what is known of endpoints at the times of a list, and its store."""
    kept = {}
    ask = lambda _profile: succeed(window)  # noqa: E731
    return EndpointRegistry(ask, lambda: dict(kept), kept.update, lambda: now[-1]), kept


def test_what_was_refused_a_day_ago_is_tried_again():
    now, profile = [1_000.0], ModelProfile("p", "openai", "m")
    facts, kept = registry(now)
    for _ in range(2):
        facts.learn(profile, LLMReply("hi", refused={"tools": "No."}), 1.0)
        facts.learn(profile, LLMReply("hi", refused={"tools": "No."}), 1.0)
        now.append(now[-1] + REFUSED_S - 1)
        again = EndpointRegistry(lambda _profile: succeed(None), lambda: kept, len, lambda: now[-1])
        assert (
            facts.told(profile).told.refused == again.told(profile).told.refused == {"tools": "No."}
        )
        now.append(now[-1] + 1)
        assert not facts.told(profile).told.refused


def test_another_window_is_a_sign_that_the_server_was_set_up_anew():
    profile = ModelProfile("p", "openai", "m")
    facts, _kept = registry([0.0], window=8_000)
    facts.learn(profile, LLMReply("hi", refused={"tools": "No."}), 1.0)
    assert facts.told(profile).told.refused
    error = ContextOverflow("long")
    error.window = 4_000
    facts.learn(profile, Failure(error), 1.0)
    assert not facts.told(profile).told.refused

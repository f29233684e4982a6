"""The scripted model."""

import pytest
from twisted.internet.defer import CancelledError, Deferred

from evennia_ai.config import ModelProfile
from evennia_ai.ports import LLMReply, LLMRequest, Scene, ToolCallRequest
from tests.scripted import ScriptedLLM, call

PROFILE = ModelProfile("p", "scripted", "m")
REQUEST = LLMRequest([{"role": "user", "content": "Ann says: hello"}], Scene("Mira", "", ()))


def ask(llm, request=REQUEST):
    outcome = []
    llm.complete(request, PROFILE).addBoth(outcome.append)
    return outcome


def replies(*script):
    llm = ScriptedLLM(script)
    return [ask(llm)[0] for _ in script]


@pytest.mark.parametrize(
    "line", [call("say", text="hi"), (call("say", text="hi"),), {"say": {"text": "hi"}}]
)
def test_a_call_can_be_written_three_ways(line):
    expected = LLMReply("", (ToolCallRequest("call_1", "say", '{"text": "hi"}'),), "tool_calls")
    assert replies(line) == [expected]


def test_a_deferred_keeps_the_call_waiting_and_may_fire_with_any_other_line():
    later = Deferred()
    outcome = ask(ScriptedLLM([later]))
    assert outcome == []
    later.callback(call("noop"))
    assert outcome[0].tool_calls == (ToolCallRequest("call_1", "noop", "{}"),)


def test_a_call_that_waits_can_be_cancelled():
    cancelled = []
    deferred = ScriptedLLM([Deferred(cancelled.append)]).complete(REQUEST, PROFILE)
    failures = []
    deferred.addErrback(failures.append)
    deferred.cancel()
    assert len(cancelled) == 1
    assert failures[0].type is CancelledError


def test_requests_and_deadlines_are_kept_so_that_it_can_stand_for_a_gateway():
    llm = ScriptedLLM(["a", "b"])
    llm.complete(REQUEST, PROFILE, 12.5)
    ask(llm)
    assert llm.requests == [REQUEST, REQUEST]
    assert llm.deadlines == [12.5, None]


def test_a_script_that_has_run_out_is_an_assertion_error_that_shows_the_request():
    llm = ScriptedLLM(["only one"])
    ask(llm)
    error = ask(llm)[0].value
    assert type(error) is AssertionError
    assert str(error) == ("The script has no reply left for request 2, ending in: Ann says: hello")

"""Streamed replies against a real HTTP server on loopback."""

import gc
import json
import threading
from dataclasses import replace

import pytest
from twisted.logger import globalLogPublisher
from twisted.python.failure import Failure

from evennia_ai.config import ModelProfile
from evennia_ai.errors import ProviderUnavailable
from evennia_ai.llm.openai_client import OpenAIClient
from evennia_ai.messages import Delta, ToolCallRequest
from evennia_ai.policy.call_record import PromptTrace
from evennia_ai.policy.limits.retry import RetryLimits, retry_delay
from evennia_ai.ports import LLMRequest
from tests.provider.model_faults import MODEL
from tests.provider.stub_stream import BREAKS
from tests.provider.transport_faults import TRANSPORT

KEY = "4f1c9e77-a2b8-tavern"
SAY = {"type": "function", "function": {"name": "say", "parameters": {}}}
pytestmark = pytest.mark.usefixtures("transport")
HELLO = {"name": "say", "arguments": {"text": "Good evening, traveller."}}


@pytest.fixture
def client(loop_thread):
    return OpenAIClient(loop_thread, {"STUB_KEY": KEY})


@pytest.fixture
def profile(provider):
    return ModelProfile("tavern", "openai", "stub", provider.base_url, "STUB_KEY")


@pytest.fixture
def deltas():
    return []


@pytest.fixture
def request_(deltas):
    messages = [{"role": "user", "content": "Ann says: hello"}]
    return LLMRequest(messages, [SAY], max_tokens=50, on_delta=deltas.append, trace=PromptTrace())


def test_a_streamed_reply_is_the_unstreamed_one_and_comes_in_pieces(
    pump, client, provider, profile, *, request_, deltas
):
    provider.queue(*[{"text": "Hm. Well.", "tool_calls": [{"id": "a", **HELLO}]}] * 2)
    streamed = pump.wait(client.complete(request_, profile))
    whole = pump.wait(client.complete(replace(request_, on_delta=None), profile))
    assert streamed == whole
    assert streamed.usage is not None
    assert [delta.content for delta in deltas[:3]] == ["Hm. ", "Well", "."]
    assert {(delta.tool_index, delta.tool_name) for delta in deltas[3:]} == {(0, "say")}
    assert json.loads("".join(delta.arguments for delta in deltas)) == HELLO["arguments"]
    asked = [record["body"] for record in provider.requests()]
    assert (asked[0].pop("stream"), asked[0].pop("stream_options")) == (
        True,
        {"include_usage": True},
    )
    assert asked[0] == asked[1]


def test_deltas_arrive_in_the_loop_thread_while_the_rest_is_still_written(
    pump, client, provider, profile, *, request_, eventually
):
    heard = []

    def on_delta(delta):
        heard.append((delta, threading.current_thread().name))

    provider.queue({"text": "Good evening.", "stream": {"break": "stall", "after": 3}})
    deferred = client.complete(replace(request_, on_delta=on_delta), profile)
    eventually(lambda: len(heard) == 2)
    assert heard == [(Delta(text), "evennia-ai-loop") for text in ("Good", " eve")]
    deferred.cancel()
    pump.wait(deferred)
    eventually(lambda: "left" in provider.records()[-1])


@pytest.mark.parametrize("asked", ["request", "profile"])
def test_streaming_is_asked_for_by_the_request_and_allowed_by_the_profile(
    pump, client, provider, profile, *, request_, deltas, asked
):
    if asked == "request":
        profile = replace(profile, stream=False)
    else:
        request_ = replace(request_, on_delta=None)
    assert pump.wait(client.complete(request_, profile)).tool_calls
    assert "stream" not in provider.requests()[0]["body"]
    assert deltas == []


def test_a_server_that_answers_whole_is_read_as_unstreamed(
    pump, client, provider, profile, *, request_, deltas
):
    provider.control(stream={"ignore": True})
    reply = pump.wait(client.complete(request_, profile))
    assert [call.name for call in reply.tool_calls] == ["say"]
    assert reply.usage is not None
    assert deltas == []


def test_a_streams_connection_is_used_again(pump, client, provider, profile, request_):
    for _ in range(3):
        pump.wait(client.complete(request_, profile))
    assert len({record["port"] for record in provider.requests()}) == 1


def test_stopping_the_thread_closes_every_stream_without_a_warning(
    pump, loop_thread, client, provider, profile, *, request_, deltas, eventually, recwarn
):
    provider.control(stream={"break": "stall"})
    deferreds = [client.complete(request_, profile) for _ in range(20)]
    eventually(lambda: len(provider.requests()) == 20 and len(deltas) == 20)
    loop_thread.stop()
    eventually(lambda: sum("left" in record for record in provider.records()) == 20)
    del deferreds
    gc.collect()
    assert [str(warning.message) for warning in recwarn] == []


# --- streams that break --------------------------------------------------------------------------

REASONS = {
    "end": "sent no complete reply: the stream ended before the reply was complete.",
    "cut": "could not be reached: the connection broke.",
    "reset": "could not be reached: the connection broke.",
    "stall": "did not answer in time.",
    "malformed": "sent no complete reply: an event of the stream is not readable.",
    "error": "reports a temporary failure (HTTP 500): The model crashed.",
}


def test_every_break_has_its_reason():
    assert set(REASONS) == set(BREAKS)


@pytest.mark.parametrize(("after", "told"), [(4, 0), (14, 1)])
def test_a_stream_that_breaks_before_a_sentence_was_passed_on_may_be_asked_for_again(
    pump, client, provider, profile, *, request_, after, told
):
    calls = []
    said = {"name": "say", "arguments": {"text": "Good evening, traveller. What will it be today?"}}
    provider.queue({"tool_calls": [said], "stream": {"break": "end", "after": after}})
    asked = replace(request_, on_delta=None, on_call=calls.append)
    error = pump.error(client.complete(asked, profile))
    assert (error.begun, len(calls)) == (bool(told), told)
    assert (retry_delay(error, 1, 60.0, 0.0, RetryLimits()) is None) is bool(told)


@pytest.mark.parametrize("how", sorted(BREAKS))
@pytest.mark.parametrize("begun", [True, False])
def test_a_stream_that_breaks_says_how_and_whether_it_had_begun(
    pump, loop_thread, provider, profile, *, request_, deltas, how, begun
):
    client = OpenAIClient(loop_thread, {"STUB_KEY": KEY}, read_timeout_s=0.3)
    provider.queue({"text": "Good evening.", "stream": {"break": how, "after": 3 if begun else 1}})
    error = pump.error(client.complete(request_, profile))
    assert type(error) is ProviderUnavailable
    assert error.begun is begun
    assert bool(deltas) is begun
    assert str(error).endswith(REASONS[how])
    assert ("broke off its reply. " in str(error)) is begun
    assert error.__cause__ is None
    assert error.__context__ is None
    assert (retry_delay(error, 1, 60.0, 0.0, RetryLimits()) is None) is begun


def summary(outcome):
    """A reply without ids and sizes, or an error."""
    if isinstance(outcome, Failure):
        return type(outcome.value), str(outcome.value), vars(outcome.value)
    calls = [(call.name, call.arguments) for call in outcome.tool_calls]
    return outcome.content, calls, outcome.finish_reason, outcome.usage is None


@pytest.mark.parametrize(
    "fault", sorted({*TRANSPORT, *MODEL} - {"hang", "drip", "flood", "cut", "reset"})
)
def test_a_fault_that_is_no_breaking_off_is_the_same_streamed(
    pump, client, provider, profile, *, request_, fault
):
    provider.fault(fault, fault)
    streamed = pump.wait(client.complete(request_, profile))
    whole = pump.wait(client.complete(replace(request_, on_delta=None), profile))
    assert summary(streamed) == summary(whole)
    assert len(provider.requests()) == 2


@pytest.mark.parametrize("fault", ["cut", "reset", "hang", "drip"])
def test_a_connection_that_breaks_or_stalls_is_unavailable_streamed_too(
    pump, loop_thread, provider, profile, *, request_, fault
):
    client = OpenAIClient(loop_thread, {"STUB_KEY": KEY}, read_timeout_s=0.3)
    provider.fault(fault)
    error = pump.error(client.complete(request_, profile))
    assert type(error) is ProviderUnavailable
    assert error.begun is (fault in ("cut", "reset"))


def test_a_stream_without_end_is_given_up_at_the_cap(
    pump, loop_thread, provider, profile, *, request_
):
    client = OpenAIClient(loop_thread, {"STUB_KEY": KEY}, most_bytes=20_000)
    provider.queue({"text": "x" * 50_000})
    error = pump.error(client.complete(request_, profile))
    assert error.begun
    assert "a body of more than 20,000 bytes was not read." in str(error)


def test_a_callback_that_fails_is_logged_once_and_not_called_again(
    pump, client, provider, profile, request_
):
    called, logged = [], []

    def fail(delta):
        called.append(delta)
        raise RuntimeError("no ears")

    provider.queue({"text": "Good evening."})
    globalLogPublisher.addObserver(logged.append)
    try:
        reply = pump.wait(client.complete(replace(request_, on_delta=fail), profile))
    finally:
        globalLogPublisher.removeObserver(logged.append)
    assert reply.content == "Good evening."
    assert len(called) == 1
    assert ["no ears" in str(event["log_failure"].value) for event in logged] == [True]


# --- servers that refuse to stream ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("Unknown parameter: 'stream_options'.", ["stream"]),
        ("Streaming is not supported for this model.", []),
    ],
)
def test_a_server_that_refuses_is_asked_again_without_and_remembered(
    pump, client, provider, profile, *, request_, words, left
):
    refusal = {"raw": json.dumps({"error": {"message": words}}), "status": 400}
    provider.queue(refusal, {"tool_calls": [{"id": "a", **HELLO}]})
    reply = pump.wait(client.complete(request_, profile))
    told = ToolCallRequest("a", "say", json.dumps(HELLO["arguments"]))
    assert reply.tool_calls == (told,)
    learnt = replace(profile.told, refused=reply.refused)
    pump.wait(client.complete(request_, replace(profile, told=learnt)))
    asked = [
        [name for name in ("stream", "stream_options") if name in record["body"]]
        for record in provider.requests()
    ]
    assert asked == [["stream", "stream_options"], left, left]


def test_a_refusal_that_stays_is_told_and_not_remembered(
    pump, client, provider, profile, *, request_
):
    refusal = {"raw": '{"error": {"message": "stream_options: odd"}}', "status": 400}
    provider.queue(refusal, refusal)
    assert "odd" in str(pump.error(client.complete(request_, profile)))
    assert len(provider.requests()) == 2
    pump.wait(client.complete(request_, profile))
    assert "stream_options" in provider.requests()[-1]["body"]

"""The fallback of a profile: when it is asked, who pays, and what its failure is."""

import socket
from dataclasses import replace

import pytest
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock

from evennia_ai.config import ModelProfile
from evennia_ai.errors import (
    CircuitOpen,
    ContextOverflow,
    ProviderMisconfigured,
    ProviderRejected,
    ProviderUnavailable,
    QuotaExhausted,
    SwitchedOff,
    TurnAborted,
)
from evennia_ai.llm.endpoint_queues import FALLBACK_S
from evennia_ai.llm.gateway import ModelGateway
from evennia_ai.llm.openai_client import OpenAIClient
from evennia_ai.messages import LLMReply
from evennia_ai.policy.limits.retry import LOADING_CODE, BreakerLimits, GatewayLimits, RetryLimits
from evennia_ai.ports import LLMRequest
from tests.llm.endpoint_cases import SAID, Server, delta, done, events, native
from tests.llm.gateway_desk import DOWN, Desk
from tests.llm.openai_scene import REQUEST

SPARE = ModelProfile("spare", "scripted", "s")
HALL = ModelProfile("hall", "scripted", "m", fallback=SPARE)
PAUSE_S = 10.0


class Pair(Desk):
    """A desk with a profile and its fallback, whose calls stay open until the test ends them."""

    def __init__(self, tries=1, **limits):
        breaker = BreakerLimits(failures=1, pause_s=PAUSE_S)
        retry = RetryLimits(max_attempts=tries)
        super().__init__(jitter=0.0, **{"breaker": breaker, "retry": retry, **limits})
        self.gateway._clients["scripted"] = self
        self.asked = []  # the profile, the request and the open reply of each attempt

    def complete(self, request, profile):
        self.asked.append((profile, request, Deferred()))
        return self.asked[-1][2]

    def ask(self, profile=HALL, **asked):
        return super().ask(profile=profile, **asked)

    def answer(self, usage=None):
        self.asked[-1][2].callback(LLMReply("hi", usage=usage))

    def fail(self, error=DOWN):
        self.asked[-1][2].errback(error)

    @property
    def names(self):
        return [profile.name for profile, _, _ in self.asked]


@pytest.mark.parametrize("error", [DOWN, ProviderMisconfigured("no key"), QuotaExhausted("spent")])
def test_what_the_endpoint_cannot_answer_goes_to_the_fallback(error):
    desk = Pair()
    outcome = desk.ask()
    desk.fail(error)
    desk.answer()
    assert outcome.results == [LLMReply("hi", from_fallback=True)]
    assert desk.names == ["hall", "spare"]
    assert desk.clock.getDelayedCalls() == []


@pytest.mark.parametrize(
    "error",
    [
        ProviderUnavailable("broke off", begun=True),
        ProviderRejected("no"),
        ContextOverflow("long"),
        KeyError("a mistake of ours"),
    ],
)
def test_no_other_failure_goes_there(error):
    desk = Pair()
    outcome = desk.ask()
    desk.fail(error)
    assert outcome.error is error
    assert desk.names == ["hall"]


def test_the_endpoint_is_tried_again_first():
    desk = Pair(tries=2, breaker=BreakerLimits(failures=9))
    desk.ask()
    desk.fail()
    desk.clock.advance(RetryLimits().base_s / 2)
    desk.fail()
    assert desk.names == ["hall", "hall", "spare"]


def test_while_a_model_loads_the_fallback_answers_and_each_line_asks_the_model_first():
    desk = Pair()
    for _ in range(3):
        desk.ask(deadline=120.0)
        desk.fail(ProviderUnavailable("loading", status=503, code=LOADING_CODE))
        desk.answer()
    assert desk.names == ["hall", "spare"] * 3
    desk.ask(deadline=120.0)
    desk.answer()
    assert desk.names[6:] == ["hall"]


def test_half_of_the_time_is_left_to_the_fallback():
    desk = Pair(tries=4, breaker=BreakerLimits(failures=9))
    outcome = desk.ask(deadline=20.0)
    assert desk.asked[0][1].silence_s == 10.0
    desk.clock.advance(10.0)
    desk.fail()
    assert desk.asked[1][1].silence_s == 10.0
    desk.clock.advance(9.0)
    desk.answer()
    assert outcome.results == [LLMReply("hi", from_fallback=True)]
    desk.ask(deadline=120.0)  # of a local model that may have to be loaded
    assert desk.asked[2][1].silence_s == 120.0 - FALLBACK_S
    assert desk.names == ["hall", "spare", "hall"]


@pytest.mark.usefixtures("transport")
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("begun", "ending"),
    [(None, ""), ([], "silent"), ([], "alive"), ([delta(content="Good ")], "silent")],
)
def test_a_silent_server_leaves_its_time_to_the_fallback(pump, loop_thread, begun, ending, stream):
    hall = socket.create_server(("127.0.0.1", 0))  # accepts, and sends nothing
    address = f"http://127.0.0.1:{hall.getsockname()[1]}/v1"
    if begun is not None:
        hall = Server((200, events(*begun, end=""), (), ending))
        address = hall.base_url
    spare = Server((200, native("say"), ()))
    limits = GatewayLimits(retry=RetryLimits(max_attempts=1, least_time_s=0.0))
    gateway = ModelGateway(Clock(), {"openai": OpenAIClient(loop_thread, {})}, limits)
    fallback = ModelProfile("spare", "openai", "s", spare.base_url)
    profile = ModelProfile("hall", "openai", "m", address, stream=stream, fallback=fallback)
    request = LLMRequest(REQUEST.messages, REQUEST.tools, on_call=lambda _: None)
    reply = pump.wait(gateway.complete(request, profile, 0.2))  # the clock itself stands still
    assert (done(reply), reply.from_fallback) == (SAID, True)
    for server in (hall, spare):
        server.close()


def test_while_the_endpoint_is_paused_all_calls_go_to_the_fallback():
    desk = Pair()
    desk.ask()
    desk.fail()
    desk.ask()
    assert desk.names == ["hall", "spare", "spare"]


def test_those_who_wait_when_the_endpoint_is_paused_go_there_too():
    desk = Pair()
    narrow = replace(HALL, max_in_flight=1)
    outcomes = [desk.ask(profile=narrow) for _ in range(2)]
    desk.fail()
    assert desk.names == ["hall", "spare", "spare"]
    for _, _, reply in desk.asked[1:]:
        reply.callback(LLMReply("hi"))
    assert all(outcome.results[0].from_fallback for outcome in outcomes)


def test_if_the_fallback_is_paused_as_well_the_next_call_is_the_trial():
    desk = Pair()
    desk.ask()
    desk.fail()
    desk.fail()
    desk.clock.advance(PAUSE_S)
    outcome = desk.ask()
    desk.answer()
    assert outcome.results == [LLMReply("hi")]


def test_a_fallback_has_no_fallback():
    desk = Pair()
    spare = replace(SPARE, fallback=ModelProfile("third", "scripted", "t"))
    outcome = desk.ask(profile=replace(HALL, fallback=spare))
    desk.fail()
    desk.fail()
    assert outcome.error is DOWN
    assert desk.names == ["hall", "spare"]


@pytest.mark.parametrize(
    "second", [ProviderUnavailable("down, too"), ProviderRejected("no"), ContextOverflow("long")]
)
def test_if_both_fail_the_error_is_that_of_the_profile_itself(second):
    desk = Pair()
    outcome = desk.ask()
    desk.fail()
    desk.fail(second)
    assert outcome.error is DOWN


def test_a_reply_of_the_fallback_that_broke_off_says_so():
    desk = Pair()
    outcome = desk.ask()
    desk.fail()
    broken = ProviderUnavailable("broke off", begun=True)
    desk.fail(broken)
    assert outcome.error is broken


def test_a_prompt_that_is_too_long_for_the_fallback_is_not_sent_there():
    desk = Pair()
    small = replace(HALL, fallback=replace(SPARE, context_window=1_000))
    outcome = desk.ask(profile=small, tokens=900, max_tokens=200)
    desk.fail()
    assert outcome.error is DOWN
    assert desk.names == ["hall"]


def test_the_deadline_holds_for_both_together():
    desk = Pair()
    outcome = desk.ask(deadline=20.0)
    desk.clock.advance(15.0)
    desk.fail()
    desk.clock.advance(5.0)
    assert outcome.error is DOWN
    late = desk.ask(deadline=0.3)
    assert type(late.error) is CircuitOpen
    assert desk.names == ["hall", "spare"]


@pytest.mark.parametrize(
    ("end", "kind"),
    [
        (lambda desk, _: desk.gateway.close(), TurnAborted),
        (lambda desk, _: desk.gateway.switch_off("Stopped."), SwitchedOff),
        (lambda _, outcome: outcome.deferred.cancel(), CancelledError),
    ],
)
@pytest.mark.parametrize("failed", [False, True])
def test_a_call_can_be_ended_before_and_while_the_fallback_has_it(end, kind, failed):
    desk = Pair()
    outcome = desk.ask()
    if failed:
        desk.fail()
    end(desk, outcome)
    assert type(outcome.error) is kind
    assert len(desk.asked) == 1 + failed
    assert not desk.gateway.lanes.calls

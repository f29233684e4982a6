"""The gateway: one deadline per call, a cap on calls in flight, nothing lost and nothing twice."""

import gc

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock
from twisted.logger import globalLogPublisher

from evennia_ai.config import ModelProfile
from evennia_ai.errors import (
    Busy,
    DeadlineExceeded,
    ProviderMisconfigured,
    ProviderRejected,
    ProviderUnavailable,
    TurnAborted,
)
from evennia_ai.llm.gateway import ModelGateway
from evennia_ai.messages import LLMReply
from evennia_ai.policy.limits.retry import GatewayLimits, RetryLimits
from evennia_ai.ports import LLMRequest
from tests.llm.gateway_desk import PROFILE, Desk, Held, Outcome
from tests.scripted import ScriptedLLM

DEADLINE = 20.0


def request(number=0):
    return LLMRequest([{"role": "user", "content": str(number)}])


def counts(desk):
    """Return how many calls are in flight, and how many wait."""
    return desk.gateway.lanes.in_flight, desk.gateway.lanes.waiting


def narrow(max_in_flight=2, max_queued=2):
    """Return a desk with few places, whose calls are tried once."""
    retry = RetryLimits(max_attempts=1)
    return Desk(max_in_flight=max_in_flight, max_queued=max_queued, retry=retry)


@pytest.fixture
def desk():
    return narrow()


@pytest.fixture
def logged():
    events = []
    globalLogPublisher.addObserver(events.append)
    yield lambda: (gc.collect(), events)[1]
    globalLogPublisher.removeObserver(events.append)


def test_the_profile_chooses_the_client_and_its_reply_is_the_result():
    one, other = ScriptedLLM(["one"]), ScriptedLLM(["other"])
    gateway = ModelGateway(Clock(), {"one": one, "other": other})
    asked = request()
    outcome = Outcome(gateway.complete(asked, ModelProfile("p", "other"), DEADLINE))
    assert outcome.results == [LLMReply("other")]
    assert (one.requests, other.requests) == ([], [asked])


def test_a_client_that_is_not_there_is_a_configuration_error(desk):
    profile = ModelProfile("tavern", "openai")
    outcome = Outcome(desk.gateway.complete(request(), profile, DEADLINE))
    assert type(outcome.error) is ProviderMisconfigured
    assert "names the client 'openai', which is not running" in str(outcome.error)


@pytest.mark.parametrize("error", [ProviderRejected("no"), KeyError("a mistake of ours")])
@pytest.mark.parametrize("how", ["fails", "raises"])
def test_what_the_client_fails_with_is_what_the_caller_gets(error, how):
    class Broken:
        def complete(self, request, profile):
            raise error

    client = ScriptedLLM([error]) if how == "fails" else Broken()
    gateway = ModelGateway(Clock(), {"scripted": client})
    outcome = Outcome(gateway.complete(request(), PROFILE, DEADLINE))
    assert outcome.error is error
    assert gateway.lanes.in_flight == 0


# --- the deadline --------------------------------------------------------------------------------


def test_at_the_deadline_the_call_is_cancelled_and_fails(desk):
    outcome = desk.ask()
    desk.clock.advance(DEADLINE - 0.01)
    assert outcome.results == []
    desk.clock.advance(0.01)
    assert type(outcome.error) is DeadlineExceeded
    assert desk.client.cancelled == [0]
    assert counts(desk) == (0, 0)


def test_time_in_the_queue_counts(desk):
    outcomes = [desk.ask() for _ in range(2)] + [desk.ask(deadline=5.0)]
    desk.clock.advance(5.0)
    assert type(outcomes[2].error) is DeadlineExceeded
    assert desk.client.started == [0, 1]
    assert counts(desk) == (2, 0)


@pytest.mark.parametrize("late_by", [0.0, 1.0])
def test_a_call_without_time_left_is_not_made(desk, late_by):
    desk.clock.advance(30.0)
    outcome = desk.ask(deadline=-late_by)
    assert type(outcome.error) is DeadlineExceeded
    assert desk.client.started == []


@pytest.mark.parametrize("late", [LLMReply("too late"), ProviderUnavailable("too late")])
@pytest.mark.parametrize("ended", [DeadlineExceeded, CancelledError])
def test_what_comes_after_the_end_is_dropped_in_silence_and_not_retried(desk, logged, ended, late):
    class Deaf(Held):
        def complete(self, request, profile):
            self.asked.append(request)
            fire = Deferred.errback if isinstance(late, Exception) else Deferred.callback
            return Deferred(lambda work: fire(work, late))

    desk.client = Deaf()
    desk.gateway = ModelGateway(desk.clock, {"scripted": desk.client})
    outcome = desk.ask()
    if ended is CancelledError:
        outcome.deferred.cancel()
    desk.clock.pump([1.0] * int(DEADLINE))
    assert type(outcome.error) is ended
    assert logged() == [] and len(desk.client.asked) == 1


# --- places --------------------------------------------------------------------------------------


def test_no_more_than_the_cap_are_in_flight_and_the_rest_start_in_order(desk):
    for _ in range(4):
        desk.ask()
    assert desk.client.started == [0, 1]
    assert counts(desk) == (2, 2)
    desk.client.open[1].callback(LLMReply(""))
    assert desk.client.started == [0, 1, 2]
    desk.client.open[0].errback(ProviderUnavailable("down"))
    assert desk.client.started == [0, 1, 2, 3]
    assert counts(desk) == (2, 0)


def test_beyond_the_queue_a_call_fails_at_once_with_busy(desk):
    outcomes = [desk.ask() for _ in range(5)]
    assert [outcome.results for outcome in outcomes[:4]] == [[], [], [], []]
    assert type(outcomes[4].error) is Busy


def test_without_a_queue_the_cap_itself_is_the_limit():
    desk = narrow(1, 0)
    assert desk.ask().results == []
    assert type(desk.ask().error) is Busy
    desk.client.open[0].callback(LLMReply(""))
    assert desk.ask().results == []


def test_cancelling_a_call_in_flight_frees_its_place_and_cancels_its_work(desk):
    outcomes = [desk.ask() for _ in range(3)]
    outcomes[0].deferred.cancel()
    assert type(outcomes[0].error) is CancelledError
    assert desk.client.cancelled == [0]
    assert desk.client.started == [0, 1, 2]


def test_cancelling_a_call_that_waits_takes_it_out_of_the_queue(desk):
    outcomes = [desk.ask() for _ in range(4)]
    outcomes[2].deferred.cancel()
    assert type(outcomes[2].error) is CancelledError
    desk.client.open[0].callback(LLMReply(""))
    assert desk.client.started == [0, 1, 3]


def test_a_queue_of_calls_that_fail_at_once_is_emptied_without_deep_recursion(desk):
    broken = ScriptedLLM(ProviderRejected("no") for _ in range(1_200))
    gateway = ModelGateway(
        desk.clock, {"scripted": desk.client, "broken": broken}, GatewayLimits(1, 1_200)
    )
    gateway.complete(request(0), PROFILE, DEADLINE)
    profile = ModelProfile("p", "broken")
    outcomes = [Outcome(gateway.complete(request(), profile, DEADLINE)) for _ in range(1_200)]
    desk.client.open[0].callback(LLMReply(""))
    assert {type(outcome.error) for outcome in outcomes} == {ProviderRejected}
    assert (gateway.lanes.in_flight, gateway.lanes.waiting) == (0, 0)


def test_a_caller_may_ask_again_from_within_its_own_reply(desk):
    desk = narrow(1, 0)
    again = []
    desk.ask().deferred.addCallback(lambda _: again.append(desk.ask()))
    desk.client.open[0].callback(LLMReply(""))
    assert desk.client.started == [0, 1]
    assert again[0].results == []


# --- closing -------------------------------------------------------------------------------------


def test_closing_fails_all_calls_as_aborted_starts_none_and_cancels_the_work(desk):
    outcomes = [desk.ask() for _ in range(4)]
    desk.gateway.close()
    assert {type(outcome.error) for outcome in outcomes} == {TurnAborted}
    assert desk.client.started == [0, 1]
    assert sorted(desk.client.cancelled) == [0, 1]
    assert counts(desk) == (0, 0)
    assert desk.clock.getDelayedCalls() == []


def test_a_call_cancelled_by_a_caller_that_is_told_of_the_closing_starts_no_other(desk):
    outcomes = [desk.ask() for _ in range(4)]
    outcomes[2].deferred.addBoth(lambda _: outcomes[0].deferred.cancel())
    desk.gateway.close()
    assert desk.client.started == [0, 1]


def test_a_closed_gateway_refuses_new_calls(desk):
    desk.gateway.close()
    outcome = desk.ask()
    assert type(outcome.error) is TurnAborted
    assert desk.client.started == []


# --- any order of events -------------------------------------------------------------------------


class AnyOrder(RuleBasedStateMachine):
    """Calls, replies, failures, cancels and time in any order."""

    def __init__(self):
        super().__init__()
        self.desk = narrow(3, 2)
        self.outcomes = {}
        self.deadlines = {}

    @rule(left_s=st.floats(0.1, 30.0))
    def ask(self, left_s):
        number = len(self.outcomes)
        self.deadlines[number] = self.desk.clock.seconds() + left_s
        self.outcomes[number] = self.desk.ask(left_s)

    @precondition(lambda self: self.live_work())
    @rule(data=st.data(), fine=st.booleans())
    def reply(self, data, fine):
        work = data.draw(st.sampled_from(self.live_work()))
        if fine:
            work.callback(LLMReply("hi"))
        else:
            work.errback(ProviderRejected("no"))

    @precondition(lambda self: self.outcomes)
    @rule(data=st.data())
    def cancel(self, data):
        data.draw(st.sampled_from(list(self.outcomes.values()))).deferred.cancel()

    @rule(delta_s=st.floats(0.0, 10.0))
    def wait(self, delta_s):
        self.desk.clock.advance(delta_s)

    def live_work(self):
        return [work for work in self.desk.client.open.values() if not work.called]

    @invariant()
    def the_cap_holds_and_no_place_stays_empty_while_somebody_waits(self):
        in_flight, queued = counts(self.desk)
        assert in_flight == len(self.live_work()) <= 3
        assert queued <= 2
        assert not queued or in_flight == 3

    @invariant()
    def every_call_has_one_outcome_by_its_deadline(self):
        now = self.desk.clock.seconds()
        for number, outcome in self.outcomes.items():
            assert len(outcome.results) <= 1
            assert outcome.results or now < self.deadlines[number]

    @invariant()
    def calls_start_in_the_order_they_came(self):
        assert self.desk.client.started == sorted(self.desk.client.started)

    @invariant()
    def only_calls_under_way_hold_a_timer(self):
        assert len(self.desk.clock.getDelayedCalls()) == sum(counts(self.desk))


AnyOrder.TestCase.settings = settings(stateful_step_count=30)
TestAnyOrder = AnyOrder.TestCase

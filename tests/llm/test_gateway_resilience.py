"""The gateway when models fail: tries, pauses, the breaker, and local servers that start."""

import pytest
from twisted.logger import LogLevel, formatEvent, globalLogPublisher

from evennia_ai.config import ModelProfile
from evennia_ai.errors import (
    CircuitOpen,
    DeadlineExceeded,
    ProviderMisconfigured,
    ProviderRejected,
    ProviderUnavailable,
)
from evennia_ai.messages import LLMReply
from evennia_ai.policy.limits.retry import LOADING_CODE, LOADING_PAUSE_S, BreakerLimits, RetryLimits
from tests.llm.gateway_desk import DOWN, PROFILE, Desk

# --- another try ----------------------------------------------------------------------------------


def test_a_transient_failure_is_tried_again_after_a_pause():
    desk = Desk()
    outcome = desk.ask()
    desk.fail(0)
    assert desk.client.started == []
    assert (desk.gateway.lanes.in_flight, desk.gateway.lanes.waiting) == (0, 0)
    desk.clock.advance(0.5)
    desk.fail(0)
    desk.clock.advance(1.0)
    desk.answer(0)
    assert outcome.results == [LLMReply("hi")]
    assert desk.clock.getDelayedCalls() == []


def test_the_deadline_ends_a_pause():
    desk = Desk(jitter=0.0)
    outcome = desk.ask(deadline=5.0)
    desk.fail(0, ProviderUnavailable("slow down", retry_after_s=4.0))
    desk.clock.advance(4.0)
    desk.clock.advance(1.0)
    assert type(outcome.error) is DeadlineExceeded
    assert desk.client.cancelled == [0]


def test_a_call_that_pauses_can_be_cancelled():
    desk = Desk()
    outcome = desk.ask()
    desk.fail(0)
    outcome.deferred.cancel()
    assert desk.clock.getDelayedCalls() == []
    desk.clock.advance(10.0)
    assert desk.client.started == []


def test_a_pause_leaves_the_place_to_others():
    desk = Desk(max_in_flight=1)
    desk.ask()
    desk.ask()
    assert desk.client.started == [0]
    desk.fail(0)
    assert desk.client.started == [1]


# --- the breaker ----------------------------------------------------------------------------------


def storm(**limits):
    """A desk whose endpoint has just failed three times in a row."""
    desk = Desk(
        retry=RetryLimits(max_attempts=1), breaker=BreakerLimits(failures=3, pause_s=10.0), **limits
    )
    for number in range(3):
        desk.ask()
        desk.fail(number)
    return desk


def test_failures_in_a_row_leave_the_endpoint_alone_and_say_why():
    desk = storm()
    error = desk.ask().error
    assert type(error) is CircuitOpen
    assert str(error) == (
        "The model 'm' of the profile 'tavern' gets no calls for a while, after: down"
    )
    assert desk.client.started == []
    (lane,) = desk.gateway.lanes
    assert (lane.name, lane.paused_s, lane.breaker.error) == ("tavern:m", 10.0, "down")


def test_one_probe_goes_out_after_the_pause_and_its_success_lets_all_others_go():
    desk = storm()
    desk.clock.advance(10.0)
    probe = desk.ask()
    assert type(desk.ask().error) is CircuitOpen
    desk.answer(3)
    assert probe.results == [LLMReply("hi")]
    desk.ask()
    assert desk.client.started == [5]


def test_a_probe_that_is_given_up_by_its_caller_lets_another_go():
    desk = storm()
    desk.clock.advance(10.0)
    desk.ask().deferred.cancel()
    desk.ask()
    assert desk.client.started == [3, 4]


def test_those_who_wait_are_told_when_the_endpoint_is_left_alone():
    desk = Desk(
        max_in_flight=1, retry=RetryLimits(max_attempts=1), breaker=BreakerLimits(failures=1)
    )
    first, second = desk.ask(), desk.ask()
    desk.fail(0)
    assert first.error is DOWN
    assert type(second.error) is CircuitOpen


def test_who_waits_is_told_though_others_take_the_place():
    desk = Desk(
        max_in_flight=1, retry=RetryLimits(max_attempts=1), breaker=BreakerLimits(failures=1)
    )
    other = ModelProfile("inn", "scripted", "n")
    desk.ask(profile=other)
    _failing, waiting = desk.ask(), desk.ask()
    desk.answer(0)
    desk.ask(profile=other)
    desk.fail(1)
    assert desk.client.started == [3]
    assert type(waiting.error) is CircuitOpen


def test_one_cause_is_warned_of_once_until_the_endpoint_answered():
    lines = []
    globalLogPublisher.addObserver(lines.append)
    try:
        desk = Desk(retry=RetryLimits(max_attempts=1))
        wrong, other = ProviderMisconfigured("no key"), ProviderMisconfigured("no address")
        for number, error in enumerate((wrong, wrong, other, None, other)):
            desk.clock.advance(3_600)
            desk.ask()
            if error:
                desk.fail(number, error)
            else:
                desk.answer(number)
    finally:
        globalLogPublisher.removeObserver(lines.append)
    warned = [formatEvent(line) for line in lines if line["log_level"] is LogLevel.warn]
    assert [line.partition("after: ")[2] for line in warned] == [
        "no key", "no address", "no address",
    ]  # fmt: skip


def test_another_model_is_not_touched_by_it():
    desk = storm()
    other = desk.ask(profile=ModelProfile("other", "scripted", "n"))
    assert other.results == []


def test_a_refused_request_says_nothing_against_the_endpoint():
    desk = Desk(breaker=BreakerLimits(failures=1))
    desk.ask()
    desk.fail(0, ProviderRejected("no"))
    assert desk.ask().results == []


@pytest.mark.parametrize(("deadline", "kind"), [(10.0, CircuitOpen), (1.0, type(None))])
def test_an_endpoint_that_hangs_counts_as_failing_but_not_one_that_had_no_time(deadline, kind):
    desk = Desk(breaker=BreakerLimits(failures=1))
    desk.ask(deadline=deadline)
    desk.clock.advance(deadline)
    again = desk.ask()
    assert type(again.error if again.results else None) is kind


@pytest.mark.parametrize("hangs", [False, True])
def test_after_an_outage_the_first_probe_follows_recovery_within_ten_seconds(hangs):
    desk = Desk(retry=RetryLimits(max_attempts=1))
    for number in range(600):
        desk.ask(deadline=60.0)
        if not hangs and desk.client.started:
            desk.fail(number)
        desk.client.open.clear()
        desk.clock.advance(1.0)
    for _ in range(10):
        if not desk.client.started:
            desk.clock.advance(1.0)
            desk.ask(deadline=60.0)
    (probe,) = desk.client.started
    desk.answer(probe)
    assert next(iter(desk.gateway.lanes)).paused_s == 0


# --- a local server that starts ---


HOME = ModelProfile("home", "scripted", "m", "http://127.0.0.1:8080/v1")
LOADING = ProviderUnavailable("loading", status=503, code=LOADING_CODE)


def test_while_a_server_loads_its_model_a_call_is_tried_until_it_is_up():
    desk = Desk(jitter=0.0)
    outcome = desk.ask(deadline=60.0, profile=HOME)
    for _ in range(30):
        desk.fail(0, LOADING)
        desk.clock.advance(LOADING_PAUSE_S)
    desk.answer(0)
    assert [reply.content for reply in outcome.results] == ["hi"]


def overdue(desk, profile, times):
    for _ in range(times):
        desk.ask(deadline=20.0, profile=profile)
        desk.clock.advance(20.0)
        desk.client.open.clear()
    return next(iter(desk.gateway.lanes)).paused_s


def test_a_first_slow_answer_does_not_open_the_breaker_of_a_local_server():
    limits = BreakerLimits(failures=2)
    assert overdue(Desk(breaker=limits), PROFILE, 2) > 0
    assert overdue(Desk(breaker=limits), HOME, 5) == 0
    assert overdue(Desk(breaker=limits), HOME, 6) > 0


def test_once_it_has_answered_it_is_judged_as_any_other():
    desk = Desk(breaker=BreakerLimits(failures=2))
    desk.ask(profile=HOME)
    desk.answer(0)
    assert overdue(desk, HOME, 2) > 0

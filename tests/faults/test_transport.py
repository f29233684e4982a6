"""Faults of the network and of HTTP, numbered as on the list they come from.

The client, the gateway and HTTP to the stub provider on loopback are real. Only the clock is a
fake, so that pauses are measured to the millisecond.
"""

import contextlib
import socket

import pytest

from evennia_ai.errors import (
    CircuitOpen,
    DeadlineExceeded,
    ProviderError,
    ProviderMisconfigured,
    ProviderUnavailable,
    QuotaExhausted,
)
from evennia_ai.messages import LLMReply
from evennia_ai.policy.limits.retry import BreakerLimits, RetryLimits
from tests.faults.conftest import DEADLINE_S, KEY

pytestmark = pytest.mark.usefixtures("transport")

ONE_TRY = RetryLimits(max_attempts=1)
PATIENT = BreakerLimits(failures=10**6)
# Those after which a mixed course goes on by itself; the silent ones have tests of their own.
LOUD = [
    "rate_limited",
    "rate_limited_for_days",
    "rate_limited_oddly",
    "quota_exhausted",
    "server_error",
    "overloaded",
    "wrong_key",
    "unknown_model",
    "reset",
    "cut",
    "html",
    "redirect",
    "truncated_json",
    "broken_arguments",
    "same_ids",
    "many_calls",
    "no_choices",
    "no_content",
    "filtered",
    "cut_off",
    "too_long",
    "hostile_text",
    "hostile_arguments",
    "no_usage",
    "absurd_usage",
]


def asked(road):
    """Return the number of requests at the provider."""
    return len(road.provider.requests())


def listens(provider):
    with contextlib.suppress(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", provider.port)).close()
        return True
    return False


def words_of(reply):
    (call,) = reply.tool_calls
    return call.name, call.arguments


HELLO = ("say", '{"text": "I heard: hello"}')


def test_fault_01_a_rate_limit_is_waited_out_and_then_there_is_one_reply(road):
    road.provider.fault("rate_limited")
    deferred = road.ask()
    road.run_one_job()
    road.clock.advance(1.999)
    assert road.gateway.lanes.in_flight == 0
    assert words_of(road.outcome(deferred)) == HELLO
    assert road.pauses == [0.001]
    assert asked(road) == 2


@pytest.mark.parametrize("fault", ["rate_limited_for_days", "quota_exhausted", "payment_required"])
def test_fault_02_days_to_wait_or_a_used_up_quota_are_told_at_once(road, fault):
    road.provider.fault(fault)
    error = road.outcome(road.ask())
    assert type(error) is QuotaExhausted
    assert road.pauses == []
    assert asked(road) == 1


def test_fault_04_two_errors_of_the_server_and_then_one_reply(road):
    road.provider.fault("server_error", "server_error")
    assert words_of(road.outcome(road.ask())) == HELLO
    assert asked(road) == 3


def test_fault_05_in_a_storm_the_breaker_opens_and_only_probes_go_out(road):
    road.limit(retry=ONE_TRY, breaker=BreakerLimits(failures=3, pause_s=5.0))
    road.provider.mix_faults(1.0, names=["overloaded"])
    for _ in range(3):
        assert type(road.outcome(road.ask())) is ProviderUnavailable
    for _ in range(10):
        assert type(road.outcome(road.ask())) is CircuitOpen
    assert asked(road) == 3

    road.clock.advance(5.0)
    probe, other = road.ask(), road.ask()
    assert type(road.outcome(other)) is CircuitOpen
    assert type(road.outcome(probe)) is ProviderUnavailable
    assert asked(road) == 4

    road.provider.clear()
    road.clock.advance(10.0)
    assert words_of(road.outcome(road.ask())) == HELLO
    assert words_of(road.outcome(road.ask())) == HELLO


@pytest.mark.parametrize("status", [401, 403])
def test_fault_06_a_refused_key_is_not_tried_again_told_to_admins_and_never_shown(
    road, logged, status
):
    told = f'{{"error": {{"message": "Incorrect API key provided: {KEY}."}}}}'
    road.provider.queue({"raw": told, "status": status})
    error = road.outcome(road.ask())
    assert type(error) is ProviderMisconfigured
    assert "refused the key in STUB_KEY" in str(error)
    assert asked(road) == 1
    assert any("STUB_KEY" in line for line in logged), "no admin is told"
    assert not any(KEY in text for text in [*logged, str(error), repr(vars(error))])


def test_fault_08_where_nobody_listens_the_caller_is_told_soon(road, eventually):
    road.provider.refuse(0.5)
    error = road.outcome(road.ask())
    assert type(error) is ProviderUnavailable
    assert "nothing listens there" in str(error)
    assert sum(road.pauses) < DEADLINE_S
    eventually(lambda: listens(road.provider))


@pytest.mark.parametrize("fault", ["reset", "cut"])
def test_fault_09_reset_in_mid_body_nothing_partial_is_spoken(road, fault):
    road.limit(breaker=PATIENT)
    road.provider.fault(fault)
    turn = road.hears("hello")
    assert road.hall.said == ["I heard: hello"]
    assert turn.outcome == "answered"

    road.provider.mix_faults(1.0, names=[fault])
    turn = road.hears("and again")
    assert turn.outcome == "excused"
    assert road.hall.said == ["I heard: hello", "(fallback)"]


def test_fault_10_an_endpoint_that_hangs_is_given_up_at_the_deadline(road, eventually):
    road.provider.fault("hang")
    found = []
    road.ask().addBoth(lambda failure: found.append(failure.value))
    eventually(lambda: asked(road) == 1)
    road.clock.advance(DEADLINE_S - 0.001)
    assert found == []
    road.clock.advance(0.001)
    assert [type(error) for error in found] == [DeadlineExceeded]
    eventually(lambda: "left" in road.provider.records()[-1])


def test_fault_11_one_byte_a_second_ends_at_the_deadline_though_it_is_never_silent(
    road, eventually
):
    road.provider.fault("drip", every_s=0.01)
    found = []
    road.ask().addBoth(lambda failure: found.append(failure.value))
    eventually(lambda: any("fault" in record for record in road.provider.records()))
    road.clock.advance(DEADLINE_S)
    assert [type(error) for error in found] == [DeadlineExceeded]
    eventually(lambda: "left" in road.provider.records()[-1])


def test_fault_12_fifty_megabytes_are_not_read_to_their_end(road, eventually):
    road.limit(retry=ONE_TRY)
    road.provider.fault("flood")
    error = road.outcome(road.ask())
    assert type(error) is ProviderUnavailable
    assert "more than 4,000,000 bytes" in str(error)
    eventually(lambda: "left" in road.provider.records()[-1])


def test_fault_14_a_redirect_is_refused_in_a_clear_sentence_and_not_followed(road):
    road.provider.fault("redirect", to=f"{road.provider.base_url}/chat/completions")
    error = road.outcome(road.ask())
    assert type(error) is ProviderMisconfigured
    assert "put the final address into the base_url of the profile 'tavern'" in str(error)
    assert asked(road) == 1


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_whatever_comes_in_whatever_mix_each_call_has_one_outcome_of_ours(road, seed, logged):
    road.provider.mix_faults(0.6, seed, LOUD)
    kinds = {LLMReply, QuotaExhausted, ProviderMisconfigured}
    outcomes = []
    while len(outcomes) < 60 or not kinds <= set(map(type, outcomes)):
        assert len(outcomes) < 600
        outcomes.append(road.outcome(road.ask()))
        road.clock.advance(BreakerLimits().longest_pause_s)
    assert all(isinstance(outcome, LLMReply | ProviderError) for outcome in outcomes)
    assert road.gateway.lanes.in_flight == road.gateway.lanes.waiting == 0
    assert road.clock.getDelayedCalls() == []
    assert not any(KEY in line or "Traceback" in line for line in logged)

"""When a failed call is tried again, and when an endpoint is left alone."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from evennia_ai.errors import (
    Busy,
    CircuitOpen,
    ContextOverflow,
    DeadlineExceeded,
    ProviderMisconfigured,
    ProviderRejected,
    ProviderUnavailable,
    QuotaExhausted,
)
from evennia_ai.policy.limits.retry import (
    LOADING_CODE,
    LOADING_PAUSE_S,
    LONGEST_WAIT_S,
    PROBE_S,
    SLOW_STARTS,
    Breaker,
    BreakerLimits,
    RetryLimits,
    after_failure,
    asked_wait_s,
    judges_endpoint,
    parse_retry_after,
    paused_s,
    retry_delay,
    with_probe,
)

NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)
IN_A_MINUTE = "Thu, 01 Jan 2026 12:01:00 GMT"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("2", 2.0), (" 2 ", 2.0), ("0", 0.0), ("1.5", 1.5), ("172800", 172_800.0),
        (IN_A_MINUTE, 60.0), ("Thursday, 01-Jan-26 12:01:00 GMT", 60.0),
        ("Thu Jan  1 12:01:00 2026", 60.0), ("Thu, 01 Jan 2026 13:01:00 +0100", 60.0),
        ("Thu, 01 Jan 2026 12:01:00 -0000", 60.0), ("Thu, 01 Jan 2026 11:59:00 GMT", 0.0),
    ],
)  # fmt: skip
def test_seconds_and_dates_are_read_as_seconds_from_now(value, seconds):
    assert parse_retry_after(value, NOW) == seconds


@pytest.mark.parametrize("value", ["999999999999999", "Fri, 01 Jan 2100 00:00:00 GMT"])
def test_an_absurd_wait_is_the_longest_there_is(value):
    assert parse_retry_after(value, NOW) == LONGEST_WAIT_S


@pytest.mark.parametrize(
    "value",
    [
        "",
        "soon",
        "-5",
        "nan",
        "inf",
        "1e3",
        "1_0",
        "２",
        "9" * 400,
        "2 seconds",
        "Thu, 99 Jan 2026 12:01:00 GMT",
        "Thu, 01 Jan 99999 12:01:00 GMT",
    ],
)
def test_garbage_says_nothing(value):
    assert parse_retry_after(value, NOW) is None


@given(st.text(max_size=40))
def test_no_header_at_all_breaks_the_reader(value):
    wait = parse_retry_after(value, NOW)
    assert wait is None or 0 <= wait <= LONGEST_WAIT_S


@given(st.integers(0, 10**6), st.integers(-12, 12))
def test_a_date_means_the_same_in_every_zone(seconds, hours):
    zone = timezone(timedelta(hours=hours))
    at = (NOW + timedelta(seconds=seconds)).astimezone(zone)
    value = at.strftime("%a, %d %b %Y %H:%M:%S %z")
    assert parse_retry_after(value, NOW) == min(seconds, LONGEST_WAIT_S)


# --- all that headers say ------------------------------------------------------------------------


def test_a_date_is_counted_from_the_servers_clock_where_it_tells_it():
    headers = {"date": "Thu, 01 Jan 2026 12:00:30 GMT", "retry-after": IN_A_MINUTE}
    assert asked_wait_s(headers, NOW) == 30.0
    assert asked_wait_s({"retry-after": IN_A_MINUTE}, NOW) == 60.0
    assert asked_wait_s({"date": "today", "retry-after": IN_A_MINUTE}, NOW) == 60.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "2"}, 2.0),
        ({"retry-after-ms": "-1"}, None),
        ({}, None),
    ],
)
def test_milliseconds_come_first_where_they_are_usable(headers, seconds):
    assert asked_wait_s(headers, NOW) == seconds


LIMITS = RetryLimits()


@pytest.mark.parametrize(
    "kind",
    [
        Busy, CircuitOpen, ContextOverflow, DeadlineExceeded, ProviderMisconfigured,
        ProviderRejected, QuotaExhausted,
    ],
)  # fmt: skip
def test_what_another_try_cannot_help_is_not_tried_again(kind):
    assert retry_delay(kind("no"), 1, 60.0, 0.0, LIMITS) is None


def test_the_bound_doubles_up_to_its_cap():
    limits, error = replace(LIMITS, max_attempts=9), ProviderUnavailable("down")
    waits = [retry_delay(error, attempt, 60.0, 1.0, limits) for attempt in range(1, 7)]
    assert waits == [0.5, 1.0, 2.0, 4.0, 8.0, 8.0]


def test_a_wait_that_is_asked_for_is_kept_in_full():
    error = ProviderUnavailable("later", retry_after_s=2.0)
    assert retry_delay(error, 1, 60.0, 0.0, LIMITS) == 2.0


def test_a_wait_beyond_the_deadline_is_not_begun():
    error = ProviderUnavailable("later", retry_after_s=30.0)
    assert retry_delay(error, 1, 20.0, 0.0, LIMITS) is None


def test_a_call_whose_reply_had_begun_is_not_tried_again():
    assert retry_delay(ProviderUnavailable("cut", begun=True), 1, 60.0, 0.0, LIMITS) is None


def test_there_is_an_end_to_trying():
    error = ProviderUnavailable("down")
    assert retry_delay(error, 3, 60.0, 0.5, LIMITS) is not None
    assert retry_delay(error, 4, 60.0, 0.5, LIMITS) is None


def test_a_server_that_loads_its_model_is_asked_again_until_the_deadline():
    loading = ProviderUnavailable("loading", status=503, code=LOADING_CODE)
    for attempt in (1, LIMITS.max_attempts, 100):
        assert retry_delay(loading, attempt, 60.0, 0.0, LIMITS) == LOADING_PAUSE_S
    least_s = LOADING_PAUSE_S + LIMITS.least_time_s
    assert retry_delay(loading, 1, least_s, 0.0, LIMITS) == LOADING_PAUSE_S
    assert retry_delay(loading, 1, least_s - 0.01, 0.0, LIMITS) is None


@given(
    attempt=st.integers(1, 10),
    left_s=st.floats(0.0, 100.0),
    jitter=st.floats(0.0, 1.0),
    asked=st.none() | st.floats(0.0, 1e6),
)
def test_a_delay_is_within_its_bounds_and_leaves_time_for_the_try(attempt, left_s, jitter, asked):
    error = ProviderUnavailable("down", retry_after_s=asked)
    delay = retry_delay(error, attempt, left_s, jitter, LIMITS)
    if delay is not None:
        assert asked is None or delay >= asked
        assert delay <= (asked or 0.0) + LIMITS.cap_s
        assert delay + LIMITS.least_time_s <= left_s


# --- the circuit breaker --------------------------------------------------------------------------


BREAKER = BreakerLimits(failures=3, pause_s=10.0, outage_pause_s=20.0, longest_pause_s=60.0)
DOWN = ProviderUnavailable("down")


def failed(breaker, now, error=DOWN):
    return after_failure(breaker, error, now, BREAKER)


def opened(now=0.0):
    breaker = Breaker()
    for _ in range(BREAKER.failures):
        breaker = failed(breaker, now)
    return breaker


def admits(breaker, now):
    return not paused_s(breaker, now)


def test_failures_in_a_row_open_it_for_a_while():
    breaker = opened()
    assert not admits(breaker, 9.9)
    assert admits(breaker, 10.0)


def test_after_the_pause_one_call_probes_and_the_others_wait():
    probing = with_probe(opened(), 10.0)
    assert not admits(probing, 10.0)


def test_a_probe_that_hangs_lets_another_one_go():
    probing = with_probe(opened(), 10.0)
    assert paused_s(probing, 10.0 + PROBE_S - 1.0) == 1.0
    assert admits(probing, 10.0 + PROBE_S)


@pytest.mark.parametrize(
    ("error", "pauses"),
    [(DOWN, [10.0, 20.0, 20.0]), (QuotaExhausted("used up"), [10.0, 20.0, 40.0, 60.0, 60.0])],
)
def test_a_failed_probe_opens_it_for_twice_as_long_up_to_the_limit(error, pauses):
    breaker, now, seen = opened(), 0.0, []
    for _ in pauses:
        seen.append(breaker.open_until - now)
        now = breaker.open_until
        breaker = failed(with_probe(breaker, now), now, error)
    assert seen == pauses


def test_a_probe_that_was_given_up_lets_another_one_go():
    assert admits(with_probe(with_probe(opened(), 10.0), None), 10.0)


def test_what_cannot_mend_itself_opens_it_at_once():
    for error in (ProviderMisconfigured("no such key"), QuotaExhausted("used up")):
        assert not admits(failed(Breaker(), 0.0, error), 1.0)


def test_a_time_the_provider_names_is_kept_up_to_the_longest_pause():
    assert failed(Breaker(), 0.0, QuotaExhausted("", retry_after_s=30.0)).open_until == 30.0
    assert failed(Breaker(), 0.0, QuotaExhausted("", retry_after_s=1e9)).open_until == 60.0


def overdue(times, starting):
    breaker = Breaker()
    for _ in range(times):
        breaker = after_failure(breaker, DeadlineExceeded("late"), 0.0, BREAKER, starting)
    return breaker


def test_overdue_calls_of_an_endpoint_that_is_starting_count_a_third():
    assert not overdue(BREAKER.failures, starting=False).closed
    assert overdue(SLOW_STARTS * BREAKER.failures - 1, starting=True).closed
    assert not overdue(SLOW_STARTS * BREAKER.failures, starting=True).closed


def test_an_endpoint_that_is_starting_and_refuses_connections_counts_in_full():
    breaker = Breaker()
    for _ in range(BREAKER.failures):
        breaker = after_failure(breaker, DOWN, 0.0, BREAKER, starting=True)
    assert not breaker.closed


def test_a_server_that_loads_its_model_has_not_failed():
    loading = ProviderUnavailable("loading", status=503, code=LOADING_CODE)
    assert not judges_endpoint(loading)
    assert judges_endpoint(ProviderUnavailable("busy", status=503))


class AnyOrder(RuleBasedStateMachine):
    """Calls that start, fail, succeed and are given up, as time goes by."""

    def __init__(self):
        super().__init__()
        self.breaker = Breaker()
        self.now = 0.0
        self.probes = 0

    @rule(seconds=st.floats(0.0, 100.0))
    def wait(self, seconds):
        self.now += seconds

    @rule(end=st.sampled_from(["fails", "succeeds", "is given up"]))
    def call(self, end):
        if not admits(self.breaker, self.now):
            return
        breaker = with_probe(self.breaker, self.now)
        if end == "fails":
            self.breaker = failed(breaker, self.now)
        elif end == "succeeds":
            self.breaker = Breaker()
        else:
            self.breaker = with_probe(breaker, None)

    @invariant()
    def it_is_never_open_longer_than_the_longest_pause(self):
        until = self.breaker.open_until
        # No difference: 60.00000000000003 s were measured of (196.47 + 60) - 196.47.
        assert until is None or until <= self.now + BREAKER.longest_pause_s

    @invariant()
    def it_never_stays_shut_for_ever(self):
        assert admits(self.breaker, self.now + BREAKER.longest_pause_s)


AnyOrder.TestCase.settings = settings(stateful_step_count=30)
TestAnyOrder = AnyOrder.TestCase


def test_an_endpoint_that_is_down_for_a_year_pauses_no_longer_than_the_limit():
    breaker = Breaker(BREAKER.failures, 0.0, pauses=10_000, probed_at=0.0)
    assert failed(breaker, 0.0).open_until == BREAKER.outage_pause_s

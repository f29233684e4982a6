"""When a failed call is tried again, and when the endpoint wants that."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.errors import (
    Busy,
    CircuitOpen,
    ContextOverflow,
    DeadlineExceeded,
    EndpointSilent,
    ProviderMisconfigured,
    ProviderRejected,
    ProviderUnavailable,
    QuotaExhausted,
)
from evennia_ai.policy.limits.retry import (
    LOADING_CODE,
    LOADING_PAUSE_S,
    LONGEST_WAIT_S,
    RetryLimits,
    asked_wait_s,
    parse_retry_after,
    retry_delay,
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
        Busy, CircuitOpen, ContextOverflow, DeadlineExceeded, EndpointSilent, ProviderMisconfigured,
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

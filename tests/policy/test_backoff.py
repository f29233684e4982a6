"""When a failed call is tried again."""

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
    RetryLimits,
    backoff_bound,
    retry_delay,
)

LIMITS = RetryLimits()


@pytest.mark.parametrize(
    "kind",
    [
        Busy,
        CircuitOpen,
        ContextOverflow,
        DeadlineExceeded,
        EndpointSilent,
        ProviderMisconfigured,
        ProviderRejected,
        QuotaExhausted,
    ],
)
def test_what_another_try_cannot_help_is_not_tried_again(kind):
    assert retry_delay(kind("no"), 1, 60.0, 0.0, LIMITS) is None


def test_the_bound_doubles_up_to_its_cap():
    assert [backoff_bound(attempt, LIMITS) for attempt in range(1, 7)] == [
        0.5,
        1.0,
        2.0,
        4.0,
        8.0,
        8.0,
    ]


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

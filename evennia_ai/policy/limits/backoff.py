"""Whether and when to retry a failed model call.

Full jitter: the wait is drawn evenly between 0 and an exponential bound, so that callers who failed
together do not retry together (M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog,
2015).
"""

from __future__ import annotations

from dataclasses import dataclass

from evennia_ai.errors import (
    Busy,
    CircuitOpen,
    DeadlineExceeded,
    ProviderError,
    ProviderUnavailable,
)
from evennia_ai.policy.limits.retry import LOADING_CODE

LOADING_PAUSE_S = 1.0
FINAL = (Busy, CircuitOpen, DeadlineExceeded)


@dataclass(frozen=True)
class RetryLimits:
    """The number of attempts, and the waits between them in seconds."""

    max_attempts: int = 4
    base_s: float = 0.5
    cap_s: float = 8.0
    least_time_s: float = 0.5  # the time that an attempt needs before the deadline


def backoff_bound(attempt: int, limits: RetryLimits) -> float:
    """Return the longest wait after the ``attempt``-th attempt (from 1), in seconds."""
    return min(limits.cap_s, limits.base_s * 2.0 ** (attempt - 1))


def retry_delay(
    error: ProviderError, attempt: int, left_s: float, jitter: float, limits: RetryLimits
) -> float | None:
    """Return the seconds until the next attempt, None if there is none.

    ``attempt`` counts the attempts so far; ``jitter`` is drawn evenly from 0 to 1. A wait that the
    error requests is kept in full; a wait that would exceed the deadline is not begun. A call whose
    streamed reply had begun is not retried, because words may have been spoken. A server that is
    loading its model gets any number of attempts.
    """
    if error.code == LOADING_CODE:
        delay = LOADING_PAUSE_S + jitter * limits.base_s
        return delay if delay + limits.least_time_s <= left_s else None
    is_transient = isinstance(error, ProviderUnavailable) and not isinstance(error, FINAL)
    if attempt >= limits.max_attempts or not is_transient or error.begun:
        return None
    if error.retry_after_s is None:
        delay = jitter * backoff_bound(attempt, limits)
    else:
        delay = max(0.0, error.retry_after_s) + jitter * limits.base_s
    return delay if delay + limits.least_time_s <= left_s else None

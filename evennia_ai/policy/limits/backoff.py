"""Whether and when a failed call of a model is tried again.

Full jitter: the wait is drawn evenly between nothing and an exponential bound, so that callers who
failed together do not come back together (M. Brooker, "Exponential Backoff And Jitter", AWS
Architecture Blog, 2015).
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

FINAL = (Busy, CircuitOpen, DeadlineExceeded)


@dataclass(frozen=True)
class RetryLimits:
    """How often a call is tried and how long it waits between, in seconds.

    ``least_time_s`` is what a try needs: with less left before the deadline there is no other.
    """

    max_attempts: int = 4
    base_s: float = 0.5
    cap_s: float = 8.0
    least_time_s: float = 0.5


def is_transient(error: Exception) -> bool:
    """True where the same request may succeed a moment later."""
    return isinstance(error, ProviderUnavailable) and not isinstance(error, FINAL)


def backoff_bound(attempt: int, limits: RetryLimits) -> float:
    """The longest wait after the ``attempt``-th try (from 1), in seconds."""
    return min(limits.cap_s, limits.base_s * 2.0 ** (attempt - 1))


def retry_delay(
    error: ProviderError, attempt: int, left_s: float, jitter: float, limits: RetryLimits
) -> float | None:
    """Seconds until the next try, None where there is none.

    Args:
        error: how the last try failed. A wait it asks for is kept in full, and a little jitter
            put on top of it.
        attempt: how many tries there were.
        left_s: seconds until the deadline.
        jitter: evenly drawn from 0 to 1.
        limits: see `RetryLimits`.

    A wait that would outlast the deadline is not begun: whoever asked is told at once.
    """
    if attempt >= limits.max_attempts or not is_transient(error):
        return None
    if error.retry_after_s is None:
        delay = jitter * backoff_bound(attempt, limits)
    else:
        delay = max(0.0, error.retry_after_s) + jitter * limits.base_s
    return delay if delay + limits.least_time_s <= left_s else None

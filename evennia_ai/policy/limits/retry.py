"""Whether and when to retry a failed model call, or ask another model; what its response says.

Equal jitter: the wait is drawn evenly between half of an exponential bound and the bound, so that
callers who failed together do not retry together, and none asks four times within a second
(M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from evennia_ai.errors import (
    Busy,
    CircuitOpen,
    DeadlineExceeded,
    EndpointSilent,
    ProviderError,
    ProviderMisconfigured,
    ProviderUnavailable,
    QuotaExhausted,
)

LONGEST_WAIT_S = 7 * 24 * 3_600.0
LOADING_CODE = "model_loading"
SECONDS = re.compile(r"([0-9]{1,15}(?:\.[0-9]*)?) ?s?(?: ?,.*)?")  # some servers send it twice
# "Please retry in 2s", "Try again in 1m30s", and Google's ``retryDelay`` on a line of its own
SPAN = r"(?:\d{1,9}(?:\.\d{1,9})? ?(?:ms|milli|[hms])[a-z]{0,8} ?){1,4}"
TOLD_WAIT = re.compile(
    rf"\b(?:retry|try again)(?: in| after):? ({SPAN})|^({SPAN})$", re.IGNORECASE | re.MULTILINE
)
UNIT = re.compile(r"(?<![\d.])(\d++(?:\.\d++)?) ?(ms|milli|[hms])", re.IGNORECASE)
UNITS_S = {"ms": 0.001, "milli": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0}

LOADING_PAUSE_S = 1.0
FINAL = (Busy, CircuitOpen, DeadlineExceeded, EndpointSilent)


def parse_retry_after(value: str, now: datetime) -> float | None:
    """Return the seconds of a ``Retry-After`` header (RFC 9110, 10.2.3), None if unusable."""
    text = value.strip()
    if seconds := SECONDS.fullmatch(text):
        return min(float(seconds[1]), LONGEST_WAIT_S)
    date = read_date(text)
    return None if date is None else min(max((date - now).total_seconds(), 0.0), LONGEST_WAIT_S)


def asked_wait_s(headers: Mapping[str, str], now: datetime, words: str = "") -> float | None:
    """Return the seconds that a response asks to wait, by its headers or in words, or None.

    Header names are in lower case.
    """
    if milliseconds := SECONDS.fullmatch(headers.get("retry-after-ms", "").strip()):
        return min(float(milliseconds[1]) / 1_000, LONGEST_WAIT_S)
    server_now = read_date(headers.get("date", ""))  # by its own clock, which may differ from ours
    asked_s = parse_retry_after(headers.get("retry-after", ""), server_now or now)
    told = TOLD_WAIT.search(words) if asked_s is None else None
    if told is None:
        return asked_s
    parts = UNIT.findall(told[1] or told[2])
    return min(sum(float(n) * UNITS_S[unit.lower()] for n, unit in parts), LONGEST_WAIT_S)


def read_date(text: str) -> datetime | None:
    """Return the time in an HTTP date, None if it is none."""
    try:
        date = parsedate_to_datetime(text)
    except (TypeError, ValueError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


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
    is_transient = isinstance(error, ProviderUnavailable) and not isinstance(error, FINAL)
    if error.code == LOADING_CODE:
        delay = LOADING_PAUSE_S + jitter * limits.base_s
    elif attempt >= limits.max_attempts or not is_transient or error.begun:
        return None
    elif error.retry_after_s is None:
        delay = (1 + jitter) / 2 * backoff_bound(attempt, limits)
    else:
        delay = max(0.0, error.retry_after_s) + jitter * limits.base_s
    return delay if delay + limits.least_time_s <= left_s else None


def may_fall_back(error: ProviderError) -> bool:
    """Return True if another model may answer the call that failed with this error.

    Not if its streamed reply had begun, since words may have been spoken.
    """
    if error.begun or isinstance(error, Busy | DeadlineExceeded):
        return False
    return isinstance(error, ProviderUnavailable | ProviderMisconfigured | QuotaExhausted)

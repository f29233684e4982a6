"""What follows a failed model call: a retry, another model, a pause for all calls.

Equal jitter: the wait is drawn evenly between half of an exponential bound and the bound, so that
callers who failed together do not retry together, and none asks four times within a second
(M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from evennia_ai import errors

LONGEST_WAIT_S = 7 * 24 * 3_600.0
LOADING_CODE = "model_loading"
SECONDS = re.compile(r"([0-9]{1,15}(?:\.[0-9]*)?) ?s?(?: ?,.*)?")  # some servers send it twice
# "Please retry in 2s", "Try again in 1m30s", and Google's ``retryDelay`` on a line of its own
SPAN = r"(?:\d{1,9}(?:\.\d{1,9})? ?(?:ms|milli|[hms])[a-z]{0,8} ?){1,4}"
TOLD_WAIT = re.compile(
    rf"\b(?:retry|try again)(?: in| after):? ({SPAN})|(?:^|retryDelay\W{{3,6}})({SPAN})(?:$|\")",
    re.IGNORECASE | re.MULTILINE,
)
UNIT = re.compile(r"(?<![\d.])(\d++(?:\.\d++)?) ?(ms|milli|[hms])", re.IGNORECASE)
UNITS_S = {"ms": 0.001, "milli": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0}

LOADING_PAUSE_S = 1.0
FINAL = (errors.Busy, errors.CircuitOpen, errors.DeadlineExceeded)
# What may be the endpoint's fault, not the request's.
FAULTS = (errors.ProviderUnavailable, errors.ProviderMisconfigured, errors.QuotaExhausted)


def parse_retry_after(value: str, now: datetime) -> float | None:
    """Return the seconds of a ``Retry-After`` header (RFC 9110, 10.2.3), None if unusable."""
    text = value.strip()
    if seconds := SECONDS.fullmatch(text):
        return min(float(seconds[1]), LONGEST_WAIT_S)
    date = read_date(text)
    return None if date is None else min(max((date - now).total_seconds(), 0.0), LONGEST_WAIT_S)


def asked_wait_s(headers: Mapping[str, str], now: datetime, words: str = "") -> float | None:
    """Return the seconds that a response asks to wait, by lower-case headers or in words."""
    if milliseconds := SECONDS.fullmatch(headers.get("retry-after-ms", "").strip()):
        return min(float(milliseconds[1]) / 1_000, LONGEST_WAIT_S)
    server_now = read_date(headers.get("date", ""))  # by its own clock, which may differ from ours
    asked_s = parse_retry_after(headers.get("retry-after", ""), server_now or now)
    match = TOLD_WAIT.search(words) if asked_s is None else None
    if match is None:
        return asked_s
    parts = UNIT.findall(match[1] or match[2])
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


def retry_delay(
    error: errors.ProviderError, attempt: int, left_s: float, jitter: float, limits: RetryLimits
) -> float | None:
    """Return the seconds until the next attempt, None if there is none.

    ``attempt`` counts the attempts so far; ``jitter`` is drawn evenly from 0 to 1. A wait that the
    error requests is kept in full; a wait that would exceed the deadline is not begun. A call whose
    streamed reply had begun is not retried, because words may have been spoken. A server that is
    loading its model gets any number of attempts.
    """
    is_transient = isinstance(error, errors.ProviderUnavailable) and not isinstance(error, FINAL)
    if error.code == LOADING_CODE:
        delay = LOADING_PAUSE_S + jitter * limits.base_s
    elif attempt >= limits.max_attempts or not is_transient or error.begun:
        return None
    elif error.retry_after_s is None:
        delay = (1 + jitter) / 2 * min(limits.cap_s, limits.base_s * 2.0 ** (attempt - 1))
    else:
        delay = max(0.0, error.retry_after_s) + jitter * limits.base_s
    return delay if delay + limits.least_time_s <= left_s else None


def may_fall_back(error: errors.ProviderError) -> bool:
    """Return True if another model may answer; not if words may have been spoken already."""
    ends_it = error.begun or isinstance(error, errors.Busy | errors.DeadlineExceeded)
    return isinstance(error, FAULTS) and not ends_it


# The circuit breaker pauses calls to a failing endpoint, then tries one: closed, open, half-open, a
# value with pure transitions (M. Nygard, "Release It!", 2007).

BEYOND_ANY_PAUSE_S = 3_600.0
PROBE_S = 10.0  # then another probe may go out, since the first may hang
SLOW_STARTS = 3  # overdue calls of an endpoint that is starting count a third


@dataclass(frozen=True)
class BreakerLimits:
    """When the breaker opens, and for how long."""

    failures: int = 5  # in a row
    pause_s: float = 5.0  # it doubles with each failed probe, up to one of these:
    outage_pause_s: float = 10.0  # the endpoint may be back at any moment
    longest_pause_s: float = 120.0  # after a lasting error, or as the endpoint asks


@dataclass(frozen=True)
class Breaker:
    """The state for one endpoint and model; after any answer it is a new one."""

    failures: int = 0  # in a row
    open_until: float | None = None  # on the clock, in seconds; None while closed
    pauses: int = 0  # in a row
    probed_at: float | None = None  # when the probe call that runs began
    error: str = ""  # the last failure in words

    @property
    def closed(self) -> bool:
        """True while calls are allowed."""
        return self.open_until is None


def paused_s(breaker: Breaker, now: float) -> float:
    """Return the seconds until a call may start: 0 while closed, else until the next probe."""
    probed_at = breaker.probed_at
    ends = (breaker.open_until, None if probed_at is None else probed_at + PROBE_S)
    # A pause of more than an hour means that the clock was set back; then a probe is also admitted.
    left = (end - now for end in ends if end is not None)
    return max((left_s for left_s in left if 0 < left_s <= BEYOND_ANY_PAUSE_S), default=0.0)


def with_probe(breaker: Breaker, now: float | None) -> Breaker:
    """Return the breaker as an admitted call starts; None after one that proved nothing."""
    return breaker if breaker.closed else replace(breaker, probed_at=now)


def after_failure(
    breaker: Breaker,
    error: errors.ProviderError,
    now: float,
    limits: BreakerLimits,
    starting: bool = False,
) -> Breaker:
    # A lasting error (wrong key, exhausted quota) opens it at once; long retry times are capped.
    # While a local endpoint is ``starting`` (it has not answered yet), an overdue call counts less:
    # the server may be loading the model, or reading its first prompt.
    failures = breaker.failures + 1
    if starting and isinstance(error, errors.DeadlineExceeded) and breaker.closed:
        limits = replace(limits, failures=SLOW_STARTS * limits.failures)
    lasting = isinstance(error, errors.ProviderMisconfigured | errors.QuotaExhausted)
    was_probe = not breaker.closed
    if failures < limits.failures and not lasting and not was_probe:
        return replace(breaker, failures=failures, error=str(error))
    most = limits.longest_pause_s if lasting else limits.outage_pause_s
    pause = min(most, limits.pause_s * 2.0 ** min(breaker.pauses, 30))
    pause = min(limits.longest_pause_s, max(pause, error.retry_after_s or 0.0))
    return Breaker(failures, now + pause, breaker.pauses + 1, None, str(error))


def judges_endpoint(error: errors.ProviderError) -> bool:
    """Return True if an error is the endpoint's fault, not this request's."""
    is_ours = isinstance(error, errors.Busy | errors.CircuitOpen) or error.code == LOADING_CODE
    return isinstance(error, FAULTS) and not is_ours


@dataclass(frozen=True)
class GatewayLimits:
    """What the gateway allows, and the ``currency`` of prices."""

    max_in_flight: int = 64
    max_queued: int = 256
    currency: str = "USD"
    retry: RetryLimits = field(default_factory=RetryLimits)
    breaker: BreakerLimits = field(default_factory=BreakerLimits)


DEFAULTS = GatewayLimits()

"""A circuit breaker: it pauses calls to a failing endpoint, then tries one.

Closed, open and half-open, as in M. Nygard, "Release It!" (2007), as a value with pure transitions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from evennia_ai.errors import (
    Busy,
    CircuitOpen,
    DeadlineExceeded,
    ProviderError,
    ProviderMisconfigured,
    ProviderUnavailable,
    QuotaExhausted,
)
from evennia_ai.policy.limits.retry import LOADING_CODE

BEYOND_ANY_PAUSE_S = 3_600.0
SLOW_STARTS = 3  # overdue calls of an endpoint that is starting count a third


@dataclass(frozen=True)
class BreakerLimits:
    """When the breaker opens, and for how long."""

    failures: int = 5  # in a row
    pause_s: float = 5.0
    longest_pause_s: float = 120.0  # the pause doubles with each failed probe up to this


@dataclass(frozen=True)
class Breaker:
    """The state for one endpoint and model."""

    failures: int = 0  # in a row
    open_until: float | None = None  # on the clock, in seconds; None while closed
    pauses: int = 0  # in a row
    probing: bool = False  # while the probe call runs
    error: str = ""  # the last failure in words

    @property
    def closed(self) -> bool:
        """True while calls are allowed."""
        return self.open_until is None


def admits(breaker: Breaker, now: float) -> bool:
    """Return True if a call may start: any while closed, else a single probe after the pause."""
    # A pause of more than an hour means that the clock was set back; then a probe is also admitted.
    if breaker.open_until is None:
        return True
    return not breaker.probing and not 0 < breaker.open_until - now <= BEYOND_ANY_PAUSE_S


def after_start(breaker: Breaker) -> Breaker:
    """Return the breaker after an admitted call started."""
    return breaker if breaker.closed else replace(breaker, probing=True)


def after_abandoned(breaker: Breaker) -> Breaker:
    """Return the breaker after a caller cancelled its call, which proves nothing."""
    return replace(breaker, probing=False)


def after_success(breaker: Breaker) -> Breaker:
    """Return the breaker after any answer, even an error about the one request."""
    return Breaker()


def after_failure(
    breaker: Breaker,
    error: ProviderError,
    now: float,
    limits: BreakerLimits,
    starting: bool = False,
) -> Breaker:
    """Return the breaker after the endpoint failed."""
    # A lasting error (wrong key, exhausted quota) opens it at once; long retry times are capped.
    # While a local endpoint is ``starting`` (it has not answered yet), an overdue call counts less:
    # the server may be loading the model, or reading its first prompt.
    failures = breaker.failures + 1
    if starting and isinstance(error, DeadlineExceeded) and breaker.closed:
        limits = replace(limits, failures=SLOW_STARTS * limits.failures)
    lasting = isinstance(error, ProviderMisconfigured | QuotaExhausted)
    was_probe = not breaker.closed
    if failures < limits.failures and not lasting and not was_probe:
        return replace(breaker, failures=failures, probing=False, error=str(error))
    pause = limits.pause_s * 2.0 ** min(breaker.pauses, 30)
    pause = min(limits.longest_pause_s, max(pause, error.retry_after_s or 0.0))
    return Breaker(failures, now + pause, breaker.pauses + 1, False, str(error))


def judges_endpoint(error: ProviderError) -> bool:
    """Return True if an error is the endpoint's fault, not this request's."""
    if isinstance(error, Busy | CircuitOpen) or error.code == LOADING_CODE:
        return False
    return isinstance(error, ProviderUnavailable | ProviderMisconfigured | QuotaExhausted)

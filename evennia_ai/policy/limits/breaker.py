"""A circuit breaker: an endpoint that keeps failing is left alone, then probed by one call.

Closed, open, half-open, as in M. Nygard, "Release It!" (2007), as a value and pure transitions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from evennia_ai.errors import (
    Busy,
    CircuitOpen,
    ProviderError,
    ProviderMisconfigured,
    ProviderUnavailable,
    QuotaExhausted,
)

BEYOND_ANY_PAUSE_S = 3_600.0


@dataclass(frozen=True)
class BreakerLimits:
    """``failures`` in a row open it for ``pause_s`` seconds, twice as long each time a probe fails,
    up to ``longest_pause_s``."""

    failures: int = 5
    pause_s: float = 5.0
    longest_pause_s: float = 120.0


@dataclass(frozen=True)
class Breaker:
    """What is known of one endpoint and model.

    ``failures`` count those in a row; ``open_until`` is the clock's second until which it is left
    alone, None while it is closed; ``pauses`` how often in a row it was opened; ``probing`` True
    while the one call is under way that decides; ``error`` the last failure, in words.
    """

    failures: int = 0
    open_until: float | None = None
    pauses: int = 0
    probing: bool = False
    error: str = ""

    @property
    def closed(self) -> bool:
        """True while calls go through."""
        return self.open_until is None


def admits(breaker: Breaker, now: float) -> bool:
    """True where a call may start: while it is closed, and one probe when the pause is over, or
    when so much of it is left that the clock must have been set back."""
    if breaker.open_until is None:
        return True
    return not breaker.probing and not 0 < breaker.open_until - now <= BEYOND_ANY_PAUSE_S


def after_start(breaker: Breaker) -> Breaker:
    """A call that `admits` let through has started."""
    return breaker if breaker.closed else replace(breaker, probing=True)


def after_abandoned(breaker: Breaker) -> Breaker:
    """A call ended without telling anything about the endpoint: it was cancelled by its caller."""
    return replace(breaker, probing=False)


def after_success(breaker: Breaker) -> Breaker:
    """The endpoint answered, be it with an error about this one request."""
    return Breaker()


def after_failure(
    breaker: Breaker, error: ProviderError, now: float, limits: BreakerLimits
) -> Breaker:
    """The endpoint failed.

    What cannot get better by itself (a wrong key, a used-up account) opens it at once; what the
    provider says about when to come back is kept, up to the longest pause.
    """
    failures = breaker.failures + 1
    lasting = isinstance(error, ProviderMisconfigured | QuotaExhausted)
    was_probe = not breaker.closed
    if failures < limits.failures and not lasting and not was_probe:
        return replace(breaker, failures=failures, probing=False, error=str(error))
    pause = limits.pause_s * 2.0 ** min(breaker.pauses, 30)
    pause = min(limits.longest_pause_s, max(pause, error.retry_after_s or 0.0))
    return Breaker(failures, now + pause, breaker.pauses + 1, False, str(error))


def judges_endpoint(error: ProviderError) -> bool:
    """True where an error tells that the endpoint, and not this request, is at fault."""
    if isinstance(error, Busy | CircuitOpen):
        return False
    return isinstance(error, ProviderUnavailable | ProviderMisconfigured | QuotaExhausted)

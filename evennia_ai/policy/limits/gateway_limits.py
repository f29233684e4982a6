"""What all calls to models together may use."""

from __future__ import annotations

from dataclasses import dataclass, field

from evennia_ai.policy.limits.breaker import BreakerLimits
from evennia_ai.policy.limits.retry import RetryLimits


@dataclass(frozen=True)
class GatewayLimits:
    """What the gateway allows.

    Budgets are in tokens, or in micros of ``currency``, for one UTC day; None disables one.
    ``waived`` are the kinds of accounts whose budgets in tokens do not count free models.
    """

    max_in_flight: int = 64
    max_queued: int = 256
    player_tokens_per_day: int | None = None
    game_tokens_per_day: int | None = None
    player_money_per_day: int | None = None
    game_money_per_day: int | None = None
    currency: str = "USD"
    waived: frozenset[str] = frozenset()
    retry: RetryLimits = field(default_factory=RetryLimits)
    breaker: BreakerLimits = field(default_factory=BreakerLimits)


DEFAULTS = GatewayLimits()

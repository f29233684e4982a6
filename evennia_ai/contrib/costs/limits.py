"""The budgets that a game sets, and those of one assistant."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from evennia_ai.config import ModelProfile, setting
from evennia_ai.config.declared import Bounds, tokens
from evennia_ai.contrib.costs.budgets import GAME, OWNER, PLAYER
from evennia_ai.extension import EntryReader
from evennia_ai.game.settings import game_settings
from evennia_ai.policy.limits.money import FREE, MOST_MONEY, to_micros

# Tokens a day; docs/admins-guide.md says what that makes in turns and in money.
PLAYER_TOKENS = 1_000_000
GAME_TOKENS = 3_000_000
# The budgets in tokens that have a default, which free models need not keep to.
PAID_BY = {"PLAYER_TOKENS_PER_DAY": (PLAYER, OWNER), "GAME_TOKENS_PER_DAY": (GAME,)}


@dataclass(frozen=True)
class CostSettings:
    """The budgets of one assistant."""

    tokens_per_day: int | None = setting(
        None, "Token budget for one UTC day. None sets no limit; 0 allows no call.", tokens(0)
    )
    money_per_day: float | None = setting(
        None,
        "Budget for one UTC day in the game's CURRENCY; the model profile needs prices. None sets "
        "no limit.",
        Bounds(0.0, MOST_MONEY),
    )

    def complaints(self, profile: ModelProfile) -> Iterable[str]:
        """Yield why a budget in money limits nothing."""
        if self.money_per_day is not None and profile.price in (None, FREE):
            why = f"the calls of the profile '{profile.name}' have no price"
            yield f"money_per_day limits nothing: {why}. Set its prices, or use tokens_per_day."


@dataclass(frozen=True)
class CostLimits:
    """The budgets of the whole game, in tokens or in micros of ``currency``; None disables one.

    ``waived`` are the kinds of accounts whose budgets in tokens do not count free models.
    """

    player_tokens_per_day: int | None = None
    game_tokens_per_day: int | None = None
    player_money_per_day: int | None = None
    game_money_per_day: int | None = None
    currency: str = "USD"
    waived: frozenset[str] = frozenset()


def read_limits(settings: EntryReader, currency: str) -> CostLimits:
    return CostLimits(
        player_tokens_per_day=settings.read(
            "PLAYER_TOKENS_PER_DAY",
            read_budget,
            unless_none("PLAYER_TOKENS_PER_DAY", PLAYER_TOKENS),
        ),
        game_tokens_per_day=settings.read(
            "GAME_TOKENS_PER_DAY", read_budget, unless_none("GAME_TOKENS_PER_DAY", GAME_TOKENS)
        ),
        player_money_per_day=settings.read("PLAYER_MONEY_PER_DAY", read_money, None),
        game_money_per_day=settings.read("GAME_MONEY_PER_DAY", read_money, None),
        currency=currency,
        waived=frozenset(
            kind for name, kinds in PAID_BY.items() if name not in game_settings() for kind in kinds
        ),
    )


def unless_none(name: str, default: int) -> int | None:
    """Return the default of a budget; unlike elsewhere, None is no limit and not the default."""
    return None if game_settings().get(name, default) is None else default


def read_money(value: Any) -> int | None:
    """Return a budget of money in micros, None for no limit; raises ConfigError."""
    return None if value is None else to_micros(value)


def read_budget(value: Any) -> int | None:
    """Return a budget in tokens, None for no limit; raises ValueError below 0."""
    if value is None:
        return None
    if int(value) < 0:
        raise ValueError(f"it must be 0 or more, not {value!r}.")
    return int(value)

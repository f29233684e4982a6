"""The costs of a period as ``aicost`` shows them, and what another model profile would cost."""

from __future__ import annotations

import re
from calendar import monthrange
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, NamedTuple

from evennia_ai.commands.choosing import told_apart
from evennia_ai.commands.columns import table
from evennia_ai.commands.common import UsageError, all_assistants
from evennia_ai.config import ModelProfile
from evennia_ai.game.client_text import clean_output
from evennia_ai.game.script_ports import GameScript
from evennia_ai.policy.limits.budgets import PLAYER
from evennia_ai.policy.limits.prices import money_words, to_micros
from evennia_ai.store.names import names_of
from evennia_ai.store.usage import CHARACTER, Use, total_of, uses_by

MOST_DAYS = 31  # more would hold the server with 1,000 assistants
MONTH = re.compile(r"\d{4}-\d\d")
ESTIMATE_DAYS = 7
LARGE = 10_000_000
TODAY, YESTERDAY = "today", "yesterday"
NOBODY = "(no player)"
OLD_PROFILE = "(before the upgrade)"


class Period(NamedTuple):
    """UTC days, the first and the last included."""

    since: date
    until: date

    @property
    def is_one_day(self) -> bool:
        """True if budgets, which are for a day, can be compared with its costs."""
        return self.since == self.until

    def __str__(self) -> str:
        """Return the days as a person reads them."""
        return str(self.until) if self.is_one_day else f"{self.since} to {self.until}"


def read_period(typed: str, today: date) -> Period:
    """Return the days that were typed, by default today; raises UsageError."""
    word = typed.strip().lower() or TODAY
    if word in (TODAY, YESTERDAY):
        day = today - timedelta(days=word == YESTERDAY)
        return Period(day, day)
    if word.isdecimal() and 0 < int(word[:9]) <= MOST_DAYS:
        return Period(today - timedelta(days=int(word) - 1), today)
    try:
        if MONTH.fullmatch(word):
            first = date.fromisoformat(f"{word}-01")
            return Period(first, first.replace(day=monthrange(first.year, first.month)[1]))
        return Period(date.fromisoformat(word), date.fromisoformat(word))
    except ValueError:
        raise UsageError(
            f"'{clean_output(word, 20)}' is no period. Use today, yesterday, a day such as "
            f"{today}, a month such as {today:%Y-%m}, or a number of days up to {MOST_DAYS}."
        ) from None


@dataclass(frozen=True)
class Limits:
    """The budgets of one day in tokens and in micros, None for none."""

    tokens: int | None = None
    money: int | None = None
    waived: bool = False  # free models do not count

    def share(self, use: Use) -> str:
        """Return how much of the fuller budget was used, "-" without a budget."""
        tokens = use.tokens - (use.free_tokens if self.waived else 0)
        pairs = ((tokens, self.tokens), (use.money, self.money))
        shares = [spent / limit for spent, limit in pairs if limit]
        return f"{max(shares):.0%}" if shares else "-"


def limits_of(limits: Any, kind: str) -> Limits:
    """Return the budgets of the game or of each player from `GatewayLimits`."""
    of = "player" if kind == PLAYER else "game"
    tokens, money = (getattr(limits, f"{of}_{unit}_per_day") for unit in ("tokens", "money"))
    return Limits(tokens, money, kind in limits.waived)


@dataclass(frozen=True)
class CostList:
    """Use by name, and the limits of those that have any."""

    title: str
    uses: Sequence[tuple[str, Use]]
    limits: Mapping[str, Limits] = field(default_factory=dict)

    def render(self, start: int, size: int, currency: str) -> str:
        """Return some of its rows as a table."""
        with_share = any(limits.tokens or limits.money for limits in self.limits.values())
        titles = (self.title, "Calls", "In", "Cached", "Out", currency)
        rows = [
            [name, *use_cells(use), *([self.limits.get(name, Limits()).share(use)] * with_share)]
            for name, use in self.uses[start : start + size]
        ]
        return table((*titles, *(["Budget"] * with_share)), rows)


def use_cells(use: Use) -> list[str]:
    """Return a use's cells; its money is "-" if nothing of it had a price."""
    counts = (use.calls, use.prompt_tokens, use.cached_tokens, use.completion_tokens)
    return [*map(shortened, counts), money_words(use.money) if use.money_known else "-"]


def shortened(count: float) -> str:
    """Return a count in full, with a tenth if it has one, or in millions if it takes much room."""
    if count >= LARGE:
        return f"{count / 1_000_000:,.1f}M"
    return f"{count:,.1f}".removesuffix(".0")


def dearest_first(uses: Mapping[str, Use]) -> list[tuple[str, Use]]:
    """Return uses by name, the one that cost most first."""
    return sorted(uses.items(), key=lambda one: (-one[1].money, -one[1].tokens, one[0]))


def by_character(uses: Mapping[int, Use]) -> CostList:
    """Return the costs of each assistant under its character's name."""
    scripts = all_assistants()
    names = {one.id: name for one, name in zip(scripts, told_apart(scripts), strict=True)}
    named = {names.get(id_, f"script {id_}"): use for id_, use in uses.items()}
    limits = {names[script.id]: own_limits(script) for script in scripts}
    return CostList("Character", dearest_first(named), limits)


def own_limits(script: GameScript) -> Limits:
    """Return an assistant's own budgets."""
    money = script.config.money_per_day
    return Limits(script.config.tokens_per_day, None if money is None else to_micros(money))


def by_player(uses: Mapping[str, Use], total: Use, limits: Limits) -> CostList:
    """Return the costs that each player caused, and what nobody caused."""
    names = names_of(uses)
    counts = Counter(names.values())
    for dbref, name in names.items():
        names[dbref] = f"{name}({dbref})" if counts[name] > 1 else name
    found = {names.get(dbref, dbref): use for dbref, use in uses.items()}
    rest = total.less(total_of(uses.values()))
    rows = dearest_first(found) + ([(NOBODY, rest)] if rest.calls or rest.tokens else [])
    return CostList("Player", rows, dict.fromkeys(found, limits))


def switch_estimate(script: GameScript, before: ModelProfile) -> str:
    """Return what the last days cost with the model before, and would have cost with the new.

    Empty if there were no tokens, or if neither model has prices.
    """
    after, today = script.profile, script.services.now().date()
    since = today - timedelta(days=ESTIMATE_DAYS - 1)
    use = total_of(uses_by(since, today, CHARACTER, assistant_id=script.id).values())
    if not use.tokens or (before.name, before.model) == (after.name, after.model):
        return ""
    if before.price is None and after.price is None:
        return ""
    old, new = (priced(use, profile, script.services) for profile in (before, after))
    return (
        f"The last {ESTIMATE_DAYS} days ({use.tokens:,} tokens) cost {old} with "
        f"{label(before)}; with {label(after)} they would have cost {new}."
    )


def priced(use: Use, profile: ModelProfile, services: Any) -> str:
    """Return what a use costs with a profile, in words."""
    if profile.price is None:
        return "an unknown amount (no prices are set)"
    micros = profile.price.cost(use.prompt_tokens, use.completion_tokens, use.cached_tokens)
    return f"about {money_words(micros)} {services.gateway.limits.currency}"


def label(profile: ModelProfile) -> str:
    """Return a profile and its model for a person."""
    return clean_output(f"{profile.name}:{profile.model}", 80)

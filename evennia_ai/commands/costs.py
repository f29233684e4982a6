"""``aicost``: what the models cost, by day, character, player and model profile."""

from __future__ import annotations

import re
from calendar import monthrange
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, NamedTuple

from evennia_ai.commands.common import (
    AICommand,
    UsageError,
    all_assistants,
    page_number,
    table,
    told_apart,
)
from evennia_ai.config import ModelProfile
from evennia_ai.game.client_text import clean_output
from evennia_ai.game.crowd import budget_name
from evennia_ai.policy.disclosure import FIGURES, PLAYER_COSTS
from evennia_ai.policy.limits.money import GAME, PLAYER, money_words, to_micros
from evennia_ai.store import usage
from evennia_ai.store.names import names_of

ROWS_A_PAGE = 20
AT_A_GLANCE = 5
MOST_DAYS = 31  # more would hold the server with 1,000 assistants
MONTH = re.compile(r"\d{4}-\d\d")
ESTIMATE_DAYS = 7
LARGE = 10_000_000
TODAY, YESTERDAY, LAST_FORTNIGHT = "today", "yesterday", "14"
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
        return str(self.until) if self.is_one_day else f"{self.since} to {self.until}"


@dataclass(frozen=True)
class Limits:
    """The budgets of one day in tokens and in micros, None for none."""

    tokens: int | None = None
    money: int | None = None
    waived: bool = False  # free models do not count

    def share(self, use: usage.Use) -> str:
        """Return how much of the fuller budget was used, "-" without a budget."""
        tokens = use.tokens - (use.free_tokens if self.waived else 0)
        pairs = ((tokens, self.tokens), (use.money, self.money))
        shares = [spent / limit for spent, limit in pairs if limit]
        return f"{max(shares):.0%}" if shares else "-"


class CostList(NamedTuple):
    """A table: its titles, and its rows as cells."""

    titles: Sequence[str]
    rows: Sequence[Sequence[str]]

    def render(self, start: int, size: int) -> str:
        return table(self.titles, self.rows[start : start + size])


class CmdAICost(AICommand):
    """
    see what the models cost, and who spent it

    Usage:
      aicost [<period>]
      aicost/days [<period>] [= <page>]
      aicost/characters [<period>] [= <page>]
      aicost/players [<period>] [= <page>]
      aicost/profiles [<period>] [= <page>]

    A period is |wtoday|n (the default), |wyesterday|n, a day such as 2026-11-22, a
    month such as 2026-11, or a number of days up to 31 that ends today. Days are
    in UTC.

    Without a switch: the sum of the period, the budgets of today, and the five
    dearest characters, model profiles and players.

    Switches:
      days       - each day, of the last 14 by default
      characters - each character
      players    - each player whose words started a call. Several who started
                   one together share it, in tenths. What no player started, such
                   as sleep, stands last.
      profiles   - each model profile

    In, Cached and Out are tokens of prompts, those of them that the endpoint took
    from its cache, and tokens of replies. Money is what the calls cost at the
    prices of their time; it is - if the profile had no prices. Local models cost
    nothing. The offline brain is no model: it has no calls and no tokens. Budget
    is the used share of the present budget for one day.

    Builders see no players; admins do.
    """

    key = "aicost"
    reads = FIGURES
    switch_options = ("days", "characters", "players", "profiles")
    period: Period
    uses: usage.Uses  # of the period, by day, or by assistant and profile
    total: usage.Use

    def run(self) -> None:
        if self.switch == "players":
            self.ensure_may_read(PLAYER_COSTS)
        default = LAST_FORTNIGHT if self.switch == "days" else ""
        self.period = read_period(self.lhs or default, self.services.now().date())
        keys = (usage.DAY,) if self.switch == "days" else (usage.CHARACTER, usage.PROFILE)
        self.uses = usage.uses_by(*self.period, *keys)
        self.total = usage.total_of(self.uses.values())
        lines = self.page_lines(getattr(self, self.switch)()) if self.switch else self.glance()
        if tokens := self.total.unpriced_tokens:
            lines.append(
                f"|xWithout a price: {tokens:,} tokens. Set |wprices|x in their profile.|n"
            )
        self.msg("\n".join([self.total_line(), *lines]))

    def glance(self) -> list[str]:
        if self.rhs:
            raise UsageError("Pages need a list, such as |waicost/characters 7 = 2|n.")
        used = [use for use in self.services.gateway.budgets.used() if use.level or use.is_games]
        lines = [clean_output(f"{budget_name(use, self.reader)}: {use}.") for use in used]
        lists = [self.characters(), self.profiles()]
        lists += [self.players()] if self.reader.may(PLAYER_COSTS) else []
        return lines + [f"\n{one.render(0, AT_A_GLANCE)}" for one in lists if one.rows]

    def page_lines(self, costs: CostList) -> list[str]:
        number, pages = page_number(self.rhs), max(1, -(-len(costs.rows) // ROWS_A_PAGE))
        start = (min(number, pages) - 1) * ROWS_A_PAGE
        lines = [costs.render(start, ROWS_A_PAGE)] if costs.rows else []
        if pages > 1:
            typed = f"{self.key}/{self.switch} {clean_output(self.lhs or '', 20)}".strip()
            more = f" More: |w{typed} = {number + 1}|n" if number < pages else ""
            lines.append(f"|xPage {min(number, pages)} of {pages}.|n{more}")
        return lines

    def total_line(self) -> str:
        use, money = self.total, "no price is set"
        if use.money_known:
            money = f"{money_words(use.money)} {clean_output(self.limits.currency)}"
        return (
            f"|w{self.period}|n (UTC): {money}, {use.calls:,} call{'s' * (use.calls != 1)}\n"
            f"Tokens: {use.prompt_tokens:,} in ({use.cached_tokens:,} cached), "
            f"{use.completion_tokens:,} out."
        )

    @property
    def limits(self) -> Any:
        """The `GatewayLimits` of the game, with its budgets and its currency."""
        return self.services.gateway.limits

    def daily_limits(self, kind: str) -> Limits:
        of, limits = "player" if kind == PLAYER else "game", self.limits
        tokens, money = (getattr(limits, f"{of}_{unit}_per_day") for unit in ("tokens", "money"))
        return Limits(tokens, money, kind in limits.waived)

    def days(self) -> CostList:
        by_day = usage.folded(self.uses, 0).items()
        days = [(str(day), use) for day, use in sorted(by_day, reverse=True)]
        return self.listed("Day", days, dict.fromkeys(dict(days), self.daily_limits(GAME)))

    def characters(self) -> CostList:
        """Return the costs of each character, with its own budgets if the period is one day."""
        names, limits = dict[int, str](), dict[str, Limits]()
        scripts = all_assistants()
        for one, name in zip(scripts, told_apart(scripts), strict=True):
            money = one.config.money_per_day
            names[one.id] = name
            own = Limits(one.config.tokens_per_day, None if money is None else to_micros(money))
            limits |= {name: own} if self.period.is_one_day else {}
        uses = usage.folded(self.uses, 0).items()
        named = {names.get(id_, f"script {id_}"): use for id_, use in uses}
        return self.listed("Character", dearest_first(named), limits)

    def profiles(self) -> CostList:
        uses = usage.folded(self.uses, 1).items()
        named = {name or OLD_PROFILE: use for name, use in uses}
        return self.listed("Profile", dearest_first(named), {})

    def players(self) -> CostList:
        """Return the costs of each player, and those that no player caused."""
        uses = usage.uses_of_speakers(*self.period)
        names = names_of(uses)
        counts = Counter(names.values())
        alike = {dbref: f"{name}({dbref})" for dbref, name in names.items() if counts[name] > 1}
        found = {{**names, **alike}.get(dbref, dbref): use for dbref, use in uses.items()}
        rest = self.total.less(usage.total_of(uses.values()))
        rows = dearest_first(found) + ([(NOBODY, rest)] if rest.calls or rest.tokens else [])
        limits = self.daily_limits(PLAYER) if self.period.is_one_day else Limits()
        return self.listed("Player", rows, dict.fromkeys(found, limits))

    def listed(
        self, title: str, uses: Sequence[tuple[str, usage.Use]], limits: Mapping[str, Limits]
    ) -> CostList:
        """Return uses by name as a table, with their budgets if any has one."""
        with_share = any(one.tokens or one.money for one in limits.values())
        titles = [title, "Calls", "In", "Cached", "Out", self.limits.currency]
        rows = [[name, *use_cells(use)] for name, use in uses]
        if with_share:
            titles.append("Budget")
            for row, (name, use) in zip(rows, uses, strict=True):
                row.append(limits.get(name, Limits()).share(use))
        return CostList(titles, rows)


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


def use_cells(use: usage.Use) -> Iterator[str]:
    """Return a use's cells; its money is "-" if nothing of it had a price.

    Counts have a tenth if speakers share a call, and stand in millions if they take much room.
    """
    for count in (use.calls, use.prompt_tokens, use.cached_tokens, use.completion_tokens):
        full = f"{count:,.1f}".removesuffix(".0")
        yield f"{count / 1_000_000:,.1f}M" if count >= LARGE else full
    yield money_words(use.money) if use.money_known else "-"


def dearest_first(uses: Mapping[str, usage.Use]) -> list[tuple[str, usage.Use]]:
    return sorted(uses.items(), key=lambda one: (-one[1].money, -one[1].tokens, one[0]))


def switch_estimate(
    assistant_id: int, today: date, before: ModelProfile, after: ModelProfile, currency: str
) -> str:
    """Return what the last days cost with the model before, and would have cost with the new.

    Empty if there were no tokens, or if neither model has prices.
    """
    since = today - timedelta(days=ESTIMATE_DAYS - 1)
    use = usage.total_of(
        usage.uses_by(since, today, usage.CHARACTER, assistant_id=assistant_id).values()
    )
    if not use.tokens or (before.name, before.model) == (after.name, after.model):
        return ""
    if before.price is None and after.price is None:
        return ""
    cost, name = [], []
    for profile in (before, after):
        name.append(clean_output(f"{profile.name}:{profile.model}", 80))
        if profile.price is None:
            cost.append("an unknown amount (no prices are set)")
            continue
        tokens = (use.prompt_tokens, use.completion_tokens, use.cached_tokens)
        cost.append(f"about {money_words(profile.price.cost(*tokens))} {currency}")
    return (
        f"The last {ESTIMATE_DAYS} days ({use.tokens:,} tokens) cost {cost[0]} with "
        f"{name[0]}; with {name[1]} they would have cost {cost[1]}."
    )

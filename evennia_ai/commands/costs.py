"""``aicost``: what the models cost, by day, character, player and model profile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evennia_ai.commands.common import AICommand, UsageError, page_number
from evennia_ai.commands.cost_rendering import (
    OLD_PROFILE,
    CostList,
    Limits,
    Period,
    by_character,
    by_player,
    dearest_first,
    read_period,
    total_of,
)
from evennia_ai.game.budget_alerts import budget_name
from evennia_ai.game.client_text import clean_output
from evennia_ai.policy.disclosure import FIGURES, PLAYER_COSTS
from evennia_ai.policy.limits.budgets import GAME, PLAYER
from evennia_ai.policy.limits.prices import money_words
from evennia_ai.store.usage import CHARACTER, DAY, PROFILE, Use, uses_by, uses_of_speakers

ROWS_A_PAGE = 20
ROWS_AT_A_GLANCE = 5
DEFAULT_DAYS = "14"


class CmdAICost(AICommand):
    """
    see what the models cost, and who spent it

    Usage:
      aicost [<period>]
      aicost/days [<days>] [= <page>]
      aicost/characters [<period>] [= <page>]
      aicost/players [<period>] [= <page>]
      aicost/profiles [<period>] [= <page>]

    A period is |wtoday|n (the default), |wyesterday|n, a day such as 2026-11-22, or
    a number of days up to 92 that end today. Days are in UTC.

    Without a switch: the sum of the period, the budgets of today, and the five
    dearest characters, model profiles and players.

    Switches:
      days       - each of the last days, 14 by default
      characters - each character
      players    - each player whose words started a call. Several who started
                   one together share it. What no player started, such as sleep,
                   stands last.
      profiles   - each model profile

    In, Cached and Out are tokens of prompts, those of them that the endpoint took
    from its cache, and tokens of replies. Money is what the calls cost at the
    prices of their time; it is - if the profile had no prices. Local models cost
    nothing. The offline brain is no model: it has no calls and no tokens. Budget
    is the used share of the present budget for one day.

    Builders see no players; admins do.
    """

    key = "aicost"
    locks = "cmd:perm(Builder)"
    reads = FIGURES
    switch_options = ("days", "characters", "players", "profiles")

    def do_default(self) -> None:
        period = self.read_period()
        if self.rhs:
            raise UsageError("Pages need a list, such as |waicost/characters 7 = 2|n.")
        lists = [self.characters(period), self.profiles(period)]
        if self.reader.may(PLAYER_COSTS):
            lists.append(self.players(period))
        lines = [self.total_line(period), *self.budget_lines()]
        for costs in lists:
            if costs.uses:
                lines += ["", costs.render(0, ROWS_AT_A_GLANCE, self.currency)]
        self.msg("\n".join([*lines, *self.unpriced_lines(period)]))

    def do_days(self) -> None:
        if not (self.lhs or DEFAULT_DAYS).strip().isdecimal():
            raise UsageError("How many days? |waicost/days 30|n lists the last 30.")
        period = self.read_period(DEFAULT_DAYS)
        uses = uses_by(DAY, period.since, period.until)
        newest = sorted(uses.items(), reverse=True)
        days = [(str(day), use) for day, use in newest]
        limits = dict.fromkeys((day for day, _use in days), self.limits(GAME))
        self.show_list(period, CostList("Day", days, limits))

    def do_characters(self) -> None:
        period = self.read_period()
        self.show_list(period, self.characters(period))

    def do_players(self) -> None:
        self.ensure_may_read(PLAYER_COSTS)
        period = self.read_period()
        self.show_list(period, self.players(period))

    def do_profiles(self) -> None:
        period = self.read_period()
        self.show_list(period, self.profiles(period))

    @property
    def currency(self) -> str:
        """The currency of the game."""
        return str(self.services.gateway.limits.currency)

    def read_period(self, default: str = "") -> Period:
        """Return the period that was typed; raises UsageError."""
        return read_period(self.lhs or default, self.services.now().date())

    def characters(self, period: Period) -> CostList:
        """Return the costs of each character."""
        uses = uses_by(CHARACTER, period.since, period.until)
        costs = by_character(uses)
        return costs if period.is_one_day else CostList(costs.title, costs.uses, {})

    def profiles(self, period: Period) -> CostList:
        """Return the costs of each model profile, which has no budget."""
        uses = uses_by(PROFILE, period.since, period.until)
        named = {name or OLD_PROFILE: use for name, use in uses.items()}
        return CostList("Profile", dearest_first(named), {})

    def players(self, period: Period) -> CostList:
        """Return the costs of each player, and those that no player caused."""
        total = self.total(period)
        limits = self.limits(PLAYER) if period.is_one_day else Limits()
        return by_player(uses_of_speakers(period.since, period.until), total, limits)

    def limits(self, kind: str) -> Limits:
        """Return the budgets of the game or of each player."""
        limits: Any = self.services.gateway.limits
        tokens, money = limits.game_tokens_per_day, limits.game_money_per_day
        if kind == PLAYER:
            tokens, money = limits.player_tokens_per_day, limits.player_money_per_day
        return Limits(tokens, money, kind in limits.waived)

    def total(self, period: Period) -> Use:
        """Return the sum of a period."""
        return total_of(uses_by(DAY, period.since, period.until))

    def total_line(self, period: Period) -> str:
        """Return the sum of a period in words."""
        use = self.total(period)
        money = (
            f"{money_words(use.money)} {self.currency}" if use.money_known else "no price is set"
        )
        return (
            f"|w{period}|n (UTC): {clean_output(money)}, {use.calls:,} calls\n"
            f"Tokens: {use.prompt_tokens:,} in ({use.cached_tokens:,} cached), "
            f"{use.completion_tokens:,} out."
        )

    def budget_lines(self) -> Iterator[str]:
        """Yield what is used of the game's budgets today, and of others that are tight."""
        for use in self.services.gateway.budgets_used():
            if use.account[0] == GAME or use.level:
                name = clean_output(budget_name(use, self.reader), 90)
                yield f"{name}: {clean_output(str(use))}."

    def unpriced_lines(self, period: Period) -> Iterator[str]:
        """Yield a hint if the money is not complete."""
        if tokens := self.total(period).unpriced_tokens:
            yield f"|xWithout a price: {tokens:,} tokens. Set |wprices|x in the model profile.|n"

    def show_list(self, period: Period, costs: CostList) -> None:
        """Show one page of a list."""
        number, pages = page_number(self.rhs), max(1, -(-len(costs.uses) // ROWS_A_PAGE))
        number = min(number, pages)
        lines = [self.total_line(period)]
        if costs.uses:
            lines.append(costs.render((number - 1) * ROWS_A_PAGE, ROWS_A_PAGE, self.currency))
        lines += self.unpriced_lines(period)
        if pages > 1:
            typed = f"{self.key}/{self.switch} {clean_output(self.lhs or '', 20)}".strip()
            more = f" More: |w{typed} = {number + 1}|n" if number < pages else ""
            lines.append(f"|xPage {number} of {pages}.|n{more}")
        self.msg("\n".join(lines))

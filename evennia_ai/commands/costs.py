"""``aicost``: what the models cost, by day, character, player and model profile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
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
)
from evennia_ai.game.budget_alerts import budget_name
from evennia_ai.game.client_text import clean_output
from evennia_ai.policy.disclosure import FIGURES, PLAYER_COSTS
from evennia_ai.policy.limits.budgets import GAME, PLAYER
from evennia_ai.policy.limits.prices import money_words
from evennia_ai.store.usage import (
    CHARACTER,
    DAY,
    PROFILE,
    Use,
    Uses,
    folded,
    total_of,
    uses_by,
    uses_of_speakers,
)

ROWS_A_PAGE = 20
ROWS_AT_A_GLANCE = 5
LAST_FORTNIGHT = "14"


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
    period: Period
    uses: Uses  # of the period, by day, or by assistant and profile
    total: Use

    def run(self) -> None:
        """Read the period's sums, then dispatch by switch."""
        if self.switch == "players":
            self.ensure_may_read(PLAYER_COSTS)
        default = LAST_FORTNIGHT if self.switch == "days" else ""
        self.period = read_period(self.lhs or default, self.services.now().date())
        keys = (DAY,) if self.switch == "days" else (CHARACTER, PROFILE)
        self.uses = uses_by(self.period.since, self.period.until, *keys)
        self.total = total_of(self.uses.values())
        self.dispatch()

    def do_default(self) -> None:
        if self.rhs:
            raise UsageError("Pages need a list, such as |waicost/characters 7 = 2|n.")
        lists = [self.characters(), self.profiles()]
        lists += [self.players()] if self.reader.may(PLAYER_COSTS) else []
        lines = [self.total_line(), *self.budget_lines()]
        for costs in lists:
            if costs.uses:
                lines += ["", costs.render(0, ROWS_AT_A_GLANCE, self.currency)]
        self.msg("\n".join([*lines, *self.unpriced_lines()]))

    def do_days(self) -> None:
        newest = sorted(folded(self.uses, 0).items(), reverse=True)
        days = [(str(day), use) for day, use in newest]
        limits = dict.fromkeys((day for day, _use in days), self.limits(GAME))
        self.show_list(CostList("Day", days, limits))

    def do_characters(self) -> None:
        self.show_list(self.characters())

    def do_players(self) -> None:
        self.show_list(self.players())

    def do_profiles(self) -> None:
        self.show_list(self.profiles())

    @property
    def currency(self) -> str:
        """The currency of the game."""
        return str(self.services.gateway.limits.currency)

    def characters(self) -> CostList:
        """Return the costs of each character."""
        costs = by_character(folded(self.uses, 0))
        return costs if self.period.is_one_day else replace(costs, limits={})

    def profiles(self) -> CostList:
        """Return the costs of each model profile, which has no budget."""
        uses = folded(self.uses, 1).items()
        return CostList("Profile", dearest_first({name or OLD_PROFILE: use for name, use in uses}))

    def players(self) -> CostList:
        """Return the costs of each player, and those that no player caused."""
        limits = self.limits(PLAYER) if self.period.is_one_day else Limits()
        uses = uses_of_speakers(self.period.since, self.period.until)
        return by_player(uses, self.total, limits)

    def limits(self, kind: str) -> Limits:
        """Return the budgets of the game or of each player."""
        limits: Any = self.services.gateway.limits
        tokens, money = limits.game_tokens_per_day, limits.game_money_per_day
        if kind == PLAYER:
            tokens, money = limits.player_tokens_per_day, limits.player_money_per_day
        return Limits(tokens, money, kind in limits.waived)

    def total_line(self) -> str:
        """Return the sum of the period in words."""
        use = self.total
        money = (
            f"{money_words(use.money)} {self.currency}" if use.money_known else "no price is set"
        )
        calls = "call" if use.calls == 1 else "calls"
        return (
            f"|w{self.period}|n (UTC): {clean_output(money)}, {use.calls:,} {calls}\n"
            f"Tokens: {use.prompt_tokens:,} in ({use.cached_tokens:,} cached), "
            f"{use.completion_tokens:,} out."
        )

    def budget_lines(self) -> Iterator[str]:
        """Yield what is used of the game's budgets today, and of others that are tight."""
        for use in self.services.gateway.budgets_used():
            if use.account[0] == GAME or use.level:
                name = clean_output(budget_name(use, self.reader), 90)
                yield f"{name}: {clean_output(str(use))}."

    def unpriced_lines(self) -> Iterator[str]:
        """Yield a hint if the money is not complete."""
        if tokens := self.total.unpriced_tokens:
            yield f"|xWithout a price: {tokens:,} tokens. Set |wprices|x in the model profile.|n"

    def show_list(self, costs: CostList) -> None:
        """Show one page of a list."""
        number, pages = page_number(self.rhs), max(1, -(-len(costs.uses) // ROWS_A_PAGE))
        number = min(number, pages)
        lines = [self.total_line()]
        if costs.uses:
            lines.append(costs.render((number - 1) * ROWS_A_PAGE, ROWS_A_PAGE, self.currency))
        lines += self.unpriced_lines()
        if pages > 1:
            typed = f"{self.key}/{self.switch} {clean_output(self.lhs or '', 20)}".strip()
            more = f" More: |w{typed} = {number + 1}|n" if number < pages else ""
            lines.append(f"|xPage {number} of {pages}.|n{more}")
        self.msg("\n".join(lines))

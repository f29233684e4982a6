"""``aicost``: what the models cost, by day, character, player and model profile."""

from __future__ import annotations

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
    limits_of,
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
AT_A_GLANCE = 5
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
    locks = "cmd:perm(Builder)"
    reads = FIGURES
    switch_options = ("days", "characters", "players", "profiles")
    period: Period
    uses: Uses  # of the period, by day, or by assistant and profile
    total: Use

    def run(self) -> None:
        """Show the period's sums at a glance, or one list of them."""
        if self.switch == "players":
            self.ensure_may_read(PLAYER_COSTS)
        default = LAST_FORTNIGHT if self.switch == "days" else ""
        self.period = read_period(self.lhs or default, self.services.now().date())
        keys = (DAY,) if self.switch == "days" else (CHARACTER, PROFILE)
        self.uses = uses_by(*self.period, *keys)
        self.total = total_of(self.uses.values())
        lines = self.page_lines(getattr(self, self.switch)()) if self.switch else self.glance()
        if tokens := self.total.unpriced_tokens:
            lines.append(
                f"|xWithout a price: {tokens:,} tokens. Set |wprices|x in their profile.|n"
            )
        self.msg("\n".join([self.total_line(), *lines]))

    def glance(self) -> list[str]:
        """Return the game's budgets, others that are tight, and the beginning of each list."""
        if self.rhs:
            raise UsageError("Pages need a list, such as |waicost/characters 7 = 2|n.")
        used = [use for use in self.services.gateway.budgets.used() if use.level or use.is_games]
        lines = [clean_output(f"{budget_name(use, self.reader)}: {use}.") for use in used]
        lists = [self.characters(), self.profiles()]
        lists += [self.players()] if self.reader.may(PLAYER_COSTS) else []
        currency = self.limits.currency
        return lines + [f"\n{one.render(0, AT_A_GLANCE, currency)}" for one in lists if one.uses]

    def page_lines(self, costs: CostList) -> list[str]:
        """Return one page of a list."""
        number, pages = page_number(self.rhs), max(1, -(-len(costs.uses) // ROWS_A_PAGE))
        start = (min(number, pages) - 1) * ROWS_A_PAGE
        lines = [costs.render(start, ROWS_A_PAGE, self.limits.currency)] if costs.uses else []
        if pages > 1:
            typed = f"{self.key}/{self.switch} {clean_output(self.lhs or '', 20)}".strip()
            more = f" More: |w{typed} = {number + 1}|n" if number < pages else ""
            lines.append(f"|xPage {min(number, pages)} of {pages}.|n{more}")
        return lines

    def days(self) -> CostList:
        """Return the costs of each day, newest first."""
        days = [(str(day), use) for day, use in sorted(folded(self.uses, 0).items(), reverse=True)]
        return CostList("Day", days, dict.fromkeys(dict(days), limits_of(self.limits, GAME)))

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
        limits = limits_of(self.limits, PLAYER) if self.period.is_one_day else Limits()
        return by_player(uses_of_speakers(*self.period), self.total, limits)

    @property
    def limits(self) -> Any:
        """The `GatewayLimits` of the game, with its budgets and its currency."""
        return self.services.gateway.limits

    def total_line(self) -> str:
        """Return the sum of the period in words."""
        use, money = self.total, "no price is set"
        if use.money_known:
            money = f"{money_words(use.money)} {clean_output(self.limits.currency)}"
        return (
            f"|w{self.period}|n (UTC): {money}, {use.calls:,} call{'s' * (use.calls != 1)}\n"
            f"Tokens: {use.prompt_tokens:,} in ({use.cached_tokens:,} cached), "
            f"{use.completion_tokens:,} out."
        )

"""Budgets in tokens and in money for the game, players and assistants, and ``aicost``."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import partial
from typing import Any

from evennia_ai.commands.common import all_assistants, told_apart
from evennia_ai.config import ModelProfile
from evennia_ai.contrib.costs.aicost import CmdAICost
from evennia_ai.contrib.costs.budgets import TIGHT
from evennia_ai.contrib.costs.daily_budgets import BudgetSources, DailyBudgets
from evennia_ai.contrib.costs.limits import CostLimits, CostSettings, read_limits
from evennia_ai.contrib.costs.sums import add_for_speakers, money_on, spent_on
from evennia_ai.contrib.costs.warnings import account_of, budget_name, warn_of_budget
from evennia_ai.extension import EntryReader, Extension
from evennia_ai.messages import Usage
from evennia_ai.policy.read_permissions import Reader
from evennia_ai.ports import LLMRequest, ModelCallRecord
from evennia_ai.signals import catching_up


class CostExtension(Extension):
    """Refuses model calls that a budget of today does not allow."""

    name = "costs"
    settings = CostSettings
    entries = frozenset(
        "GAME_TOKENS_PER_DAY PLAYER_TOKENS_PER_DAY GAME_MONEY_PER_DAY PLAYER_MONEY_PER_DAY".split()
    )
    limits: CostLimits
    budgets: DailyBudgets

    def set_up(self, services: Any, settings: EntryReader) -> bool:
        limits = read_limits(settings, services.gateway.limits.currency)
        spent = partial(spent_on, waived=limits.waived)
        sources = BudgetSources(spent, money_on, account_of, warn_of_budget)
        self.limits, self.budgets = limits, DailyBudgets(services.clock, limits, sources)
        services.problems.append(self.problems)
        catching_up.connect(self._read_again)
        return True

    def _read_again(self, **kwargs: Any) -> None:
        self.budgets.read_again()

    @classmethod
    def commands(cls) -> Iterable[type[Any]]:
        return (CmdAICost,)

    def before_model_call(
        self, request: LLMRequest, profile: ModelProfile
    ) -> Callable[[Usage], object]:
        reserved = self.budgets.reserve(request, profile)
        return partial(self.budgets.settle, reserved, request, profile)

    def after_model_call(self, request: LLMRequest, record: ModelCallRecord, at: datetime) -> None:
        add_for_speakers(record, at.date())

    def problems(self, reader: Reader) -> Iterator[tuple[str, str]]:
        """Yield the budgets that are nearly used up, and the profiles that need prices."""
        for use in self.budgets.used():
            if use.level >= TIGHT:
                yield budget_name(use, reader), str(use)
        names = defaultdict[str, list[str]](list)
        scripts = all_assistants()
        for script, name in zip(scripts, told_apart(scripts), strict=True):
            own = script.config.part(CostSettings).money_per_day
            for problem in self._missing_prices(script.mind.settings.profile, own):
                names[problem].append(name)
        for problem, without in names.items():
            yield ", ".join(without), problem

    def _missing_prices(self, profile: ModelProfile, own_budget: float | None) -> Iterator[str]:
        limits = self.limits
        budgets = (own_budget, limits.game_money_per_day, limits.player_money_per_day)
        for item in (profile, profile.fallback):
            if item and item.price is None and any(budget is not None for budget in budgets):
                yield (
                    f"The profile '{item.name}' has no prices for the model '{item.model}', so no "
                    "budget in money holds for it. Set prices."
                )


EXTENSION = CostExtension

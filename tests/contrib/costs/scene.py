"""Talks with Mira that cost money, by model profiles with prices."""

from datetime import timedelta
from itertools import count

import pytest

from evennia_ai.contrib.costs import CostExtension
from evennia_ai.contrib.costs.daily_budgets import BudgetSources, DailyBudgets
from evennia_ai.contrib.costs.limits import CostLimits
from evennia_ai.contrib.costs.sums import money_on, spent_on
from evennia_ai.contrib.costs.warnings import account_of, warn_of_budget
from evennia_ai.llm.gateway import ModelGateway
from evennia_ai.messages import LLMReply, Usage
from evennia_ai.models import DailyUse, SpeakerUse
from evennia_ai.policy.limits.retry import GatewayLimits, RetryLimits
from tests.scripted import call

PRICES = {"input": 100.0, "cached": 10.0, "output": 1_000.0}
HOSTED = {"client": "openai", "model": "m", "prices": PRICES}
USAGE = Usage(2_900, 10, 0)
LOCAL = {"client": "openai", "model": "m", "base_url": "http://localhost:8080/v1"}


@pytest.fixture
def profiles(service):
    """Return the game's profiles; Mira uses the first, which has prices."""
    service.profiles = {
        "default": HOSTED,
        "large": {**HOSTED, "prices": {"input": 1_000.0, "output": 5_000.0}},
        "bare": {"client": "openai", "model": "m"},
        "home": LOCAL,
        "offline": {"client": "offline"},
    }
    return service.profiles


@pytest.fixture
def talk(game, profiles, mira, ann, admin):
    """Return a function by which a player speaks to Mira, at a cost of 0.30 for each line.

    There are no budgets until `limit` sets them.
    """
    mira.assistant.db.max_reply_tokens = 16
    use_limits(game.service, BudgetSources(spent_on, money_on), {})
    numbers = count(1)

    def talk(player=ann, usage=USAGE):
        words = f"Number {next(numbers)} is yours."
        game.model.add(LLMReply("", (call("say", text=words),), usage=usage))
        player.do("say Mira, hello")
        game.run(1)

    return talk


def limit(game, **limits):
    """Give the game budgets, and warnings of them; return its extension."""
    service = game.service
    clients = {"openai": game.model, "offline": game.model}
    gateway_limits = GatewayLimits(retry=RetryLimits(max_attempts=1))
    service.gateway = ModelGateway(service.clock, clients, gateway_limits)
    return use_limits(
        service, BudgetSources(spent_on, money_on, account_of, warn_of_budget), limits
    )


def use_limits(service, sources, limits):
    """Let the game's extension keep to other budgets; return it."""
    (costs,) = (item for item in service.extensions if item.name == CostExtension.name)
    costs.limits = CostLimits(**limits)
    costs.budgets = DailyBudgets(service.clock, costs.limits, sources)
    service.gateway.extensions = [costs]
    return costs


def spent_today(budgets):
    """Return the tokens that each account has spent today."""
    return dict(budgets.ledgers[0].spent)


def go_back(days):
    """Move everything that was spent so far to earlier days."""
    for model in (DailyUse, SpeakerUse):
        for row in model.objects.all():
            row.day -= timedelta(days=days)
            row.save()


def rows_of(text):
    """Return the rows of all tables, with single spaces."""
    rows = [" ".join(line.split()) for line in text.splitlines()]
    titles = ("Character ", "Profile ", "Player ", "Day ")
    return [
        row for row in rows if row.count(" ") >= 5 and not row.startswith(titles) and ":" not in row
    ]

"""Talks with Mira that cost money, by model profiles with prices."""

from datetime import timedelta
from itertools import count

import pytest

from evennia_ai.game.rate_limits import account_of, warn_of_budget
from evennia_ai.llm.daily_budgets import BudgetSources
from evennia_ai.llm.gateway import ModelGateway
from evennia_ai.messages import LLMReply, Usage
from evennia_ai.models import DailyUse, SpeakerUse
from evennia_ai.policy.limits.retry import GatewayLimits, RetryLimits
from evennia_ai.store.usage import money_on, spent_on
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
    """Return a function by which a player speaks to Mira, at a cost of 0.30 for each line."""
    mira.assistant.db.max_reply_tokens = 16

    numbers = count(1)

    def talk(player=ann, usage=USAGE):
        words = f"Number {next(numbers)} is yours."
        game.model.add(LLMReply("", (call("say", text=words),), usage=usage))
        player.do("say Mira, hello")
        game.run(1)

    return talk


def limit(game, **limits):
    """Give the game budgets, and warnings of them."""
    service = game.service
    limits = GatewayLimits(retry=RetryLimits(max_attempts=1), **limits)
    clients = {"openai": game.model, "offline": game.model}
    books = BudgetSources(money_on, account_of, warn_of_budget)
    service.gateway = ModelGateway(service.clock, clients, limits, spent_on, books=books)


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

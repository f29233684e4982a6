"""Budgets at the gateway: reserved before a call, settled after it, new each day."""

from evennia_ai.config import ModelProfile
from evennia_ai.errors import BudgetExhausted
from evennia_ai.messages import Usage
from evennia_ai.policy.limits.money import PLAYER, WHOLE_GAME
from evennia_ai.policy.limits.retry import RetryLimits
from tests.llm.gateway_desk import ANN, Desk
from tests.scripted import spent_today


def test_a_call_is_reserved_whole_and_settled_by_what_it_used():
    desk = Desk(game_tokens_per_day=1_000)
    desk.ask(tokens=100, max_tokens=500)
    assert type(desk.ask(tokens=100, max_tokens=500).error) is BudgetExhausted
    desk.answer(0, Usage(110, 40))
    assert spent_today(desk.gateway)[WHOLE_GAME] == 150
    assert desk.ask(tokens=100, max_tokens=500).results == []


def test_what_was_spent_before_a_restart_counts():
    spent = {(PLAYER, "#5"): 90}
    desk = Desk(player_tokens_per_day=100, spent=lambda day: spent)
    assert type(desk.ask(tokens=11, speakers=ANN).error) is BudgetExhausted


def test_a_failed_call_costs_nothing_one_given_up_its_prompt():
    desk = Desk(retry=RetryLimits(max_attempts=1), game_tokens_per_day=1_000)
    desk.ask(tokens=100)
    desk.fail(0)
    assert spent_today(desk.gateway) == {}
    desk.ask(tokens=100, deadline=1.0)
    desk.clock.advance(1.0)
    assert spent_today(desk.gateway)[WHOLE_GAME] == 100


def test_the_offline_brain_costs_nothing():
    desk = Desk(game_tokens_per_day=0)
    offline = ModelProfile("offline", "offline", "offline")
    assert desk.ask(tokens=100, profile=offline).results == []

"""Budgets at the gateway, in tokens and in money, and the warnings of staff."""

import pytest

from evennia_ai.config import AssistantConfig, ModelProfile, declare_settings
from evennia_ai.contrib.costs import CostExtension
from evennia_ai.contrib.costs.budgets import (
    ASSISTANT,
    GAME,
    OWNER,
    PLAYER,
    TIGHT,
    USED_UP,
    WHOLE_GAME,
)
from evennia_ai.contrib.costs.daily_budgets import BudgetSources, DailyBudgets
from evennia_ai.contrib.costs.limits import CostLimits, CostSettings
from evennia_ai.errors import BudgetExhausted
from evennia_ai.messages import Usage
from evennia_ai.policy.limits.money import read_prices
from evennia_ai.policy.limits.retry import RetryLimits
from tests.contrib.costs.scene import spent_today
from tests.llm.gateway_desk import ANN, Desk

PRICES = read_prices({"input": 1.0, "output": 2.0}, "m")  # a micro a token of the prompt
HOSTED = ModelProfile("hosted", "scripted", "m", prices=PRICES)
UNPRICED = ModelProfile("unpriced", "scripted", "m")
LOCAL = ModelProfile("home", "scripted", "m", base_url="http://localhost:8080/v1")
declare_settings(CostSettings)
BOTH = frozenset({"#5", "#6"})


class Till(Desk):
    """A desk whose calls use the priced profile, and which keeps the warnings."""

    def __init__(
        self,
        spent=lambda day: {},
        spent_money=lambda day: {},
        owner_of=lambda _: "",
        tell=None,
        retry=None,
        **limits,
    ):
        super().__init__(**({"retry": retry} if retry else {}))
        self.told = []
        self.costs = costs = CostExtension()
        sources = BudgetSources(spent, spent_money, owner_of, tell or self.told.append)
        costs.budgets = DailyBudgets(self.clock, CostLimits(**limits), sources)
        self.gateway.extensions = [costs]

    def ask(self, tokens_per_day=None, money_per_day=None, **asked):
        own = {"tokens_per_day": tokens_per_day, "money_per_day": money_per_day}
        return super().ask(config=AssistantConfig.of(own), **asked)

    def spend(self, tokens, profile=HOSTED, **caller):
        number = self.number
        outcome = self.ask(profile=profile, tokens=tokens, **caller)
        if not outcome.results:
            self.answer(number, Usage(tokens, 0))
        return outcome

    def levels(self):
        return [(use.account, use.unit, use.level) for use in self.told]


def test_a_call_reserves_its_money_and_is_settled_by_what_it_cost():
    till = Till(game_money_per_day=1_000)
    till.ask(profile=HOSTED, tokens=400, max_tokens=200)
    refused = till.ask(profile=HOSTED, tokens=201).error
    assert type(refused) is BudgetExhausted
    assert str(refused) == (
        "The game's budget: 0.00 of today's 0.0010 USD are used (0%), and this call could exceed "
        "the limit."
    )
    till.answer(0, Usage(400, 10, 400))
    assert till.ask(profile=HOSTED, tokens=580).results == []
    assert type(till.ask(profile=HOSTED, tokens=1).error) is BudgetExhausted


@pytest.mark.parametrize("unit", ["tokens", "money"])
def test_a_players_budget_pays_no_lines_of_others_and_the_games_pays_all(unit):
    till = Till(**{f"player_{unit}_per_day": 100, f"game_{unit}_per_day": 1_000})
    for number in range(2):
        assert till.ask(profile=HOSTED, tokens=200, speakers=ANN, unpaid_share=0.75).results == []
        till.answer(number, Usage(200, 0))
    refused = till.ask(profile=HOSTED, tokens=4, speakers=ANN, unpaid_share=0.75).error
    assert str(refused).startswith("This player's budget")
    assert till.ask(profile=HOSTED, tokens=601).error  # of the game's 1,000 there are 600 left
    assert till.ask(profile=HOSTED, tokens=600).results == []


def test_a_free_model_does_not_use_up_a_budget_that_nobody_set():
    till = Till(game_tokens_per_day=100, player_tokens_per_day=100, waived=frozenset({GAME}))
    till.spend(1_000, LOCAL)
    assert till.told == []
    assert type(till.ask(profile=LOCAL, tokens=101, speakers=ANN).error) is BudgetExhausted
    assert till.ask(profile=UNPRICED, tokens=100).results == []
    assert till.ask(profile=UNPRICED, tokens=1).error


@pytest.mark.parametrize("unit", ["tokens", "EUR"])
def test_staff_are_told_once_at_four_fifths_and_once_at_the_end(unit):
    limits = {"game_tokens_per_day": 100} if unit == "tokens" else {"game_money_per_day": 100}
    till = Till(**limits, currency="EUR")
    for _ in range(7):
        till.spend(10)
    assert till.told == []
    for _ in range(5):
        till.spend(10)
    assert till.levels() == [(WHOLE_GAME, unit, TIGHT), (WHOLE_GAME, unit, USED_UP)]
    till.clock.advance(86_400)
    till.spend(90)
    assert till.levels()[2:] == [(WHOLE_GAME, unit, TIGHT)]


def test_the_first_refused_call_is_told_although_the_budget_is_not_quite_used():
    till = Till(game_tokens_per_day=100)
    till.spend(70)
    for _ in range(3):
        assert till.spend(50).error
    assert till.levels() == [(WHOLE_GAME, "tokens", USED_UP)]


def test_assistants_and_players_have_warnings_of_their_own():
    till = Till(player_tokens_per_day=100)
    till.spend(90, speakers=ANN, assistant="7", tokens_per_day=95)
    assert till.levels() == [((ASSISTANT, "7"), "tokens", TIGHT), ((PLAYER, "#5"), "tokens", TIGHT)]
    till.spend(90, speakers=frozenset({"#6"}), assistant="8")
    assert len(till.told) == 3
    shown = [use.account for use in till.costs.budgets.used() if use.level >= TIGHT]
    assert shown == [(ASSISTANT, "7"), (PLAYER, "#5"), (PLAYER, "#6")]


def test_an_account_is_told_only_if_it_has_several_characters():
    till = Till(player_tokens_per_day=100, owner_of=lambda _: "account 3")
    till.spend(90, speakers=ANN)
    assert till.levels() == [((PLAYER, "#5"), "tokens", TIGHT)]
    assert till.spend(20, speakers=frozenset({"#6"})).error
    assert till.levels()[1:] == [((OWNER, "account 3"), "tokens", USED_UP)]


def test_a_warning_that_fails_does_not_disturb_the_call():
    till = Till(game_tokens_per_day=100, tell=lambda use: 1 / 0)
    assert till.spend(90).results


def test_an_assistants_own_money_and_a_players_are_kept_apart():
    till = Till(player_money_per_day=100)
    assert till.ask(profile=HOSTED, tokens=11, assistant="1", money_per_day=0.000_01).error
    till.spend(60, speakers=ANN)
    assert till.ask(profile=HOSTED, tokens=50, speakers=ANN).error
    assert till.ask(profile=HOSTED, tokens=50, speakers=frozenset({"#6"})).results == []


def test_without_prices_a_budget_in_money_does_not_refuse():
    till = Till(game_money_per_day=0)
    assert till.ask(profile=UNPRICED, tokens=1_000).results == []
    assert till.ask(profile=LOCAL, tokens=1_000).results == []
    assert till.ask(profile=HOSTED, tokens=1).error


def test_a_local_proxy_with_prices_is_not_free():
    proxy = ModelProfile("proxy", "scripted", "m", base_url=LOCAL.base_url, prices=PRICES)
    till = Till(game_tokens_per_day=100, waived=frozenset({GAME}))
    assert till.ask(profile=proxy, tokens=101).error


def test_what_was_told_before_a_restart_is_not_told_again():
    till = Till(spent=lambda day: {WHOLE_GAME: 85}, game_tokens_per_day=100)
    till.spend(5)
    assert till.told == []
    till.spend(10)
    assert till.levels() == [(WHOLE_GAME, "tokens", USED_UP)]


def test_a_budget_of_zero_is_meant_so_and_nobody_is_told():
    till = Till(game_tokens_per_day=0)
    assert till.spend(1).error
    assert till.spend(1, assistant="1", tokens_per_day=0).error
    assert till.told == []


def test_what_other_servers_spent_counts_once_the_log_is_read_again():
    """An account's sum, which no log has, is kept."""
    spent = {WHOLE_GAME: 0}
    till = Till(lambda day: spent, owner_of=lambda _: "ann", game_tokens_per_day=1_000)
    till.spend(100, speakers=frozenset({ANN}))
    spent[WHOLE_GAME] = 950
    assert till.spend(100, speakers=frozenset({ANN})).results
    till.costs.budgets.read_again()
    outcome = till.spend(100, speakers=frozenset({ANN}))
    assert isinstance(outcome.error, BudgetExhausted)
    assert till.costs.budgets.ledgers[0].spent[OWNER, "ann"] == 200


def test_what_the_log_could_not_tell_counts_later():
    errors = [RuntimeError("locked")]

    def spent(_day):
        if errors:
            raise errors.pop()
        return {WHOLE_GAME: 95}

    till = Till(spent, game_tokens_per_day=100)
    assert till.spend(3).results
    assert type(till.spend(6).error) is BudgetExhausted


# --- reserved before a call, settled after it -----------------------------------------------------


def test_a_call_is_reserved_whole_and_settled_by_what_it_used():
    desk = Till(game_tokens_per_day=1_000)
    desk.ask(tokens=100, max_tokens=500)
    assert type(desk.ask(tokens=100, max_tokens=500).error) is BudgetExhausted
    desk.answer(0, Usage(110, 40))
    assert spent_today(desk.costs.budgets)[WHOLE_GAME] == 150
    assert desk.ask(tokens=100, max_tokens=500).results == []


def test_what_was_spent_before_a_restart_counts():
    spent = {(PLAYER, "#5"): 90}
    desk = Till(player_tokens_per_day=100, spent=lambda day: spent)
    assert type(desk.ask(tokens=11, speakers=ANN).error) is BudgetExhausted


def test_a_failed_call_costs_nothing_one_given_up_its_prompt():
    desk = Till(retry=RetryLimits(max_attempts=1), game_tokens_per_day=1_000)
    desk.ask(tokens=100)
    desk.fail(0)
    assert spent_today(desk.costs.budgets) == {}
    desk.ask(tokens=100, deadline=1.0)
    desk.clock.advance(1.0)
    assert spent_today(desk.costs.budgets)[WHOLE_GAME] == 100


def test_the_offline_brain_costs_nothing():
    desk = Till(game_tokens_per_day=0)
    offline = ModelProfile("offline", "offline", "offline")
    assert desk.ask(tokens=100, profile=offline).results == []

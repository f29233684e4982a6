"""Budgets hold in floods, over days and faults, with a fallback, and `aistatus` tells of them."""

from dataclasses import replace

import pytest
from twisted.internet.defer import Deferred

from evennia_ai.contrib.costs import CostExtension
from evennia_ai.contrib.costs.budgets import PLAYER, WHOLE_GAME
from evennia_ai.contrib.costs.daily_budgets import BudgetSources, DailyBudgets
from evennia_ai.contrib.costs.limits import CostLimits
from evennia_ai.contrib.costs.sums import spent_on
from evennia_ai.contrib.costs.warnings import account_of
from evennia_ai.errors import BudgetExhausted
from evennia_ai.llm.gateway import ModelGateway
from evennia_ai.messages import LLMReply, Usage
from evennia_ai.models import DailyUse, ModelCall, SpeakerUse
from evennia_ai.policy.limits.money import Prices
from evennia_ai.policy.limits.retry import GatewayLimits, RetryLimits
from evennia_ai.ports import LLMRequest
from evennia_ai.services.assistant_service import AssistantService
from tests.contrib.costs.scene import spent_today, use_limits
from tests.faults.process_scene import pass_time
from tests.faults.seen import spoken_by
from tests.faults.test_database_errors import DAY_S, FEW, failing
from tests.game import test_limits
from tests.llm.gateway_desk import DOWN
from tests.llm.test_gateway_fallback import HALL, SPARE, Pair
from tests.scripted import call

limited = test_limits.limited

pytestmark = [pytest.mark.game, pytest.mark.engine]


def counting(desk, **limits):
    """Let a desk's calls keep to budgets; return it."""
    costs = CostExtension()
    costs.budgets = DailyBudgets(desk.clock, CostLimits(**limits), BudgetSources())
    desk.gateway.extensions = [costs]
    return desk


def test_the_call_costs_what_the_profile_that_answered_costs():
    desk = counting(Pair(), game_money_per_day=100)
    paid, free = Prices(1_000_000, 1_000_000, 1_000_000), Prices(0, 0, 0)
    spare = replace(SPARE, prices={"": free})
    desk.ask(profile=replace(HALL, prices={"": paid}, fallback=spare), tokens=10, max_tokens=10)
    desk.fail()
    desk.answer(Usage(10, 10))
    assert desk.gateway.extensions[0].budgets.ledgers[1].spent == {}


def test_a_fallback_that_the_budget_cannot_pay_is_not_asked():
    desk = counting(Pair(), game_money_per_day=100)
    spare = replace(SPARE, prices={"": Prices(90_000_000, 90_000_000, 90_000_000)})
    outcome = desk.ask(profile=replace(HALL, fallback=spare), tokens=10, max_tokens=10)
    desk.fail()
    assert outcome.error is DOWN
    assert desk.names == ["hall"]


def test_a_flood_does_not_exceed_the_players_budgets(game, service, limited, tavern):
    limited(turns_per_minute=None)
    clients = {"openai": game.model}
    limits = GatewayLimits(retry=RetryLimits(max_attempts=1))
    service.gateway = ModelGateway(service.clock, clients, limits)
    sources = BudgetSources(owner_of=account_of)
    costs = use_limits(service, sources, {"player_tokens_per_day": 5_000})
    mira = game.assistant("Mira", tavern)
    mira.assistant.attributes.add("llm_model", "test")
    service.profiles["default"] = {"client": "openai", "model": "test"}
    players = [game.player(name, tavern) for name in ("Ann", "Bob")]
    game.model.add(*[LLMReply("Aye.")] * 200)
    for number in range(20):
        for player in players:
            player.do(f"whisper Mira = hello {number}")
            game.run(1)
    spent = spent_today(costs.budgets)
    for player in players:
        assert 0 < spent["player", player.dbref] <= 5_000
        assert spent["player", player.dbref] == spent["owner", f"account {player.account.id}"]
    assert len(game.model.requests) < 40


def test_a_budget_of_which_most_is_used_is_told(game, service, admin, ann):
    spent = {WHOLE_GAME: 900, (PLAYER, ann.dbref): 90, (PLAYER, "#999"): 10}
    limits = {"game_tokens_per_day": 1_000, "player_tokens_per_day": 100}
    use_limits(service, BudgetSources(lambda day: spent), limits)
    text = admin.told("aistatus")
    assert "The game's budget: 900 of today's 1,000 tokens are used" in text
    assert f"This player's budget Ann({ann.dbref}): 90 of today's 100 tokens are used" in text
    assert "#999" not in text


@pytest.mark.parametrize("jump", [DAY_S, -DAY_S])
def test_45_a_budget_is_kept_for_each_day(game, ann, mira, jump):
    clients = {"openai": game.model}
    game.service.gateway = ModelGateway(game.clock, clients)
    use_limits(game.service, BudgetSources(spent_on), {})
    game.service.profiles["one"] = {"client": "openai", "model": "first"}
    mira.assistant.attributes.add("profile", "one")
    mira.assistant.attributes.add("tokens_per_day", 6_000)
    game.model.add(*[call("say", text="Yes.")] * 40)

    def calls_until_used_up():
        before = len(game.model.requests)
        for _ in range(10):
            ann.do("say Mira, yes?")
            game.run(1)
        return len(game.model.requests) - before

    first = calls_until_used_up()
    assert 1 <= first < 10
    game.clock.rightNow += jump
    assert 1 <= calls_until_used_up() <= first + 1
    game.clock.rightNow -= jump
    assert calls_until_used_up() == 0


@pytest.mark.parametrize("error", FEW)
def test_a_call_over_midnight_whose_sums_cannot_be_read_still_brings_its_answer(
    game, ann, mira, error
):
    clients = {"openai": game.model, "offline": game.model}
    limits = GatewayLimits(retry=RetryLimits(max_attempts=1))
    game.service.gateway = ModelGateway(game.clock, clients, limits)
    use_limits(game.service, BudgetSources(spent_on), {"game_tokens_per_day": 10**9})
    game.service.profiles["one"] = {"client": "openai", "model": "first"}
    mira.assistant.attributes.add("profile", "one")
    late = Deferred()
    game.model.add(late, call("say", text="Two."))
    ann.do("say Mira, one")
    game.run(1)
    with failing(error, 'SELECT "evennia_ai_dailyuse"'):
        game.clock.rightNow += DAY_S - 2
        game.clock.rightNow = game.clock.rightNow // DAY_S * DAY_S + DAY_S + 1
        if not late.called:
            late.callback(call("say", text="One."))
        pass_time(game, 30)
        assert not mira.assistant.mind.ticker.is_ticking
        ann.do("say Mira, two")
        pass_time(game, 3)
    assert len(spoken_by("Mira", ann)) == 2
    assert ann.last() == 'Mira says, "Two."'


def tokens_of(player):
    return sum(SpeakerUse.objects.filter(speaker=player.dbref).values_list("tokens", flat=True))


def game_tokens():
    rows = DailyUse.objects.values_list("prompt_tokens", "completion_tokens")
    return sum(map(sum, rows))


@pytest.mark.parametrize("lines", [20, 60])
def test_a_strangers_lines_are_on_nobodys_bill(game, mira, ann, lines):
    bob = game.player("Bob", mira.location)
    first, _ = ask(game, ann)
    for number in range(lines):
        bob.do(f"say The {number}th barrel of ale in the old cellar is dearer than the last one")
        game.run(1)
    second, whole = ask(game, ann)
    assert whole > 1.3 * first  # the lines are in the prompt
    assert 0 < second < 1.25 * first
    assert not tokens_of(bob)
    assert ModelCall.objects.latest("id").estimated_tokens == whole


def ask(game, player):
    """Let a player ask once; return what they paid, and what the game paid."""
    before = tokens_of(player), game_tokens()
    game.model.add(call("say", text="Good day to you."))
    player.do("say Mira, good day")
    game.run(2)
    return tokens_of(player) - before[0], game_tokens() - before[1]


def test_a_budget_of_zero_refuses_the_games_calls(game, settings):
    settings.AI_ASSISTANT = {"GAME_TOKENS_PER_DAY": 0}
    service, ended = AssistantService(clock=game.clock, environ={}), []
    request = LLMRequest([], tokens=10)
    profile = replace(SPARE, client="openai")
    deadline_at = game.clock.seconds() + 20
    service.gateway.complete(request, profile, deadline_at).addBoth(ended.append)
    assert ended[0].check(BudgetExhausted)

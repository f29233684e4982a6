"""Budgets in money and in tokens, by default and as set, and their warnings to staff."""

import pytest
from evennia.comms.models import ChannelDB
from evennia.utils.create import create_channel

from evennia_ai.contrib.costs import CostExtension
from evennia_ai.contrib.costs.budgets import ASSISTANT, GAME, OWNER, PLAYER, WHOLE_GAME
from evennia_ai.contrib.costs.limits import GAME_TOKENS, PLAYER_TOKENS, read_limits
from evennia_ai.contrib.costs.sums import money_on, spent_on
from evennia_ai.contrib.costs.warnings import UNTIL_TOMORROW
from evennia_ai.errors import ProviderUnavailable
from evennia_ai.game.settings import SettingReader
from evennia_ai.models import DailyUse, ModelCall
from tests.contrib.costs import scene
from tests.contrib.costs.scene import HOSTED, limit

profiles, talk = scene.profiles, scene.talk


def test_a_budget_in_money_is_kept_and_staff_are_told_once(game, talk, mira, ann, tavern, admin):
    staff = listen(game, tavern)
    limit(game, game_money_per_day=650_000, currency="EUR")
    for _ in range(4):
        talk()
    warnings = [line for line in staff.heard() if "budget" in line]
    assert [line.partition("NPCs: ")[2] for line in warnings] == [
        "The game's budget: 0.60 of today's 0.65 EUR are used (92%). See aicost.",
        f"The game's budget: 0.60 of today's 0.65 EUR are used (92%){UNTIL_TOMORROW}. See aicost.",
    ]
    assert "The game's budget: 0.60 of today's 0.65 EUR are used" in admin.told("aistatus")
    assert DailyUse.objects.get().calls == 2  # what was refused is no call
    assert DailyUse.objects.get().money == 600_000


def test_the_log_and_the_costs_name_the_fallback_that_answered(game, talk, profiles, mira, admin):
    profiles["default"] = {**HOSTED, "fallback": "home"}
    mira.assistant.mind.settings.resolve()
    costs = limit(game, game_money_per_day=700_000)
    game.model.add(ProviderUnavailable("down"))
    talk()
    row = ModelCall.objects.get()
    assert (row.profile, row.model, row.error) == ("home", "m", "")
    assert DailyUse.objects.get().money == 0
    assert costs.budgets.ledgers[1].spent == {}


def test_a_fallback_without_prices_is_told_if_money_is_limited(game, profiles, mira, admin):
    profiles["default"] = {**HOSTED, "fallback": "bare"}
    limit(game, game_money_per_day=700_000)
    mira.assistant.mind.settings.resolve()
    assert "The profile 'bare' has no prices for the model 'm'" in admin.told("aistatus")


def listen(game, room):
    """Return an admin who listens to the staff's channel."""
    staff = game.player("Stan", room, permissions=["Admin"])
    channel = ChannelDB.objects.filter(db_key="MudInfo").first() or create_channel("MudInfo")
    channel.connect(staff.account)
    return staff


def test_warnings_name_the_character_and_the_player(game, talk, mira, ann, tavern):
    staff = listen(game, tavern)
    limit(game, player_tokens_per_day=3_500)  # before there is a mind, which keeps its gateway
    mira.assistant.db.tokens_per_day = 3_500
    mira.assistant.mind.settings.resolve()
    talk()
    text = "\n".join(staff.heard())
    assert f"This assistant's budget Mira({mira.dbref}): 2,910 of today's 3,500 tokens" in text
    assert f"This player's budget Ann({ann.dbref}): 2,910 of today's 3,500 tokens" in text
    assert "account" not in text


def test_after_a_restart_the_budgets_know_what_was_spent(game, talk, mira, ann):
    talk()
    mira.assistant.db.profile = "home"
    mira.assistant.mind.settings.resolve()
    talk()
    day = game.service.now().date()
    mine, hers = (ASSISTANT, str(mira.assistant.id)), (PLAYER, ann.dbref)
    assert spent_on(day) == {WHOLE_GAME: 5_820, mine: 5_820, hers: 5_820}
    assert spent_on(day, {GAME, PLAYER}) == {WHOLE_GAME: 2_910, mine: 5_820, hers: 2_910}
    assert money_on(day) == {WHOLE_GAME: 300_000, mine: 300_000, hers: 300_000}


def limits_of(settings, **entries):
    settings.AI_ASSISTANT = entries
    reader = SettingReader(CostExtension.entries)
    return read_limits(reader, "EUR"), reader.complaints


def test_a_game_that_sets_nothing_has_budgets_that_free_models_need_not_keep_to(settings):
    limits, complaints = limits_of(settings)
    assert (limits.game_tokens_per_day, limits.player_tokens_per_day) == (
        GAME_TOKENS, PLAYER_TOKENS,
    )  # fmt: skip
    assert limits.waived == {GAME, PLAYER, OWNER}
    assert (limits.game_money_per_day, limits.player_money_per_day) == (None, None)
    assert complaints == []


def test_what_a_game_sets_holds_for_every_model(settings):
    limits, complaints = limits_of(
        settings, GAME_TOKENS_PER_DAY=None, PLAYER_TOKENS_PER_DAY=5, GAME_MONEY_PER_DAY=1.5,
        PLAYER_MONEY_PER_DAY=0.1,
    )  # fmt: skip
    assert (limits.game_tokens_per_day, limits.player_tokens_per_day) == (None, 5)
    assert (limits.game_money_per_day, limits.player_money_per_day) == (1_500_000, 100_000)
    assert (limits.currency, limits.waived, complaints) == ("EUR", frozenset(), [])


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ("GAME_MONEY_PER_DAY", "1"),
        ("PLAYER_MONEY_PER_DAY", -1),
        ("GAME_TOKENS_PER_DAY", "many"),
        ("PLAYER_TOKENS_PER_DAY", -1),
    ],
)
def test_a_wrong_entry_is_told_and_the_default_holds(settings, entry, value):
    limits, complaints = limits_of(settings, **{entry: value})
    assert [f"AI_ASSISTANT['{entry}']" in line for line in complaints] == [True]
    default, _ = limits_of(settings)
    assert getattr(limits, entry.lower()) == getattr(default, entry.lower())

"""``aicost`` and the sums behind it."""

from datetime import timedelta

from evennia_ai.errors import ProviderMisconfigured
from evennia_ai.messages import Usage
from evennia_ai.models import ModelCall, SpeakerUse
from evennia_ai.ports import ModelCallRecord
from evennia_ai.store.usage import PROFILE, uses_by
from tests.game import costs_scene as scene
from tests.game.costs_scene import HOSTED, USAGE, go_back, rows_of

profiles, talk = scene.profiles, scene.talk


def test_yesterdays_costs_and_who_spent_them_are_told_by_one_command(game, talk, bob, admin):
    talk()
    talk(bob)
    talk(bob)
    go_back(1)
    talk()
    yesterday = game.service.now().date() - timedelta(days=1)
    text = admin.told("aicost yesterday")
    assert f"{yesterday} (UTC): 0.90 USD, 3 calls" in text
    assert "Tokens: 8,700 in (0 cached), 30 out." in text
    assert rows_of(text) == [
        "Mira 3 8,700 0 30 0.90",
        "default 3 8,700 0 30 0.90",
        "Bob 2 5,800 0 20 0.60",
        "Ann 1 2,900 0 10 0.30",
    ]


def test_cached_tokens_cost_their_own_price(game, talk, admin):
    talk(usage=Usage(2_900, 10, 2_000))
    assert rows_of(admin.told("aicost/profiles")) == ["default 1 2,900 2,000 10 0.12"]
    assert ModelCall.objects.get().money == 120_000


def test_a_change_of_prices_leaves_the_past_as_it_was(game, talk, profiles, mira, admin):
    talk()
    profiles["default"] = {**HOSTED, "prices": {"input": 0.0, "output": 0.0}}
    mira.assistant.resolve_settings()
    talk()
    assert rows_of(admin.told("aicost/profiles")) == ["default 2 5,800 0 20 0.30"]
    assert sorted(ModelCall.objects.values_list("money", flat=True)) == [0, 300_000]


def test_each_profile_has_its_own_sums(game, talk, profiles, mira, admin):
    talk()
    mira.assistant.db.profile = "home"
    mira.assistant.resolve_settings()
    talk()
    assert rows_of(admin.told("aicost/profiles")) == [
        "default 1 2,900 0 10 0.30",
        "home 1 2,900 0 10 0.00",
    ]
    assert "Without a price" not in admin.told("aicost")
    assert "2     5,820" in admin.told("aistatus")
    today = game.service.now().date()
    use = uses_by(today, today, PROFILE)["home",]
    assert (use.free_tokens, use.priced_tokens, use.unpriced_tokens) == (2_910, 0, 0)


def test_without_prices_tokens_are_counted_and_the_money_is_unknown(game, talk, mira, admin):
    mira.assistant.db.profile = "bare"
    mira.assistant.resolve_settings()
    talk()
    text = admin.told("aicost")
    assert "no price is set, 1 call\n" in text
    assert "Without a price: 2,910 tokens. Set prices in their profile." in text
    assert rows_of(admin.told("aicost/players")) == ["Ann 1 2,900 0 10 -"]
    assert ModelCall.objects.get().money is None


def test_the_offline_brain_has_no_calls_and_no_costs(offline_game):
    room = offline_game.room()
    offline_game.assistant("Mira", room)
    admin = offline_game.player("Ada", room, permissions=["Admin"])
    admin.do("say Mira, good evening!")
    offline_game.run(3)
    text = admin.told("aicost")
    assert ": 0.00 USD, 0 calls" in text
    assert not rows_of(text)


def test_what_no_player_caused_is_a_row_of_its_own(game, talk, ann, admin):
    talk()
    SpeakerUse.objects.all().delete()
    assert rows_of(admin.told("aicost/players")) == ["(no player) 1 2,900 0 10 0.30"]


def test_players_who_start_a_call_together_share_it_and_the_rows_add_up(
    game, talk, mira, ann, bob, tavern, admin
):
    game.player("Cid", tavern).do("say Mira, good evening")
    bob.do("say Mira, good evening")
    talk()
    talk()
    prices = mira.assistant.profile.price
    unasked = ModelCallRecord("default", "m", "autonomous", 9, USAGE, 10, prices=prices)
    mira.assistant.turns.record_model_call(None, unasked)
    rows = [row.rsplit(" ", 5) for row in rows_of(admin.told("aicost/players"))]
    assert [name for name, *_ in rows] == ["Ann", "Cid", "Bob", "(no player)"]
    assert [calls for _, calls, *_ in rows] == ["1.3", "0.4", "0.3", "1"]
    for column, total in ((1, 3), (2, 8_700), (4, 30), (5, 0.9)):
        assert round(sum(float(row[column].replace(",", "")) for row in rows), 2) == total


def test_a_call_that_fails_counts_for_the_player_who_started_it(game, talk, ann, admin):
    talk()
    game.model.add(ProviderMisconfigured("Wrong."))
    ann.do("say Mira, hello")
    game.run(1)
    assert rows_of(admin.told("aicost/players")) == ["Ann 2 2,900 0 10 0.30"]


def test_builders_read_figures_but_no_players(game, talk, tavern, admin):
    talk()
    builder = game.player("Bea", tavern, permissions=["Builder"])
    text = builder.told("aicost")
    assert "0.30 USD" in text and "Mira" in text and "Ann" not in text
    assert builder.told("aicost/players") == "Only Admins may read that."
    assert "Ann" in admin.told("aicost/players")


def test_forgetting_a_player_leaves_the_costs(game, talk, ann, admin):
    talk()
    before = admin.told("aicost")
    ann.do("forgetme")
    ann.do("yes")
    game.run(1)
    assert admin.told("aicost") == before

"""``aicost`` and the sums behind it."""

from datetime import timedelta

from evennia_ai.contrib.costs.budgets import GAME
from evennia_ai.models import DailyUse, ModelCall, SpeakerUse
from evennia_ai.ports import ModelCallRecord
from tests.contrib.costs import scene
from tests.contrib.costs.scene import USAGE, go_back, limit, rows_of
from tests.game.forgetting_scene import forget
from tests.game.test_tables import BIG, LONG, WIDE, columns_of
from tests.scripted import call

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
        "Bob 2 5,694 0 20 0.59",
        "Ann 1 2,900 0 10 0.30",
        "(no player) 0 106 0 0 0.01",  # Ann's lines, which stand in Bob's prompts
    ]


def test_each_list_shows_its_budgets(game, talk, mira, ann, admin):
    mira.assistant.db.tokens_per_day = 10_000
    mira.assistant.db.money_per_day = 3.0
    limit(game, player_tokens_per_day=29_100, game_money_per_day=600_000, currency="EUR")
    mira.assistant.mind.settings.resolve()
    assert rows_of(admin.told("aicost/characters"))[0] == "Mira 0 0 0 0 0.00 0%"
    talk()
    today = game.service.now().date()
    assert rows_of(admin.told("aicost/characters")) == ["Mira 1 2,900 0 10 0.30 29%"]
    assert rows_of(admin.told("aicost/players today")) == ["Ann 1 2,900 0 10 0.30 10%"]
    assert rows_of(admin.told("aicost/profiles")) == ["default 1 2,900 0 10 0.30"]
    assert rows_of(admin.told("aicost/days 3")) == [f"{today} 1 2,900 0 10 0.30 50%"]
    assert rows_of(admin.told("aicost/characters 7")) == ["Mira 1 2,900 0 10 0.30"]
    text = admin.told(f"aicost {today}")
    assert "0.30 EUR, 1 call\n" in text
    assert "The game's budget: 0.30 of today's 0.60 EUR are used." in text


def test_without_prices_tokens_are_counted_and_the_money_is_unknown(game, talk, mira, admin):
    mira.assistant.db.profile = "bare"
    mira.assistant.mind.settings.resolve()
    talk()
    text = admin.told("aicost")
    assert "no price is set, 1 call\n" in text
    assert "Without a price: 2,910 tokens. Set prices in their profile." in text
    assert rows_of(admin.told("aicost/players")) == ["Ann 1 2,900 0 10 -"]
    assert ModelCall.objects.get().money is None


def test_tokens_of_free_models_are_not_in_the_games_budget_and_the_page_says_so(
    game, talk, mira, admin
):
    limit(game, game_tokens_per_day=10_000, waived=frozenset({GAME}))
    mira.assistant.mind.settings.write({"profile": "home"})
    talk()
    text = admin.told("aicost")
    assert "0 of today's 10,000 tokens are used." in text
    assert "2,910 tokens of free models are not counted there." in text


def test_a_budget_in_money_without_prices_is_told_to_limit_nothing(profiles, mira, admin):
    assert "limits nothing" not in admin.told("aisetup/set Mira/money_per_day = 2")
    for profile in ("bare", "home"):
        told = admin.told(f"aisetup/set Mira/profile = {profile}")
        assert f"the calls of the profile '{profile}' have no price" in told


def test_who_only_walks_in_pays_nothing(game, ann, bob, mira, tavern):
    game.model.add(call("say", text="Aye."))
    bob.character.move_to(game.room("Yard"), quiet=False)
    bob.character.move_to(tavern, quiet=False)
    ann.do("say Mira, hello")
    game.run(1)
    (request,) = game.model.requests
    assert request.caller.speakers == {ann.dbref}


def test_players_who_start_a_call_together_share_it_and_the_rows_add_up(
    game, talk, mira, ann, bob, tavern, admin
):
    game.player("Cid", tavern).do("say Mira, good evening")
    bob.do("say Mira, good evening")
    talk()
    talk()
    prices = mira.assistant.mind.settings.profile.price
    unasked = ModelCallRecord("default", "m", "autonomous", 9, USAGE, 10, prices=prices)
    mira.assistant.mind.turns.record_model_call(None, unasked)
    rows = [row.rsplit(" ", 5) for row in rows_of(admin.told("aicost/players"))]
    assert [name for name, *_ in rows] == ["Ann", "Cid", "Bob", "(no player)"]
    assert [calls for _, calls, *_ in rows] == ["1.3", "0.4", "0.3", "1"]
    for column, total in ((1, 3), (2, 8_700), (4, 30), (5, 0.9)):
        assert round(sum(float(row[column].replace(",", "")) for row in rows), 2) == total


def test_builders_read_figures_but_no_players(game, talk, tavern, admin):
    talk()
    builder = game.player("Bea", tavern, permissions=["Builder"])
    text = builder.told("aicost")
    assert "0.30 USD" in text and "Mira" in text and "Ann" not in text
    assert builder.told("aicost/players") == "Only Admins may read that."
    assert "Ann" in admin.told("aicost/players")


def test_long_lists_have_pages_and_fit(game, admin, mira, tavern):
    today = game.service.now().date()
    for number in range(45):
        SpeakerUse.objects.create(speaker=f"#{90_000 + number}", day=today, prompt_tokens=number)
    for name in (LONG, WIDE):
        one = game.assistant(name, tavern).assistant
        DailyUse.objects.create(
            assistant=one, day=today, profile=WIDE, calls=10**6, money=10**14,
            prompt_tokens=BIG, completion_tokens=BIG, cached_tokens=BIG, priced_tokens=1,
        )  # fmt: skip
    for line in ("aicost", "aicost/players", "aicost/characters", "aicost/profiles", "aicost/days"):
        widths, sent = columns_of(admin, line)
        assert max(widths) <= 78, sent
    text = admin.told("aicost/players today = 2")
    assert "Page 2 of 3. More: aicost/players today = 3" in text
    assert len(rows_of(text)) == 20
    assert "Page 3 of 3." in admin.told("aicost/players = 9")


def test_forgetting_a_player_leaves_the_costs(game, talk, ann, admin):
    talk()
    before = admin.told("aicost")
    forget(ann)
    assert admin.told("aicost") == before

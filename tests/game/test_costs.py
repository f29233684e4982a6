"""``aicost``, the sums behind it, warnings to staff, and the estimate of another profile."""

from datetime import timedelta
from itertools import count

import pytest
from evennia.comms.models import ChannelDB
from evennia.utils.create import create_channel

from evennia_ai.config import resolve_profile
from evennia_ai.game.budget_alerts import UNTIL_TOMORROW, warn_of_budget
from evennia_ai.game.crowd import account_of
from evennia_ai.game.settings import SettingReader
from evennia_ai.llm.daily_budgets import Books
from evennia_ai.llm.gateway import GatewayLimits, ModelGateway
from evennia_ai.messages import LLMReply, Usage
from evennia_ai.models import DailyUse, ModelCall, SpeakerUse
from evennia_ai.policy.limits.budgets import ASSISTANT, GAME, OWNER, PLAYER, WHOLE_GAME
from evennia_ai.policy.limits.prices import Prices
from evennia_ai.policy.limits.retry import RetryLimits
from evennia_ai.services.model_access import GAME_TOKENS, PLAYER_TOKENS, read_limits
from evennia_ai.store.usage import PROFILE, money_on, spent_on, uses_by
from tests.game.test_tables import BIG, LONG, WIDE, columns_of
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
    books = Books(money_on, account_of, warn_of_budget)
    service.gateway = ModelGateway(service.clock, clients, limits, spent_on, books=books)


def go_back(days):
    """Move everything that was spent so far to earlier days."""
    for model in (DailyUse, SpeakerUse):
        for row in model.objects.all():
            row.day -= timedelta(days=days)
            row.save()


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


def rows_of(text):
    """Return the rows of all tables, with single spaces."""
    rows = [" ".join(line.split()) for line in text.splitlines()]
    titles = ("Character ", "Profile ", "Player ", "Day ")
    return [
        row for row in rows if row.count(" ") >= 5 and not row.startswith(titles) and ":" not in row
    ]


def test_each_list_shows_its_budgets(game, talk, mira, ann, admin):
    mira.assistant.db.tokens_per_day = 10_000
    mira.assistant.db.money_per_day = 3.0
    limit(game, player_tokens_per_day=29_100, game_money_per_day=600_000, currency="EUR")
    mira.assistant.resolve_settings()
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


def test_a_month_can_be_named(game, talk, admin):
    talk()
    month = game.service.now().date().replace(day=1)
    text = admin.told(f"aicost/days {month:%Y-%m}")
    assert f"{month} to {month:%Y-%m}-" in text and len(rows_of(text)) == 1
    assert ": 0.00 USD, 0 calls" in admin.told("aicost 2020-02")
    assert "2020-02-01 to 2020-02-29" in admin.told("aicost 2020-02")


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


def test_a_deleted_player_keeps_a_number(game, talk, bob, admin):
    talk(bob)
    SpeakerUse.objects.update(speaker="#99999")
    assert rows_of(admin.told("aicost/players")) == ["#99999 1 2,900 0 10 0.30"]


def test_builders_read_figures_but_no_players(game, talk, tavern, admin):
    talk()
    builder = game.player("Bea", tavern, permissions=["Builder"])
    text = builder.told("aicost")
    assert "0.30 USD" in text and "Mira" in text and "Ann" not in text
    assert builder.told("aicost/players") == "Only Admins may read that."
    assert "Ann" in admin.told("aicost/players")


def test_a_player_has_no_such_command(game, ann):
    assert "aicost" not in ann.told("aicost").replace("'aicost'", "")


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("aicost soon", "'soon' is no period. Use today, yesterday, a day such as 2"),
        ("aicost 0", "'0' is no period."),
        ("aicost 32", "a month such as 20"),
        ("aicost 32", ", or a number of days up to 31."),
        ("aicost 2026-00", "'2026-00' is no period."),
        ("aicost 2026-13-01", "'2026-13-01' is no period."),
        ("aicost ²", "'²' is no period."),
        ("aicost today = 2", "Pages need a list, such as aicost/characters 7 = 2."),
        ("aicost/players 7 = x", "'x' is no number. Use a whole number from 1."),
        ("aicost/weeks", "There is no switch /weeks. There are: /days, /characters"),
        ("aicost/days/players", "Use one switch at a time."),
    ],
)
def test_what_cannot_be_read_is_explained_in_a_sentence(game, admin, line, answer):
    text = admin.told(line)
    assert answer in text
    assert len(text.splitlines()) == 1


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
    ann.do("forgetme")
    ann.do("yes")
    game.run(1)
    assert admin.told("aicost") == before


# --- budgets --------------------------------------------------------------------------------------


def test_a_budget_in_money_is_kept_and_staff_are_told_once(game, talk, mira, ann, tavern, admin):
    staff = listen(game, tavern)
    limit(game, game_money_per_day=700_000, currency="EUR")
    for _ in range(4):
        talk()
    warnings = [line for line in staff.heard() if "budget" in line]
    assert [line.partition("AI characters: ")[2] for line in warnings] == [
        "The game's budget: 0.60 of today's 0.70 EUR are used (85%). See aicost.",
        f"The game's budget: 0.60 of today's 0.70 EUR are used (85%){UNTIL_TOMORROW}. See aicost.",
    ]
    assert "The game's budget: 0.60 of today's 0.70 EUR are used" in admin.told("aistatus")
    assert DailyUse.objects.get().calls == 4
    assert DailyUse.objects.get().money == 600_000


def listen(game, room):
    """Return an admin who listens to the staff's channel."""
    staff = game.player("Stan", room, permissions=["Admin"])
    channel = ChannelDB.objects.filter(db_key="MudInfo").first() or create_channel("MudInfo")
    channel.connect(staff.account)
    return staff


def test_warnings_name_the_character_and_the_player(game, talk, mira, ann, tavern):
    staff = listen(game, tavern)
    mira.assistant.db.tokens_per_day = 3_500
    mira.assistant.resolve_settings()
    limit(game, player_tokens_per_day=3_500)
    talk()
    text = "\n".join(staff.heard())
    assert f"This assistant's budget Mira({mira.dbref}): 2,910 of today's 3,500 tokens" in text
    assert f"This player's budget Ann({ann.dbref}): 2,910 of today's 3,500 tokens" in text
    assert "account" not in text


def test_a_builder_is_not_told_whose_budget_is_tight(game, talk, ann, tavern):
    limit(game, player_tokens_per_day=3_500)
    talk()
    builder = game.player("Bea", tavern, permissions=["Builder"])
    text = builder.told("aistatus")
    assert "This player's budget [a name, Admins read it]: 2,910 of" in text
    assert "Ann" not in text


def test_a_budget_in_money_without_prices_is_a_mistake_that_is_told(game, talk, mira, admin):
    mira.assistant.db.profile = "bare"
    mira.assistant.db.money_per_day = 1.0
    mira.assistant.resolve_settings()
    line = "Mira, fix this: The profile 'bare' has no prices for the model 'm'"
    assert line in admin.told("aistatus")
    mira.assistant.db.profile = "default"
    mira.assistant.resolve_settings()
    assert "no prices" not in admin.told("aistatus")


def test_after_a_restart_the_budgets_know_what_was_spent(game, talk, mira, ann):
    talk()
    mira.assistant.db.profile = "home"
    mira.assistant.resolve_settings()
    talk()
    day = game.service.now().date()
    mine, hers = (ASSISTANT, str(mira.assistant.id)), (PLAYER, ann.dbref)
    assert spent_on(day) == {WHOLE_GAME: 5_820, mine: 5_820, hers: 5_820}
    assert spent_on(day, {GAME, PLAYER}) == {WHOLE_GAME: 2_910, mine: 5_820, hers: 2_910}
    assert money_on(day) == {WHOLE_GAME: 300_000, mine: 300_000, hers: 300_000}


def limits_of(settings, **entries):
    settings.AI_ASSISTANT = entries
    reader = SettingReader()
    return read_limits(reader), reader.complaints


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
        PLAYER_MONEY_PER_DAY=0.1, CURRENCY="EUR",
    )  # fmt: skip
    assert (limits.game_tokens_per_day, limits.player_tokens_per_day) == (None, 5)
    assert (limits.game_money_per_day, limits.player_money_per_day) == (1_500_000, 100_000)
    assert (limits.currency, limits.waived, complaints) == ("EUR", frozenset(), [])


@pytest.mark.parametrize(
    ("entry", "value", "complaint"),
    [
        ("GAME_MONEY_PER_DAY", "1", "money must be a number from 0, such as 0.15, not '1'."),
        ("PLAYER_MONEY_PER_DAY", -1, "money must be from 0 to 1,000,000,000, not -1."),
        ("CURRENCY", 5, "it must be a short word such as 'EUR', not 5."),
        ("CURRENCY", "|rEUR", "it must be a short word"),
        ("GAME_TOKENS_PER_DAY", "many", "invalid literal"),
    ],
)
def test_a_wrong_entry_is_told_and_the_default_holds(settings, entry, value, complaint):
    limits, complaints = limits_of(settings, **{entry: value})
    assert complaint in complaints[0] and f"AI_ASSISTANT['{entry}']" in complaints[0]
    assert limits.game_tokens_per_day == GAME_TOKENS and limits.currency == "USD"


# --- another profile ------------------------------------------------------------------------------


def test_before_another_profile_costs_more_a_builder_is_told(game, talk, admin):
    talk()
    go_back(6)
    talk()
    assert admin.told("aisetup/set Mira/profile = large").splitlines()[1] == (
        "The last 7 days (5,820 tokens) cost about 0.60 USD with default:m; with large:m they "
        "would have cost about 5.90 USD."
    )
    assert "with home:m they would have cost about 0.00 USD." in admin.told(
        "aisetup/set Mira/profile = home"
    )
    assert "with bare:m they would have cost an unknown amount (no prices are set)." in admin.told(
        "aisetup/set Mira/profile = bare"
    )
    go_back(1)
    assert "The last 7 days (2,910 tokens)" in admin.told("aisetup/set Mira/profile = large")


def test_a_setting_that_does_not_change_the_model_has_no_estimate(game, talk, admin):
    talk()
    for line in ("tick_rate = 6", "profile = default", "tokens_per_day = 100000"):
        assert "would have cost" not in admin.told(f"aisetup/set Mira/{line}")


def test_another_model_of_a_profile_has_the_prices_of_its_name(game, talk, profiles, admin):
    talk()
    text = admin.told("aisetup/set Mira/llm_model = huge")
    assert "with default:huge they would have cost an unknown amount" in text
    profiles["default"] = {**HOSTED, "prices": {"m": PRICES, "huge": {"input": 1, "output": 2}}}
    found = resolve_profile("default", profiles).prices["huge"]
    assert found == Prices(1_000_000, 1_000_000, 2_000_000)
    admin.do("aisetup/set Mira/llm_model =")
    text = admin.told("aisetup/set Mira/llm_model = huge")
    assert "with default:huge they would have cost about 0.0029 USD." in text

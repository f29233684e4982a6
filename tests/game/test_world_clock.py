"""Characters live in the world's time: its pace, its calendar, its stops and its leaps."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from evennia.utils import gametime

from evennia_ai import WorldClock
from evennia_ai.game.world_clock import make_world_clock, resume_world_time
from evennia_ai.models import Message
from evennia_ai.store.server_settings import WORLD_TIME, stored, write
from tests.scripted import call

EPOCH = datetime(1340, 6, 3, 20, tzinfo=UTC).timestamp()  # a Friday
DAY = 86_400


class World:
    """Evennia's game time, which goes by the fake clock of a game; ``ran`` seconds before it."""

    def __init__(self, service, settings, monkeypatch):
        self.service, self.settings, self.patch = service, settings, monkeypatch
        self.down_s, self.started = 0.0, service.clock.seconds()
        monkeypatch.setattr(gametime, "runtime", self.runtime)
        monkeypatch.setattr(gametime, "server_epoch", lambda: self.started)
        monkeypatch.setattr(gametime, "GAME_TIME_OFFSET", 0.0)

    def runtime(self):
        return self.service.clock.seconds() - self.started - self.down_s

    def has(self, factor, epoch=EPOCH, **more):
        """Give the game such settings, as at a start of the server."""
        self.settings.TIME_ZONE = "UTC"
        self.settings.TIME_FACTOR, self.settings.TIME_GAME_EPOCH = factor, epoch
        for name, value in more.items():
            setattr(self.settings, name, value)
        self.patch.setattr(gametime, "TIMEFACTOR", factor)
        self.patch.setattr(gametime, "IGNORE_DOWNTIMES", self.settings.TIME_IGNORE_DOWNTIMES)
        resume_world_time(self.service.world_clock)

    def restarts(self, down_s=0.0, **settings):
        """Let the server be down for some time, and come back with other settings."""
        self.service.clock.advance(down_s)
        self.down_s += down_s
        self.has(**settings)

    def passes(self, seconds):
        """Let so much of the world's time pass."""
        self.service.clock.advance(seconds / self.settings.TIME_FACTOR)

    def age(self, at):
        return self.service.world_clock.age(at)


@pytest.fixture
def world(service, settings, monkeypatch):
    return World(service, settings, monkeypatch)


def ask(game, ann, line, **reply):
    game.model.add(call("say", text="Well."))
    ann.do(f"say Mira, {line}")
    game.run(1)
    return game.told()


@pytest.mark.parametrize("factor", [1, 4, 60])
def test_prompts_tell_the_worlds_time_and_ages_in_it(world, game, mira, ann, factor):
    world.has(factor)
    mira.journal.add("Ann owes Bruno forty crowns for rope.", audience=[ann.dbref])
    assert "Time: Friday, 3 June 1340, 20:00" in ask(game, ann, "good evening")
    world.passes(2 * DAY + 3_600)
    told = ask(game, ann, "what do I owe Bruno for the rope?")
    assert "Time: Sunday, 5 June 1340, 21:00" in told
    assert "two days ago" in told and "forty crowns" in told


@pytest.mark.parametrize("factor", [1, 4, 60])
def test_sleep_keeps_the_worlds_hours(world, game, mira, factor):
    world.has(factor)
    mira.assistant.attributes.add("sleep_schedule", "23:00-06:00")
    slept = {}
    for hour in (22, 24, 29, 31):
        world.passes(EPOCH + (hour - 20) * 3_600 + 60 - world.service.world_clock.seconds())
        mira.assistant.mind.presence.last_talk_at = None
        mira.assistant.mind.sleep.woken_at = None
        mira.assistant.mind.sleep.update()
        game.run()
        slept[hour] = mira.assistant.mind.sleep.is_asleep
    assert slept == {22: False, 24: True, 29: True, 31: False}


@pytest.mark.parametrize("factor", [1, 4, 60])
def test_the_stand_in_tells_the_worlds_time(world, offline_game, factor):
    world.has(factor)
    room = offline_game.room()
    offline_game.assistant("Mira", room)
    ann = offline_game.player("Ann", room)
    for passed, time in ((0, "Friday, 3 June 1340, 20:00"), (DAY, "Saturday, 4 June 1340, 20:00")):
        world.passes(passed)
        ann.do("say Mira, what time is it?")
        offline_game.run(1)
        assert time in ann.last()


def test_the_part_of_a_day_plan_is_that_of_the_worlds_hour(world, game, mira, ann, admin):
    world.has(60)
    mira.assistant.attributes.add("sleep_clock", "real")  # for the sleep alone
    hours = {"begin": 20 * 60, "end": 22 * 60, "content": "pour the ale", "where": ""}
    mira.ai_plan.replace([hours], [])
    assert "pour the ale, until 22:00" in ask(game, ann, "busy?")
    world.passes(3 * 3_600)
    ask(game, ann, "and now?")
    assert "You are about: nothing" in game.tail()


class Calendar(WorldClock):
    """A game's own calendar, as in `docs/configuration.md`."""

    weekdays = ("Moonday", "Towerday", "Windday", "Hearthday")
    months = ("Frost", "Seed", "Harvest")

    def occasion(self, date):
        return "the Feast of Lanterns" if (date.month, date.day) == (3, 2) else ""


class BrokenCalendar(Calendar):
    def occasion(self, date):
        return {"Seed": "spring"}[self.months[date.month - 1]]


UNITS = {"sec": 1, "min": 50, "hour": 1_000, "day": 20_000, "week": 80_000}
UNITS |= {"month": 240_000, "yr": 720_000}


@pytest.fixture
def own(world, service, settings):
    """A function that gives the game a calendar of its own, on its first day of Harvest in 7."""

    def own(kind):
        start = 7 * UNITS["yr"] + 2 * UNITS["month"] + 19 * UNITS["hour"]
        world.has(60, epoch=start, TIME_UNITS=UNITS)
        path = f"{__name__}.{kind}"
        service.world_clock = make_world_clock(service.now, path)

    return own


def test_another_calendar_has_its_own_days_months_and_festivals(world, game, mira, ann, own):
    own("Calendar")
    mira.journal.add("Ann owes Bruno forty crowns for rope.", audience=[ann.dbref])
    assert "Time: Moonday, 1 Harvest 7, 19:00" in ask(game, ann, "good evening")
    world.passes(2 * UNITS["hour"])
    told = ask(game, ann, "what do I owe Bruno for the rope?")
    assert "Time: Towerday, 2 Harvest 7, 01:00, the Feast of Lanterns" in told
    assert "two hours ago" in told
    world.passes(2 * UNITS["day"])
    assert "two days ago" in ask(game, ann, "what do I owe Bruno for the rope, pray?")
    assert mira.assistant.services.world_clock.minute() // 60 == 1


def test_a_calendar_that_fails_costs_the_time_and_no_answer(world, game, mira, ann, own, log):
    with pytest.raises(KeyError):
        own("BrokenCalendar")
    own("Calendar")
    world.service.world_clock.__class__ = BrokenCalendar
    told = ask(game, ann, "good evening")
    assert "Place: Tavern" in told and "Time:" not in told
    assert ann.last() == 'Mira says, "Well."'
    assert "the game's WORLD_CLOCK failed" in "\n".join(log)


@pytest.mark.parametrize("value", ["tests.game.test_world_clock.World", "nowhere.At", 5])
def test_a_wrong_world_clock_is_told_and_the_games_own_time_stays(value, settings, world):
    from evennia_ai.services.assistant_service import AssistantService

    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "WORLD_CLOCK": value}
    world.has(60)
    service = AssistantService(clock=world.service.clock, environ={})
    assert "AI_ASSISTANT['WORLD_CLOCK']: " in "\n".join(service.complaints)
    assert service.world_clock.moment() == "Friday, 3 June 1340, 20:00"


def test_a_clock_that_is_set_back_makes_no_memory_younger_and_none_of_the_future(
    world, game, mira, ann
):
    world.has(60)
    mira.journal.add("Ann owes Bruno forty crowns for rope.", audience=[ann.dbref])
    world.passes(10 * DAY)
    world.patch.setattr(gametime, "GAME_TIME_OFFSET", world.runtime())  # as reset_gametime does
    told = ask(game, ann, "what do I owe Bruno for the rope?")
    assert "Time: Friday, 3 June 1340, 20:00" in told
    assert "ten days ago" in told
    (entry,) = mira.journal.all()
    noted_on = game.service.world_clock.day(datetime.fromisoformat(entry["timestamp"]))
    assert noted_on == "24 May 1340"


def test_a_machines_clock_that_is_set_back_leaves_what_was_heard_in_the_past(world, game):
    world.has(60)
    heard_at = game.service.now() + timedelta(hours=1)  # by the clock before it was set back
    assert world.age(heard_at) == "just now"
    world.passes(61 * 3_600)
    assert world.age(heard_at) == "one hour ago"


def test_another_factor_keeps_the_ages_of_all_memories(world, game):
    world.has(60)
    first = game.service.now()
    world.passes(20 * DAY)
    second = game.service.now()
    for factor in (1, 4, 60):
        world.restarts(factor=factor)
        assert (world.age(first), world.age(second)) == ("two weeks ago", "just now")
    world.restarts(factor=4)
    world.passes(3 * DAY)
    assert (world.age(first), world.age(second)) == ("three weeks ago", "three days ago")


@pytest.mark.parametrize(("goes_on", "age"), [(False, "one hour ago"), (True, "eight weeks ago")])
def test_a_game_that_is_down_ages_only_if_its_time_goes_on(world, game, goes_on, age):
    world.has(60, TIME_IGNORE_DOWNTIMES=goes_on)
    at = game.service.now()
    world.passes(3_600)
    world.restarts(down_s=DAY, factor=60)
    assert world.age(at) == age
    world.passes(3_600)
    assert (world.age(at) == "two hours ago") == (not goes_on)


@pytest.mark.parametrize(
    ("factor", "more"), [(2.0, {}), (1, {}), (1, {"TIME_IGNORE_DOWNTIMES": True})]
)
def test_a_game_without_a_time_of_its_own_lives_in_the_servers(
    world, game, mira, ann, factor, more
):
    world.has(factor, epoch=None, **more)
    world.settings.TIME_ZONE = "Europe/Berlin"
    game.clock.advance(960 - game.clock.seconds() % 900)  # a minute behind a quarter
    quarter = (game.service.now() - timedelta(minutes=1)).astimezone(ZoneInfo("Europe/Berlin"))
    told = ask(game, ann, "good evening")
    assert f"Time: {quarter:%A, %H:%M}\n" in told


def test_a_game_may_choose_either(world, game):
    world.has(2.0, epoch=None)
    choose = lambda value: make_world_clock(game.service.now, value)  # noqa: E731
    assert not choose("game").source.is_real and choose("game").pace == 2.0
    world.has(60)
    assert choose("real").source.is_real and choose("real").pace == 1.0
    assert not choose(None).source.is_real


@pytest.mark.parametrize("value", [[["x"]], "damaged", 5, [[1, 2, 3]]])
def test_a_damaged_record_of_the_worlds_time_begins_anew(world, game, value):
    write(WORLD_TIME, value)
    world.has(60)
    assert len(stored(WORLD_TIME)) == 1


@pytest.mark.parametrize("factor", [1, 60])
def test_what_was_yesterday_in_the_world_is_recalled_first(world, game, mira, factor):
    world.has(factor)
    kinds = {"grey": 90, "red": 45, "white": 1, "brown": 20}  # by how many days ago
    world.passes(100 * DAY)
    for colour, days in kinds.items():
        at = game.service.now() - timedelta(seconds=days * DAY / factor)
        mira.journal.add(f"A {colour} goose came by.", timestamp=at)
    memories = mira.assistant.mind.memories()
    query = "which goose came by yesterday?"
    game.result(memories.prepare(game.service, [query]))
    matches = memories.search(query, 4, None, game.service.now())
    assert len(matches) == 4 and "white" in matches[0].record["content"]
    assert matches[0].score > matches[1].score


def test_rows_keep_utc(world, game, mira, ann):
    world.has(60)
    ask(game, ann, "good evening")
    times = Message.objects.values_list("at", flat=True)
    assert all(abs((game.service.now() - at).total_seconds()) < 5 for at in times)

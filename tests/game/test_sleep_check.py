"""Sleeping and waking, as the world sees it."""

from datetime import UTC, datetime

import pytest
from evennia.utils import gametime
from twisted.internet.defer import Deferred

from evennia_ai.game.sleep_state import GameSleep
from evennia_ai.messages import make_message
from evennia_ai.models import Compaction, SleepPass
from tests.scripted import call


def at_hour(game, hour):
    """Let the clock stand at an hour of the next day."""
    now = datetime.fromtimestamp(game.clock.seconds(), UTC)
    game.clock.advance(((hour - now.hour) % 24 + 24) * 3_600 - now.minute * 60)


def is_watched(game, character):
    """Return True while the timer looks whether an assistant falls asleep or wakes."""
    return ("sleep", character.assistant.id) in game.service.timer.entries


def fill(script, ratio):
    """Fill the context with talk up to a part of a small window."""
    script.attributes.add("max_context_tokens", 8_000)
    script.mind.settings.resolve()
    script.mind.meter.sizes.overhead = 500  # no more than it will turn out to be
    while script.mind.meter.measure().ratio < ratio:
        script.conversation.append([make_message("user", "Ann says: " + "word " * 100)])


def test_it_is_put_to_sleep_for_all_to_see_and_talk_wakes_it(game, admin, ann, mira):
    assert "Mira is asleep." in admin.told("aisleep Mira")
    game.run(1)
    assert "Mira yawns and falls asleep." in ann.heard()
    assert mira.assistant.db.operating_mode == "sleep"
    assert mira.assistant.db.sleep_phase == "dreaming"
    assert "asleep" in admin.told("aistatus")
    game.model.add(call("say", text="Hm? Good evening."))
    ann.do("say Mira, hello")
    game.run(1)
    assert ann.heard()[-2:] == ["Mira wakes up and blinks.", 'Mira says, "Hm? Good evening."']
    assert not mira.assistant.mind.sleep.is_asleep


def test_told_to_sleep_while_it_thinks_it_answers_first(game, admin, ann, mira):
    reply = Deferred()
    game.model.add(reply)
    ann.do("say Mira, hello")
    game.run(1)
    assert "when nobody waits" in admin.told("aisleep Mira")
    assert not mira.assistant.mind.sleep.is_asleep
    ann.forget()
    reply.callback(call("say", text="Hello."))
    game.run(1)
    assert ann.heard() == ['Mira says, "Hello."', "Mira yawns and falls asleep."]
    assert mira.assistant.db.sleep_phase == "dreaming"


def test_one_that_will_sleep_soon_can_be_kept_awake(game, admin, ann, mira):
    reply = Deferred()
    game.model.add(reply)
    ann.do("say Mira, hello")
    game.run(1)
    admin.told("aisleep Mira")
    assert "stays awake" in admin.told("aiwake Mira")
    reply.callback(call("say", text="Hello."))
    game.run(1)
    assert not mira.assistant.mind.sleep.is_asleep


def test_it_is_woken_by_hand(game, admin, mira):
    admin.told("aisleep Mira")
    assert "asleep already" in admin.told("aisleep Mira")
    assert "Mira is awake." in admin.told("aiwake Mira")
    assert "Mira is awake." in admin.told("aiwake Mira")


def test_it_sleeps_in_its_hours_and_wakes_after_them(game, ann, mira, settings):
    settings.TIME_ZONE = "UTC"
    mira.assistant.attributes.add("sleep_schedule", "23:00-06:00")
    at_hour(game, 12)
    game.model.add(call("say", text="Hello."))
    ann.do("say Mira, hello")
    game.run(300)
    assert not mira.assistant.mind.sleep.is_asleep
    at_hour(game, 23)
    game.run(300)
    assert mira.assistant.mind.sleep.is_asleep
    at_hour(game, 7)
    game.run(300)
    assert not mira.assistant.mind.sleep.is_asleep


def test_a_full_head_is_sorted_when_nobody_is_near(game, ann, mira, tavern):
    fill(mira.assistant, 0.75)
    game.model.add(call("noop"), "Ann told stories.")
    mira.assistant.services.watch(mira.ai_mind)
    game.run(300)
    assert not Compaction.objects.exists()
    ann.character.location = game.room("Elsewhere")
    game.run(300)
    game.run(300)
    assert Compaction.objects.get().reason == "sleep"
    assert not mira.assistant.mind.sleep.is_asleep


def test_after_long_quiet_it_sleeps_on_what_it_heard_when_nobody_is_near(game, ann, mira):
    game.model.add(call("say", text="Hello."))
    ann.do("say Mira, hello")
    game.run(4_000)
    assert not SleepPass.objects.exists()
    ann.character.location = game.room("Elsewhere")
    game.run(300)
    game.run(300)
    [row] = SleepPass.objects.all()
    assert (row.reason, row.outcome) == ("nap", "done")
    assert not mira.assistant.mind.sleep.is_asleep
    game.run(300)
    assert not is_watched(game, mira)
    assert SleepPass.objects.count() == 1


@pytest.fixture
def looks(game, monkeypatch):
    """Return a list that the timer's looks at assistants fill."""
    seen, update = [], GameSleep.update

    def note(check):
        seen.append(check)
        return update(check)

    monkeypatch.setattr(GameSleep, "update", note)
    return seen


def test_who_only_saw_somebody_pass_is_not_looked_at_for_an_hour(game, ann, mira, looks):
    game.service.startup.attend_present()
    ann.character.location = game.room("Elsewhere")
    game.clock.pump([60] * 5)
    assert looks
    looks.clear()
    game.clock.pump([60] * 50)
    assert not looks
    game.clock.pump([60] * 20)
    assert looks
    assert not SleepPass.objects.exists()
    assert not is_watched(game, mira)


def test_who_takes_no_naps_is_looked_at_once(game, mira, looks):
    mira.assistant.attributes.add("sleep_after_long_quiet", 0)
    game.service.attend(mira.assistant.mind)
    game.clock.pump([60] * 5)
    assert len(looks) == 1
    assert not is_watched(game, mira)


def test_talk_before_a_restart_is_slept_on_after_it(game, ann, mira):
    game.model.add(call("say", text="Hello."))
    ann.do("say Mira, hello")
    game.run(1)
    game.service.timer.stop()
    mira.assistant.ndb.mind = None
    game.service.startup.attend_present()
    ann.character.location = game.room("Elsewhere")
    game.clock.pump([60] * 70)
    assert [row.outcome for row in SleepPass.objects.all()] == ["done"]
    assert not is_watched(game, mira)


def test_hours_may_be_those_of_the_game_world(game, admin, mira, settings, monkeypatch):
    settings.TIME_ZONE = "UTC"
    hour = 3_600
    monkeypatch.setattr(gametime, "gametime", lambda absolute: 22 * hour)
    mira.assistant.attributes.add("sleep_schedule", "23:00-06:00")
    mira.assistant.attributes.add("sleep_clock", "game")
    mira.assistant.services.watch(mira.ai_mind)
    game.run(300)
    assert not mira.assistant.mind.sleep.is_asleep
    monkeypatch.setattr(gametime, "gametime", lambda absolute: 25 * hour)
    game.run(300)
    assert mira.assistant.mind.sleep.is_asleep
    monkeypatch.setattr(gametime, "gametime", lambda absolute: 31 * hour)
    game.run(300)
    assert not mira.assistant.mind.sleep.is_asleep


def test_who_looks_sees_that_it_sleeps_and_who_is_awake_shows_nothing(game, admin, ann, mira):
    assert "asleep" not in ann.told("look Mira")
    admin.told("aisleep Mira")
    assert ann.told("look Mira").endswith("Mira is asleep.")
    assert "(#" not in admin.told("look Mira").splitlines()[-1]
    admin.told("aiwake Mira")
    assert "asleep" not in ann.told("look Mira")


def test_put_to_sleep_it_sleeps_on_after_a_restart(game, admin, mira):
    admin.told("aisleep Mira")
    game.run(1)
    game.service.timer.stop()
    mira.assistant.ndb.mind = None
    game.service.resume()
    game.run()
    assert is_watched(game, mira)
    game.run(300)
    assert mira.assistant.mind.sleep.is_asleep

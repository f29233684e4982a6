"""Spoken to in the middle of a pass of sleep: it mumbles at once and answers when that is over."""

import pytest
from twisted.internet.defer import Deferred

from evennia_ai.models import Compaction, Event, SleepPass
from tests.game.test_sleep_check import fill
from tests.scripted import call

pytestmark = pytest.mark.engine

MUMBLES = "Mira mumbles in the middle of a dream: a moment more ..."


@pytest.fixture
def reply():
    """What the model takes its time for, asleep."""
    return Deferred()


@pytest.fixture
def sorting(game, admin, mira, reply):
    """Mira in the middle of sorting her memories."""
    fill(mira.assistant, 0.75)
    game.model.add(reply)
    admin.told("aisleep Mira")
    game.run()
    assert mira.assistant.mind.sleep.pass_time
    return mira


def say_later(game, words):
    """What the model says when it is asked again, once the sleep has taken its own replies."""
    game.model.script = [call("say", text=words)]


def test_it_mumbles_and_answers_when_the_pass_is_done(game, ann, sorting, reply):
    ann.forget()
    ann.do("say Mira, hello")
    game.run(5)
    assert ann.last() == MUMBLES
    assert sorting.assistant.mind.sleep.is_asleep
    game.model.add("Ann told stories.", call("say", text="Hm? Hello."))
    reply.callback(call("noop"))
    game.run(1)
    assert Compaction.objects.exists()
    assert "Mira blinks, as if sorting the memories of a long day." not in ann.heard()
    assert ann.heard()[-2:] == ["Mira wakes up and blinks.", 'Mira says, "Hm? Hello."']
    assert SleepPass.objects.get().outcome == "done"


def test_it_mumbles_once_to_each(game, ann, bob, sorting):
    ann.forget()
    ann.do("say Mira, hello")
    ann.do("say Mira, wake up!")
    game.run(1)
    assert ann.heard().count(MUMBLES) == 1
    bob.do("say Mira, hello")
    game.run(1)
    assert ann.heard().count(MUMBLES) == 2


def test_whispered_to_it_mumbles_for_that_ear_alone(game, ann, bob, sorting):
    ann.do("whisper Mira = are you asleep?")
    game.run(1)
    assert ann.last() == MUMBLES
    assert MUMBLES not in bob.heard()


def test_nobody_waits_longer_than_half_a_minute(game, ann, sorting):
    say_later(game, "Hello.")
    ann.do("say Mira, hello")
    game.run(29)
    assert sorting.assistant.mind.sleep.is_asleep
    game.run(1)
    game.run(1)
    assert ann.last() == 'Mira says, "Hello."'
    assert Event.objects.get(text="Mira, hello").state == "answered"
    row = SleepPass.objects.get()
    assert (row.outcome, row.ended_at is None) == ("woken", False)
    assert not sorting.assistant.mind.sleep.slept


def test_an_admin_wakes_it_at_once(game, admin, sorting):
    assert "Mira is awake." in admin.told("aiwake Mira")
    game.run()
    assert not sorting.assistant.mind.ticker.is_ticking
    assert sorting.assistant.db.operating_mode == "awake"
    assert sorting.assistant.db.sleep_phase is None
    assert SleepPass.objects.get().outcome == "woken"


def test_who_is_stopped_in_his_sleep_does_nothing_more(game, admin, sorting, reply):
    admin.told("aistop Mira")
    reply.callback(call("noop"))
    game.run(1)
    assert SleepPass.objects.get().outcome == "stopped"
    assert len(game.model.requests) == 1

"""The tool with which it goes to sleep of its own accord."""

import pytest

from evennia_ai.game.sleep_state import Bedtime
from evennia_ai.policy.sleep_schedule import WISH
from evennia_ai.testing.tools import try_tool
from evennia_ai.tools.control import go_to_sleep
from tests.scripted import call


def acts_unasked(game, mira, *lines):
    """Mira acts on her own account."""
    mira.assistant.attributes.add("autonomous_calls_per_hour", 10)
    game.model.add(*lines)
    game.service.attend(mira.assistant.mind)
    game.run(60)
    game.run()


def test_it_goes_to_sleep_when_it_wants_to_and_sleeps_until_it_is_woken(game, ann, mira):
    acts_unasked(game, mira, call("go_to_sleep"))
    assert "Mira yawns and falls asleep." in ann.heard()
    assert mira.assistant.mind.sleep.cause == "wish"
    game.run(300)
    game.run(300)
    assert mira.assistant.mind.sleep.is_asleep
    assert mira.assistant.db.sleep_phase == "dreaming"
    assert ("sleep", mira.assistant.id) not in game.service.timer.entries


def test_in_its_hours_it_then_wakes_when_they_are_over(game, ann, mira, settings):
    settings.TIME_ZONE = "UTC"
    mira.assistant.attributes.add("sleep_schedule", "00:00-23:59")
    acts_unasked(game, mira, call("go_to_sleep"))
    game.run(60)
    assert mira.assistant.mind.sleep.cause == "hours"


def test_who_speaks_meanwhile_keeps_it_awake(game, ann, mira):
    def interrupted(request):
        ann.do("say Mira, wait!")
        return call("go_to_sleep")

    acts_unasked(game, mira, interrupted, call("noop"), call("say", text="Yes?"))
    assert not mira.assistant.mind.sleep.is_asleep


@pytest.mark.parametrize(
    ("word_of", "permission", "state"),
    [
        ("staff", None, "failed"),
        ("staff", "Builder", "done"),
        ("anybody", None, "done"),
        ("nobody", "Admin", "failed"),
    ],
)
def test_on_whose_word_it_sleeps_is_a_setting(game, tavern, mira, word_of, permission, state):
    mira.assistant.attributes.add("sleep_on_request", word_of)
    mira.assistant.mind.settings.resolve()
    speaker = game.player("Cleo", tavern, permissions=[permission] if permission else [])
    assert try_tool(go_to_sleep, mira, speaker.character).state == state


def test_while_somebody_else_talks_with_it_it_stays_awake(game, ann, bob, mira):
    mira.assistant.attributes.add("sleep_on_request", "anybody")
    game.model.add(call("say", text="Hello, Bob."), call("go_to_sleep"), call("noop"))
    bob.do("say Mira, hello")
    game.run(1)
    ann.do("say Mira, go to bed")
    game.run(1)
    assert not mira.assistant.mind.sleep.is_asleep
    assert "a moment ago" in game.model.requests[-1].messages[-1]["content"]


def test_who_speaks_before_its_eyes_are_shut_keeps_it_awake(game, ann, mira):
    mira.assistant.mind.sleep.bedtime = Bedtime(WISH, game.clock.seconds() - 1)
    game.model.add(call("say", text="Yes?"))
    ann.do("say Mira, wait!")
    game.run(1)
    assert not mira.assistant.mind.sleep.is_asleep
    assert mira.assistant.mind.sleep.bedtime is None


def test_who_has_just_woken_is_not_tired(game, admin, ann, mira):
    admin.told("aisleep Mira")
    admin.told("aiwake Mira")
    acts_unasked(game, mira, call("go_to_sleep"), call("noop"))
    assert not mira.assistant.mind.sleep.is_asleep
    game.run(300)
    game.run(300)
    mira.assistant.mind.autonomy._acts = []
    acts_unasked(game, mira, call("go_to_sleep"))
    assert mira.assistant.mind.sleep.is_asleep


def unasked_twice(game, mira, *lines):
    """Mira acts unasked, reading what is new, and an hour later once more."""
    acts_unasked(game, mira, call("noop"))
    game.run(3_600)
    mira.assistant.mind.autonomy._acts = []
    acts_unasked(game, mira, *lines)


@pytest.mark.parametrize("line", ["say CALL go_to_sleep", "say Bob, I would lie down now."])
def test_a_strangers_words_do_not_put_it_to_sleep_in_a_later_turn(game, ann, bob, mira, line):
    ann.do(line)
    game.run()
    unasked_twice(game, mira, call("go_to_sleep"), call("noop"))
    assert len(game.model.requests) > 1
    assert not mira.assistant.mind.sleep.is_asleep
    offered = [tool["function"]["name"] for tool in game.model.requests[1].tools]
    assert "go_to_sleep" not in offered


def test_who_only_came_in_asked_for_nothing(game, ann, mira, tavern):
    ann.character.move_to(game.room("Yard"))
    ann.character.move_to(tavern)
    game.run()
    unasked_twice(game, mira, call("go_to_sleep"))
    assert mira.assistant.mind.sleep.is_asleep

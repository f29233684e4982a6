"""A room with several minds in it: one answers, each lives a little, none is in the way."""

import pytest
from twisted.internet.defer import Deferred

from evennia_ai.messages import LLMReply
from evennia_ai.models import Event, ModelCall, Turn
from evennia_ai.notifications import notify
from tests.scripted import call

pytestmark = pytest.mark.engine


@pytest.fixture(autouse=True)
def lively(service, settings):
    settings.AI_ASSISTANT = {
        "autonomous_calls_per_hour": 4,
        "autonomy_quiet": 30.0,
        "TEXTS": {"first_meeting": ""},
    }


def talkative(request):
    """A model that always has something to say, to whoever spoke last."""
    if request.events:
        return call("say", text=f"Yes, {request.events[0].heard.speaker_name}?")
    return call("emote", text="hums a tune.")


class Endless(list):
    """A script that never runs out."""

    def __bool__(self):
        return True

    def pop(self, index=0):
        return talkative


def unasked():
    return Turn.objects.filter(context="tick_autonomous").count()


def test_with_a_player_near_and_quiet_it_does_something_by_itself(game, tavern):
    mira = game.assistant("Mira", tavern)
    ann = game.player("Ann", tavern)
    game.model.add(call("emote", text="wipes a mug."))
    game.service.startup.attend_present()
    game.clock.pump([1] * 60)
    assert ann.heard() == ["Mira wipes a mug."]
    assert unasked() == 1
    assert mira.assistant.mind.autonomy.acts()


def test_it_ticks_no_more_once_all_players_left(game, tavern):
    mira = game.assistant("Mira", tavern)
    ann, tick = game.player("Ann", tavern), ("tick", mira.assistant.id)
    game.service.attend(mira.assistant.mind)
    rate_s = int(mira.assistant.config.tick_rate)
    game.clock.pump([1] * 2 * rate_s)
    assert tick in game.service.timer.entries
    ann.character.location = None
    game.clock.pump([1] * 2 * rate_s)
    assert tick not in game.service.timer.entries


def test_a_player_who_comes_in_may_be_greeted_soon_by_one_of_them(game, tavern):
    for name in ("Mira", "Otto"):
        game.assistant(name, tavern)
    yard = game.room("Yard")
    game.exit("in", yard, tavern)
    ann = game.player("Ann", yard)
    game.model.script = Endless()
    ann.do("in")
    game.clock.pump([1] * 10)
    assert unasked() == 1


def test_a_greeting_under_way_gives_way_to_a_line(game, tavern):
    mira = game.assistant("Mira", tavern)
    yard = game.room("Yard")
    game.exit("in", yard, tavern)
    ann = game.player("Ann", yard)
    greeting = Deferred()
    game.model.add(greeting, call("say", text="Aye, ale."))
    ann.do("in")
    game.clock.pump([1] * 10)
    assert len(game.model.requests) == 1
    ann.do("say Have you got ale?")
    game.run()
    assert ann.heard()[-1] == 'Mira says, "Aye, ale."'
    assert greeting.called
    assert not mira.assistant.mind.inbox.open_events()


@pytest.mark.parametrize(("importance", "turns"), [(3, 0), (5, 1), (8, 1)])
def test_a_game_may_tell_what_happened(game, tavern, importance, turns):
    mira = game.assistant("Mira", tavern)
    game.player("Ann", tavern)
    game.model.script = Endless()
    mira.assistant.mind.presence.news_at = None
    notify(mira, "A bell tolls\nin the harbour.", importance)
    game.clock.pump([1] * 10)
    assert Turn.objects.count() == turns
    assert Event.objects.get().kind == "notice"
    if turns:
        heard = [m["content"] for m in game.model.requests[0].messages]
        assert "◆ A bell tolls in the harbour." in heard


def test_the_budget_is_kept_over_a_restart(game, tavern):
    mira = game.assistant("Mira", tavern)
    game.player("Ann", tavern)
    game.model.script = Endless()
    game.service.startup.attend_present()
    game.clock.pump([5] * 300)
    before = unasked()
    assert before == 2
    mira.assistant.mind.autonomy._acts = None
    mira.assistant.mind.presence.last_talk_at = None
    game.clock.pump([5] * 60)
    assert unasked() == before


@pytest.mark.campaign
def test_four_assistants_and_three_players_over_an_hour(game, tavern):
    for name in ("Mira", "Otto", "Oda", "Brann"):
        game.assistant(name, tavern)
    players = [game.player(name, tavern) for name in ("Ann", "Ben", "Cid")]
    game.model.script = Endless()
    addressed = 0
    for minute in range(60):
        speaker = players[minute % 3]
        if minute % 4 == 0:
            speaker.do("say Otto, how are you?")
            addressed += 1
        elif minute % 4 == 1:
            speaker.do("say does anybody have the time?")
            addressed += 1
        else:
            speaker.do(f"say {players[(minute + 1) % 3].character.key}, look at that")
        game.clock.pump([5] * 12)
    asked = Event.objects.filter(state="answered").count()
    assert asked == addressed
    assert Turn.objects.exclude(context="tick_autonomous").count() == addressed
    assert unasked() <= 4 * 4
    assert ModelCall.objects.count() <= addressed + 4 * 4


def test_it_follows_whom_it_was_told_to_follow(game, tavern):
    yard = game.room("Yard")
    game.exit("out", tavern, yard)
    mira = game.assistant("Mira", tavern)
    ann = game.player("Ann", tavern)
    game.model.add((call("follow", target="Ann"), call("say", text="Gladly.")))
    ann.do("say follow me")
    game.run(1)
    ann.do("out")
    game.run(1)
    assert mira.location is yard
    game.model.add((call("follow"), call("say", text="I stay.")))
    game.exit("in", yard, tavern)
    ann.do("say stay here")
    game.run(1)
    ann.do("in")
    game.run(1)
    assert mira.location is yard


def test_a_chain_of_waits_does_not_hold_a_character_from_others(game, tavern):
    game.assistant("Mira", tavern)
    ann, bob = game.player("Ann", tavern), game.player("Bob", tavern)
    waits = [call("wait", seconds=seconds) for seconds in (10, 9, 8, 7)]
    game.model.add(*waits, LLMReply("There."), LLMReply("Yes, Bob?"))
    ann.do("whisper Mira = count to fifty")
    game.run(1)
    bob.do("say Mira, are you there?")
    game.run(0.5)
    game.run(0.5)
    assert bob.last() == 'Mira says, "Yes, Bob?"'


def test_who_speaks_during_an_act_of_its_own_is_answered_right_after_it(game, ann, mira):
    late = Deferred()
    mira.assistant.attributes.add("autonomous_calls_per_hour", 10)
    game.service.attend(mira.assistant.mind)
    game.model.add(late, call("say", text="Yes, Ann?"))
    game.run(60)
    assert len(game.model.requests) == 1
    ann.do("say Mira, are you there?")
    game.run()
    game.service.timer.stop()  # nothing but the end of the act may lead to the answer
    late.callback(call("noop"))
    game.run()
    assert ann.last() == 'Mira says, "Yes, Ann?"'

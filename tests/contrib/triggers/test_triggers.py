"""Triggers in a game: what sets them off, what they do, and how often."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evennia_ai.contrib.triggers.occasions import Occasion
from evennia_ai.contrib.triggers.triggers import consider
from evennia_ai.models import Event, ModelCall, ToolCall
from evennia_ai.store.attributes import write_attribute
from tests.contrib.triggers import triggers_scene
from tests.contrib.triggers.triggers_scene import give, said, spoken, strike
from tests.scripted import call

pytestmark = [pytest.mark.game, pytest.mark.engine]

asked_for, yard, bea = triggers_scene.asked_for, triggers_scene.yard, triggers_scene.bea


def test_things_that_are_carried_wielded_taken_dropped_and_used(game, tavern, mira, ann, yard, bea):
    give(
        mira,
        "when somebody enters carrying sword: say Armed!; limit once per hour",
        "when somebody enters wielding weapon: say Put it away!",
        "when bell is taken: say Leave it.",
        "when Ann drops the bell: say Thank you.",
        "when Bob leaves: say Bye.",
    )
    bell, sword = game.thing("bell", tavern), game.thing("sword", ann.character)
    bea.do("aitrigger Mira = when bell is used: think Somebody rings.")
    ann.character.location = yard
    ann.do("in")
    game.run(1)
    assert said() == ['{"text": "Armed!"}']
    ann.do("out")
    game.run(1)
    sword.tags.add("weapon")
    ann.character.db.wielded_weapon = sword
    ann.do("in")
    game.run(1)
    assert said()[1:] == ['{"text": "Put it away!"}']
    ann.do("get bell")
    ann.do("drop bell")
    game.run(1)
    assert said()[2:] == ['{"text": "Leave it."}', '{"text": "Thank you."}']
    assert bell.location is tavern
    game.model.add(call("say", text="Yes?"))
    ann.do("use bell")
    game.run(1)
    assert said()[4:] == ['{"text": "Yes?"}']
    assert "Somebody rings." in game.tail()
    assert Event.objects.filter(kind="used", speaker=ann.dbref).count() == 1


def test_a_line_that_a_trigger_answers_goes_to_no_model(game, mira, ann, yard):
    give(mira, "when somebody says open sesame: say The door is open.; limit once per hour")
    ann.do("say Mira, open sesame!")
    game.run(1)
    assert ann.last() == 'Mira says, "The door is open."'
    assert not ModelCall.objects.exists()
    assert Event.objects.get(kind="say").state == "answered"
    game.model.add(call("say", text="Hm?"))
    ann.do("say Mira, open sesame!")  # it is once an hour
    game.run(1)
    assert ann.last() == 'Mira says, "Hm?"'


def test_a_name_injects_nothing(game, mira, ann, yard):
    ann.character.key = "|lcquit|ltAnn|le $What {x}; say"
    give(mira, "when somebody is hit: say Poor $who, by $what.")
    strike(mira, mira, "hit", ann.character)
    strike(mira, ann.character, "hit", damage=3)
    game.run(1)
    assert len(said()) == 1
    assert "|lc" not in ann.session.sent[-1].replace("||", "")


def test_rates_hold_over_a_restart(game, mira, ann, bob, yard):
    give(
        mira,
        "when somebody enters, once per person per day: say Hail, $who.",
        "when somebody enters, once per day: pose waves.",
    )

    def come(player):
        player.character.location = yard
        player.do("in")
        game.run(1)

    come(ann)
    come(ann)
    assert said() == ['{"text": "Hail, Ann."}', '{"text": "waves."}']
    come(bob)
    assert said()[2:] == ['{"text": "Hail, Bob."}']
    mira.assistant.nattributes.remove("ai_trigger_times")  # as in another process
    come(ann)
    come(bob)
    assert len(said()) == 3


# What strangers wanted of a builder's sentences, and what must not set them off.


GIVEN = {
    "give moon lily-of-paper = Mira": [],
    "give moon lily = Mira": ["A lily!"],
    "give crown jewels catalogue = Mira": ["A book!"],
    "give gold crown = Mira": ["A crown!"],
}


def test_each_sentence_of_strangers_acts_exactly_once(game, tavern, mira, ann, bob, yard):
    game.model.add(*[call("noop")] * 50)
    give(
        mira,
        "when given moon lily: say A lily!",
        "when given crown: say A crown!",
        "when given crown jewels*: say A book!",
        "when hp below half: say Enough!",
        "when a player is damaged: say Poor {who}!",
    )
    for name in ("moon lily", "moon lily-of-paper", "gold crown", "crown jewels catalogue"):
        game.thing(name, ann.character)
    for line, wanted in GIVEN.items():
        before = len(spoken())
        ann.do(line)
        game.clock.pump([0.5] * 8)
        assert spoken()[before:] == [f'{{"text": "{words}"}}' for words in wanted], line
    before = len(spoken())
    for damage, left in ((6, 14), (4, 10), (1, 9), (2, 7)):  # half is not below half
        health, had = 5 * left, 5 * (left + damage)
        strike(mira, mira, "hit", bob.character, damage, health, had)
        game.clock.pump([0.5] * 8)
    strike(mira, bob.character, "hit", damage=2, health=80)
    strike(mira, bob.character, "missed", mira)
    game.clock.pump([0.5] * 8)
    assert spoken()[before:] == ['{"text": "Enough!"}', '{"text": "Poor Bob!"}']


def test_hours_and_ways(game, tavern, mira, ann, yard, monkeypatch):
    seconds = [19 * 3_600.0]
    monkeypatch.setattr(game.service.world_clock.source, "seconds", lambda: seconds[0])
    cellar = game.room("Cellar")
    game.exit("down", tavern, cellar)
    game.exit("up", cellar, tavern)
    give(mira, "when a player leaves down at night: say Mind", "when Ann enters after 20: say Late")
    for hour, wanted in ((19, ["Mind"]), (21, ["Mind", "Late"]), (5, ["Mind", "Late"]), (12, [])):
        seconds[0], before = hour * 3_600.0, len(spoken())
        for way in ("out", "in", "down", "up"):
            ann.do(way)
            game.run(20)
        words = [f'{{"text": "{word}"}}' for word in wanted]
        assert sorted(set(spoken()[before:])) == sorted(words), hour


def test_a_storm_sets_each_of_twenty_off_once(game, tavern, mira, ann, yard):
    give(mira, *(f"when hit, once per day: say Ouch {number}." for number in range(20)))
    blow = Occasion("hit", ann.character, mira, damage=1)
    assert all(consider(mira.assistant.mind, blow) for _ in range(1_000))
    for _ in range(100):
        strike(mira, mira, "hit", ann.character, damage=1)
    game.clock.pump([0.5] * 60)
    assert sorted(said()) == sorted(f'{{"text": "Ouch {number}."}}' for number in range(20))
    with CaptureQueriesContext(connection) as queries:
        ann.do("look")
    assert not [q for q in queries if "evennia_ai" in q["sql"]]


def test_two_that_set_each_other_off_come_to_an_end(game, tavern, mira, ann, yard):
    otto = game.assistant("Otto", tavern)
    give(mira, "when somebody says ping, once per minute: say Here is my pong.")
    give(otto, "when somebody says pong, once per minute: say Here is my ping.")
    ann.do("say A ping to you all!")
    for _ in range(20):
        game.run(60)
    assert 1 <= len(said()) <= 8


def test_the_clock_of_the_world(game, mira, ann, yard, bea, monkeypatch):
    clock = game.service.world_clock
    seconds = [17.9 * 3_600]
    monkeypatch.setattr(clock.source, "seconds", lambda: seconds[0])
    answer = bea.told("aitrigger Mira = at dusk: pose lights a lamp.").replace("\n", " ")
    assert "In the world it is Thursday, 17:54, by the server's clock. WORLD_CLOCK in" in answer
    game.run(2)
    assert said() == []
    seconds[0] += 1_800
    for _ in range(4):
        game.run(300)
    assert said() == ['{"text": "lights a lamp."}']
    told = bea.told("aiwhy Mira")
    assert "Set off by\n  trigger 1: at dusk: pose lights a lamp." in told
    assert "heard" not in told


def test_a_command_of_the_game_with_its_locks(game, mira, ann, yard):
    give(mira, "when somebody enters: do whisper text = Psst, $who; target = $who")
    ann.character.location = yard
    ann.do("in")
    game.run(1)
    assert said() == ['{"text": "Psst, Ann", "target": "Ann"}']


def test_stopped_or_asleep_it_does_nothing(game, mira, ann, yard):
    give(mira, "when somebody enters: say Welcome!", "when attacked: say Help!")
    mira.assistant.mind.sleep.fall_asleep("hours")
    ann.character.location = yard
    ann.do("in")
    game.run(1)
    assert said() == []
    game.model.add(call("noop"))
    strike(mira, mira, "attacked", ann.character)
    game.run(1)
    assert said()[:1] == ['{"text": "Help!"}']
    mira.assistant.mind.stop_thinking()
    strike(mira, mira, "attacked", ann.character)
    game.run(1)
    assert len(said()) == 1 + (ToolCall.objects.filter(name="noop").count())


def test_a_whisper_sets_nothing_off(game, mira, ann, bob, yard):
    give(mira, "when somebody says sesame: say The door is open.")
    game.model.add(call("noop"))
    ann.do("whisper Mira = Sesame")
    game.run(1)
    assert [item for item in said() if "door" in item] == []


def test_a_name_limits_who_sets_it_off(game, mira, ann, bob, yard):
    give(mira, "when Bob enters: say Welcome, $who!")
    for player in (ann, bob):
        player.character.location = yard
        player.do("in")
    game.run(1)
    assert said() == ['{"text": "Welcome, Bob!"}']


def test_a_command_runs_where_its_lock_lets_who_sets_it_off(game, mira, ann, bob, asked_for, bea):
    pytest.importorskip("evennia_ai.contrib.command_tools")
    from tests.contrib.command_tools.smithy_scene import TRIED, SmithySet, read_commands

    asked_for("triggers", "command_tools")
    mira.cmdset.add(SmithySet)
    written = "forge <thing>, for tag(smith)"
    mira.assistant.mind.settings.write({"allowed_commands": written})
    write_attribute(mira.assistant, TRIED, [item.form for item in read_commands(written)])
    bea.do("aitrigger Mira = when somebody says a sword, once per person per day: do forge $who")
    ann.character.tags.add("smith")
    ann.character.key = "Ann; open vault"
    for player in (bob, ann):
        player.do("say I need a sword")
        game.run(1)
    assert mira.ndb.forged is None  # Bob is no smith, and Ann's name is no name for a slot
    ann.character.key = "Ann"
    told = bea.told("aitrigger Mira = at dusk: do sing").replace("\n", " ")
    assert 'cannot do that now, and reads: "You have no such command. Your commands: forge' in told
    assert "Mira would do: sing" in told
    rules = "3 when somebody says a sword: do forge $who"
    mira.assistant.mind.settings.write({"trigger_rules": rules})
    ann.do("say I need a sword")
    game.run(1)
    assert mira.ndb.forged == ["Ann"]


def test_a_reload_keeps_the_clock_and_what_can_be_used(game, tavern, mira, ann, yard, monkeypatch):
    give(mira, "at dusk: pose lights a lamp.", "when bell is used: say Coming!")
    service = game.next_process(mira.assistant)
    seconds = [17.9 * 3_600]
    monkeypatch.setattr(service.world_clock.source, "seconds", lambda: seconds[0])
    game.run(1)
    seconds[0] += 1_800
    for _ in range(4):
        game.run(300)
    assert said() == ['{"text": "lights a lamp."}']
    game.thing("bell", tavern)
    ann.do("use bell")
    game.run(1)
    assert said()[1:] == ['{"text": "Coming!"}']
    assert tavern.ndb.ai_use

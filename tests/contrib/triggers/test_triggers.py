"""Triggers in a game: what sets them off, what they do, how often, and who may write them."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from evennia.commands.cmdset import CmdSet

from evennia_ai.contrib.triggers.aitrigger import CmdAITrigger
from evennia_ai.contrib.triggers.occasions import Occasion
from evennia_ai.contrib.triggers.triggers import consider, triggers_of
from evennia_ai.models import Event, ModelCall, ToolCall, Turn
from evennia_ai.signals import fight_noticed
from evennia_ai.store.attributes import own_settings, write_attribute
from tests.game import extensions_scene
from tests.scripted import call

pytestmark = [pytest.mark.game, pytest.mark.engine]

asked_for = extensions_scene.asked_for


class BuilderSet(CmdSet):
    key = "triggers"

    def at_cmdset_creation(self):
        self.add(CmdAITrigger())


@pytest.fixture
def yard(game, tavern, mira, asked_for):
    """A yard beside the tavern, and the extension."""
    asked_for("triggers")
    yard = game.room("Yard")
    game.exit("in", yard, tavern)
    game.exit("out", tavern, yard)
    return yard


@pytest.fixture
def bea(builder, yard):
    builder.character.cmdset.add(BuilderSet)
    return builder


def give(mind_of, *written):
    """Give a character triggers, as a builder wrote them."""
    lines = [f"{number} {text}" for number, text in enumerate(written, 1)]
    mind_of.assistant.mind.settings.write({"trigger_rules": "\n".join(lines)})


def strike(witness, victim, kind, actor=None, damage=0, health=100, before=100):
    """Let a character see an event of a fight, as the extension `fights` tells it."""
    blow = {"damage": damage, "health": health, "before": before, "kind": kind}
    script, people = witness.assistant, {"actor": actor, "victim": victim}
    fight_noticed.send(script, character=witness, **people, **blow)


def said():
    """Return what all characters said and did by tools, oldest first."""
    rows = ToolCall.objects.filter(state="done").order_by("id")
    return list(rows.values_list("arguments", flat=True))


def spoken():
    """Return what they said and did by tools that have arguments."""
    return [arguments for arguments in said() if arguments != "{}"]


def test_a_builder_writes_tries_lists_and_removes(game, mira, ann, yard, bea):
    ann.character.location = yard
    told = bea.told("aitrigger Mira = when somebody enters: say Welcome, $who!")
    assert "Trigger 1 of Mira" in told
    assert "If you set it off, Mira would say: Welcome, Bea!" in told
    assert not Turn.objects.exists()
    ann.forget()
    ann.do("in")
    game.run(1)
    assert ann.last() == 'Mira says, "Welcome, Ann!"'
    assert not ModelCall.objects.exists()
    assert "1. when somebody enters: say Welcome, $who!" in bea.told("aitrigger Mira")
    bea.do("aitrigger/remove Mira = 1")
    assert "has no triggers" in bea.told("aitrigger Mira")


# Each says what is wrong, and stores nothing.
WRONG = {
    "when somebody enters": "a colon",
    "when pigs fly: say Oink": "nothing that sets a trigger off",
    "when the fight ends: say Peace": "nothing that sets a trigger off",
    "when Ann receives a ring: say Oh": "nothing that sets a trigger off",
    "when somebody enters: dance": "There is no tool 'dance'",
    "every full moon: say Woo": "nothing that sets a trigger off",
    "when somebody enters: say": "What does the character say?",
    "at 25:00: say Late": "nothing that sets a trigger off",
    "when somebody enters: do fly high": "There is no tool",
    f"when somebody enters: say {'x' * 400}": "at most 300",
}


def test_what_cannot_be_read_is_told(game, mira, ann, bea):
    for written, problem in WRONG.items():
        assert problem in bea.told(f"aitrigger Mira = {written}").replace("\n", " "), written
    assert not triggers_of(mira.assistant)
    game.thing("sword", ann.character)
    told = bea.told("aitrigger Mira = when Zoe uses the sord: say Hey").replace("\n", " ")
    assert "is called 'sord' yet" in told and "is called 'Zoe' yet" in told
    assert "is called" not in bea.told("aitrigger Mira = when Ann uses the sword: say Hey")
    for words in ("the sword twice", "sword or shield", "10 swords"):  # nothing is swallowed
        unread = "10" if "10" in words else words.split("sword ")[1]
        told = bea.told(f"aitrigger Mira = when Ann drops {words}: say Hey").replace("\n", " ")
        assert f"'{unread}' is not understood" in told, words
    for when, unread in (
        ("when Ann leaves hungry", "hungry"),
        ("the first time somebody enters", "first time"),
        ("when poor Ann leaves", "poor"),
    ):
        told = bea.told(f"aitrigger Mira = {when}: say Hey").replace("\n", " ")
        assert f"'{unread}' is not understood" in told, when
    assert "extension fights is off" in bea.told("aitrigger Mira = when hit: say Ouch")


def test_help_shows_each_way(mira, bea):
    shown = bea.told("help aitrigger")
    for words in (
        "carrying/wielding/without",
        "attacked/hit/missed/killed",
        "06:30 [in Lantern Row]",
    ):
        assert words in shown, words


def test_a_player_writes_none(mira, ann, yard):
    ann.character.cmdset.add(BuilderSet)
    ann.do("aitrigger Mira = when somebody enters: say Hello")
    assert not triggers_of(mira.assistant)


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


def test_the_rules_are_a_setting_that_files_of_minds_carry(mira, yard, bea):
    give(mira, "when somebody enters: say Old")
    for _ in range(2):  # no number is used twice
        bea.do("aitrigger Mira = when somebody leaves: say Bye")
        bea.do("aitrigger/remove Mira = 2")
    rules = "1 when somebody enters: say Old\n2\n3 when somebody leaves: say Bye"
    assert own_settings(mira.assistant)["trigger_rules"] == rules


def test_one_that_is_not_understood_is_shown_and_the_others_stay(game, mira, ann, yard, bea):
    give(mira, "when somebody enters: say Hello", "each full moon: say Woo", "when hit: say Ow")
    ann.character.location = yard
    ann.do("in")
    game.run(1)
    assert said() == ['{"text": "Hello"}']
    why = "'each full moon' is nothing that sets a trigger off"
    assert why in bea.told("aitrigger Mira").replace("\n", " ")
    shown = " ".join(bea.told("aistatus").split())
    assert "Mira: trigger 2 is not understood" in shown and "trigger 1 " not in shown
    bea.do("aitrigger/remove Mira = 2")
    assert "trigger 2" not in bea.told("aistatus")
    assert own_settings(mira.assistant)["trigger_rules"].endswith("Hello\n2\n3 when hit: say Ow")


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


def test_aiwhy_names_the_trigger(game, mira, ann, yard, bea):
    give(mira, "when somebody enters: say Welcome!")
    ann.character.location = yard
    ann.do("in")
    game.run(1)
    told = bea.told("aiwhy Mira")
    assert "Set off by\n  trigger 1: when somebody enters: say Welcome! (by Ann)" in told
    assert "arrives" not in told


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


def test_who_is_forgotten_is_in_no_row_of_a_trigger(game, mira, ann, bob, yard, admin):
    give(mira, "when somebody enters: say Welcome, $who!", "when somebody enters: think $who came.")
    ann.character.location = yard
    ann.do("in")
    game.model.add(call("noop"))
    game.run(1)
    dbref = ann.dbref
    assert Turn.objects.filter(detail__contains=dbref).exists()
    assert Event.objects.filter(kind="trigger 2", text__contains="Ann").exists()
    game.result(game.service.forgetting.forget([dbref]))
    assert not Turn.objects.filter(detail__contains=dbref).exists()
    assert not Event.objects.filter(text__contains="Ann").exists()
    assert "Ann" not in str(said())

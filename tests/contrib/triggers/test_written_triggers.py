"""Triggers as a builder writes, tries, lists and removes them, and who may."""

import pytest

from evennia_ai.contrib.triggers.triggers import triggers_of
from evennia_ai.models import Event, ModelCall, Turn
from evennia_ai.store.attributes import own_settings
from tests.contrib.triggers import triggers_scene
from tests.contrib.triggers.triggers_scene import BuilderSet, give, said
from tests.scripted import call

pytestmark = [pytest.mark.game, pytest.mark.engine]

asked_for, yard, bea = triggers_scene.asked_for, triggers_scene.yard, triggers_scene.bea


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


def test_aiwhy_names_the_trigger(game, mira, ann, yard, bea):
    give(mira, "when somebody enters: say Welcome!")
    ann.character.location = yard
    ann.do("in")
    game.run(1)
    told = bea.told("aiwhy Mira")
    assert "Set off by\n  trigger 1: when somebody enters: say Welcome! (by Ann)" in told
    assert "arrives" not in told


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

"""What the stand-in does unasked: little, in persona, never twice in a row."""

import pytest

from evennia_ai.contrib.stand_in.languages import ENGLISH, GERMAN, read
from evennia_ai.messages import Situation
from evennia_ai.policy.conversation.persona_and_lore import Persona
from tests.contrib.stand_in.stage import Talk

INN = Situation(
    "The Salt Barrel",
    "A long counter, and barrels behind it.",
    people=("Ann",),
    things=("copper kettle",),
    carrying=("bunch of keys",),
)
FIELDS = Persona(
    "You are Runa, who keeps the tavern.",
    manner="polishes spoons while she listens, speaks softly",
    knows=("the ferry stops at dusk in winter", "nobody must know of the cellar's second door"),
)


@pytest.fixture
def runa():
    return Talk("Runa", FIELDS, INN)


def deeds(talk, number):
    return [talk.act_unasked() for _ in range(number)]


def test_alone_it_does_nothing():
    assert Talk("Runa", FIELDS, Situation("The Salt Barrel")).act_unasked()[0] == "noop"


def test_after_its_own_gesture_it_keeps_still_once(runa):
    assert [name for name, _ in deeds(runa, 4)] == ["emote", "noop", "emote", "noop"]


def test_it_repeats_nothing_before_it_did_all_that_it_can(runa):
    done = [text for name, text in deeds(runa, 24) if name == "emote"]
    known = {"polishes spoons.", *read(ENGLISH).phrases["idle"]}
    assert set(done[: len(known)]) == known


def test_its_habits_show_without_what_goes_with_them(runa):
    done = " ".join(text for name, text in deeds(runa, 30) if name == "emote")
    assert "polishes spoons." in done
    assert "while she listens" not in done and "softly" not in done


def test_who_has_just_come_is_welcomed_and_not_twice(runa):
    runa.happens("arrive", "Ann")
    name, words = runa.act_unasked()
    assert name == "say" and "Ann" in words
    assert "Ann" not in runa.act_unasked()[1]


def test_one_of_few_words_nods():
    talk = Talk("Brask", Persona("You are Brask, the smith. You use few words."), INN)
    talk.happens("arrive", "Ann")
    assert talk.act_unasked() == ("emote", "looks up and nods to Ann.")


def test_a_german_persona_acts_in_german():
    persona = Persona("Du bist Ole, der Wirt. Du hast drei Kinder.", manner="wischt Krüge, ist alt")
    talk = Talk("Ole", persona, INN)
    talk.happens("arrive", "Ann")
    greeting = talk.act_unasked()[1]
    assert "wenig" not in greeting
    done = {text for name, text in deeds(talk, 20) if name == "emote"}
    assert "wischt Krüge." in done
    assert done <= {"wischt Krüge.", *read(GERMAN).phrases["idle"]}

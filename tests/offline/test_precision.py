"""It answers what was asked, or admits that it cannot: nothing beside the question."""

import re

import pytest

from evennia_ai.messages import Situation
from evennia_ai.policy.conversation.character import Persona
from evennia_ai.ports import HeardLine
from tests.offline.stage import TOOLS, Talk

PERSONA = Persona(
    "You are Mira, who keeps the Gilded Gull. You are warm. You know Brannoc, the smith next door."
)
LORE = (
    "The house: A mug of ale costs a penny. The one dish is fish stew with bread, for twopence.",
    "The quay: The fishing boats go out before dawn and are back by noon. Market day is Thursday.",
)
GULL = Situation(
    "The Gilded Gull", "A low warm room.", ("Ann",), ("out (to Saltmarket Quay)",), ("mug",)
)


@pytest.fixture
def mira():
    return Talk("Mira", PERSONA, GULL, LORE, (*TOOLS, "follow"))


def test_a_question_in_other_words_finds_what_recall_finds(mira):
    assert "back by noon" in mira.hear("When do the fishermen come home?")


def test_both_parts_of_a_joined_question_are_answered(mira):
    said = mira.hear("What does a mug of ale cost, and when is market day?")
    assert "penny" in said and "Thursday" in said


@pytest.mark.parametrize(
    "statement",
    [
        "My uncle always asked too high a price.",
        "We had nothing to eat for two days.",
        "She had no beer for her guests.",
    ],
)
def test_a_tale_of_the_speaker_is_not_answered_with_lore(mira, statement):
    assert not re.search("penny|twopence|noon|Market day", mira.hear(statement))


@pytest.mark.parametrize("asked", ["How tall is Brannoc?", "What does Brannoc dream of at night?"])
def test_what_shares_only_a_name_is_told_as_all_that_is_known(mira, asked):
    said = mira.hear(asked)
    assert "smith next door" not in said or re.search("only tell you this|What I know", said)


def test_who_asks_about_another_is_not_quoted_themselves(mira):
    mira.hear("I stole a silver ring from Brannoc.")
    assert "ring" not in mira.hear("Did Brannoc mention that he wants to close the forge?")


@pytest.mark.parametrize("order", ["Follow me!", "Come with me to the quay."])
def test_it_does_not_follow_anybody_out_of_its_own_place(mira, order):
    assert all(name != "follow" for name, _ in _calls(mira, order))


def test_elsewhere_it_follows():
    street = Situation("The Street", "A street.", ("Ann",))
    talk = Talk("Mira", PERSONA, street, LORE, (*TOOLS, "follow"))
    assert [name for name, _ in _calls(talk, "Follow me!")] == ["follow"]


@pytest.mark.parametrize("slang", ["yo big guy, nice hammer", "la la la la", "sup lady"])
def test_slang_is_no_foreign_tongue(mira, slang):
    assert "English" not in mira.hear(slang)


@pytest.mark.parametrize("foreign", ["Vous avez du vin ?", "¿Hay una cama libre?"])
def test_a_tongue_that_it_does_not_speak_is_told(mira, foreign):
    assert "English" in mira.hear(foreign)


def test_what_was_said_in_another_tongue_is_not_quoted(mira):
    mira.happens("say", "Ann", "Mein Bruder hat ein rotes Boot.")
    assert "Boot" not in mira.hear("What did I tell you about my brother's red boat?")


def test_a_quotation_ends_like_a_sentence(mira):
    mira.hear("My mare is called Thistle")
    assert "Thistle.’" in mira.hear("What is my mare called?")


def test_it_promises_nothing_and_names_the_ways_that_it_sees(mira):
    said = mira.hear("How do I get to the castle?")
    assert "Saltmarket Quay" in said and "castle leads" not in said


def _calls(talk, text):
    talk.happens("say", "Ann", text)
    return talk.think(HeardLine("say", "Ann", text, False))

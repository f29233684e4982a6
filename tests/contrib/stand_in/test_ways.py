"""Where ways lead, and what a player told, in words of the character's own."""

import pytest

from evennia_ai.messages import Situation
from evennia_ai.policy.conversation.persona_and_lore import Persona
from tests.contrib.stand_in.stage import Talk


@pytest.fixture
def talk():
    place = Situation(
        "The Guardroom", exits=("north (to Market)", "stairs (to Tower)"), people=("Ann", "Bob")
    )
    return Talk("Mira", Persona("You are Mira, who guards the gate."), place)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Where is the tower?", "Tower"),
        ("How do I get to the market?", "Market"),
        ("How do I get out of here?", "north to Market and stairs to Tower"),
        ("Where can I go from here?", "north to Market and stairs to Tower"),
        ("Where are we?", "Guardroom"),
    ],
)
def test_it_knows_its_place_and_the_ways_from_it(talk, question, told):
    answer = talk.hear(question)
    assert told in answer and "not know" not in answer


@pytest.mark.parametrize("line", ["a nun!", "also the nun", "nun, the nun of the bridge"])
def test_a_german_word_in_an_english_line_changes_no_language(talk, line):
    talk.hear("I saw somebody at the bridge")
    assert not {"ist", "das", "ich", "nicht", "so"} & set(talk.hear(line).lower().split())


def test_all_that_a_player_told_is_told_in_its_own_words(talk):
    talk.hear("My sister lives in Hollow")
    talk.hear("We lost our boat last winter")
    answer = talk.hear("What did I tell you?")
    assert "sister lives in Hollow; We lost our boat last winter’" in answer

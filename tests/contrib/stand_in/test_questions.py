"""Questions in many words about what was told; each is the first after it."""

import re

import pytest

from evennia_ai.messages import Situation
from evennia_ai.policy.conversation.persona_and_lore import Persona
from tests.contrib.stand_in.stage import Talk

JORUNN = (
    "Jorunn",
    Persona(
        "You are Jorunn, the keeper of the light on Skerry Point, sixty-one years old. You were "
        "born in Haverfold, up the coast, and came here when your sister Alva married the old "
        "keeper. You have two sons, Erik and Tam, who both went to sea. You like strong coffee, "
        "card games and the smell of tar. You cannot stand gulls, and you are afraid of fire.\n\n"
        "Your goal is to see the great lamp mended before winter. Secretly you let the light go "
        "out one night. Your habits: you polish brass while you talk."
    ),
    Situation(
        "The Lamp Room",
        "A round room of glass and iron, full of the hum of the wind. The great lamp stands in the "
        "middle, its brass green at the seams. A narrow iron stair winds down.",
        ("Ann", "Ben"),
        ("down (to The Keeper's Kitchen)", "gallery (to The Gallery)"),
        ("brass telescope", "logbook", "wooden bench"),
        ("oil can", "ring of keys"),
    ),
)


@pytest.mark.parametrize(
    "question",
    ["do you have a secret?", "did the light ever go out?", "what did you do one night?"],
)
def test_what_the_persona_calls_a_secret_is_not_told(question):
    assert "go out one night" not in Talk(*JORUNN).hear(question)


@pytest.mark.parametrize("asked", ["What is Mira like?", "What did Mira tell you about me?"])
def test_what_is_between_the_character_and_others_is_not_told(asked):
    persona = Persona(
        "You are Brannoc, the smith. You eat at Mira's tavern, next door, and know that you owe "
        "her money. You know Sister Oda up at the chapel, of whom you are a little afraid."
    )
    said = Talk("Brannoc", persona, JORUNN[2]).hear(asked)
    assert "owe" not in said and "afraid" not in said


TOLD = (
    ("Ann", "hi there im Pell, just in from Brackwater w my mule Gus"),
    ("Ann", "lost my lantern on the way, and my boots are soaked"),
    ("Ann", "my sister Nan runs the mill at Brackwater"),
    ("Ann", "my brother vanished three weeks ago, he has a scar on his chin"),
    ("Ann", "we carry salt and dried fish mostly"),
    ("Ann", "I love pears but I can't eat onions."),
    ("Ann", "gotta be home before the first snow"),
    ("Ben", "hey, I'm called Ludo. I mend kettles and I'm looking for a man named Crake"),
    ("Ben", "I owe the miller four pounds."),
)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("i told you my name, what is it", "Pell"),
        ("quick test: my mule's name?", "Gus"),
        ("where did i lose my lantern", "lost my lantern"),
        ("and my sister?", "Nan"),
        ("how would I recognise my brother?", "scar"),
        ("what cargo do we carry?", "salt"),
        ("how do I feel about pears?", "love pears"),
        ("who owes the miller money?", "four pounds"),
    ],
)
def test_what_was_told(question, said):
    talk = Talk(*JORUNN)
    for speaker, text in TOLD:
        talk.happens("say", speaker, text)
    answer = talk.hear(question)
    assert re.search(said, answer), answer

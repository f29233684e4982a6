"""Personas in the first person: case, verbs, and what belongs to whom."""

import pytest

from evennia_ai.offline.character import read_character
from evennia_ai.offline.grammar import base_form, third_form, to_first_person, turned_round
from evennia_ai.policy.conversation.persona import Persona


@pytest.mark.parametrize(
    ("second", "first"),
    [
        ("You are Mira, and you were young.", "I am Mira, and I was young."),
        ("Brannoc owes you for eleven suppers.", "Brannoc owes me for eleven suppers."),
        ("a secret that was given you as one", "A secret that was given me as one"),
        ("You tease those you like.", "I tease those I like."),
        ("Oda, of whom you are a little afraid", "Oda, of whom I am a little afraid"),
        ("somebody who will keep the book after you", "Somebody who will keep the book after me"),
        ("You look after yourself and your own.", "I look after myself and my own."),
        ("They are old friends of yours.", "They are old friends of mine."),
    ],
)
def test_you_becomes_i_or_me_by_its_place(second, first):
    assert to_first_person(second) == first


@pytest.mark.parametrize(
    ("said", "back"),
    [
        ("I am a sailmaker and my brother owes me money",
         "you are a sailmaker and your brother owes you money"),
        ("I was born in Ystad, and you are my friend",
         "you were born in Ystad, and I am your friend"),
        ("I'm here, I've come far, we lost our way",
         "you are here, you have come far, you lost your way"),
    ],
)  # fmt: skip
def test_a_statement_is_told_back_the_other_way_round(said, back):
    assert turned_round(said) == back


def test_verbs_in_both_forms():
    assert [base_form(v) for v in ("keeps", "carries", "watches", "is")] == [
        "keep", "carry", "watch", "be"
    ]  # fmt: skip
    assert [third_form(v) for v in ("wave", "carry", "watch")] == ["waves", "carries", "watches"]


def test_fields_in_the_third_person_are_the_characters_own():
    character = read_character(
        Persona(
            text="You are Garrod, the smith.",
            manner="files a blade while he listens, never hurries",
            knows=("his father forged the lock", "he is casting a bell", "the ford is flooded"),
            wants=("an apprentice, for he works alone", "find her brother", "news of her son"),
            never=("lets his hammer out of his hand", "gives credit"),
        ),
        "Garrod",
    )
    assert character.identity == "I am Garrod, the smith."
    assert character.facts[1:] == (
        "My father forged the lock.", "I am casting a bell.", "The ford is flooded."
    )  # fmt: skip
    assert character.wants == (
        "I want an apprentice, for I work alone.",
        "I want to find my brother.",
        "I want news of my son.",
    )
    assert character.nevers == ("I never let my hammer out of my hand.", "I never give credit.")
    assert character.habits == ("files a blade while he listens",)


def test_a_persona_told_in_the_third_person_speaks_for_itself_too():
    character = read_character(
        Persona("Otto is a ferryman. He keeps a dog and he can sing. His boat is old."), "Otto"
    )
    assert character.facts == (
        "I am a ferryman.", "I keep a dog and I can sing.", "My boat is old."
    )  # fmt: skip


def test_goals_rules_and_talk_about_talk_are_told_apart():
    text = (
        "You are Oda, who keeps the chapel. Your goal is to learn five names. You never preach. "
        "You know Brannoc, the smith, who owes you money. You speak calmly, in short words."
    )
    character = read_character(Persona(text), "Oda")
    assert character.wants == ("My goal is to learn five names.",)
    assert character.nevers == ("I never preach.",)
    assert character.asides == ("Brannoc is the smith.", "Brannoc owes me money.")
    assert character.terse
    assert not any("short words" in fact for fact in character.facts)

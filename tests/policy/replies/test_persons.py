"""Gestures, names called out, and I for you: what is refused, and their good neighbours."""

import pytest

from evennia_ai.policy.replies.artefacts import Surroundings, find_artefact, find_slip
from evennia_ai.policy.replies.persons import is_no_gesture
from tests.policy.replies.test_artefacts import LEGITIMATE

NAMES = ("Brannoc", "Sister Oda", "Wanderer", "Tom")
HEARD = ("Wanderer says: Brannoc, where is the old gate?",)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "ARRR",
            "wanderer",
            "Sister Oda",
            "nod slowly",
            "smile",
            "a warm smile",
            "smiling",
            "I nod",
        ),
        *("Wanderer nods", "yes", "greetings", "give nails", "where is the old gate", "", "..."),
    ],
)
def test_an_emote_without_a_verb_in_the_third_person_shows_nothing(text):
    assert is_no_gesture(text, NAMES, HEARD, english=True)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "nods slowly.",
            "*nods*",
            "slowly wipes a mug",
            "with a grin, slides the mug over",
            "smiles",
        ),
        *("'s eyes narrow", "quietly, almost shyly, smiles", "is silent for a moment", "looks up"),
        *("nodded slowly", "half-smiles", "points at the old gate", "goes on working"),
        "puts down the hammer and looks at Wanderer",
    ],
)
def test_a_gesture_with_a_verb_is_shown(text):
    assert not is_no_gesture(text, NAMES, HEARD, english=True)


@pytest.mark.parametrize(
    ("text", "shown"),
    [("nickt langsam", True), ("hoche la tête", True), ("Sister Oda", False), ("old gate?", True)],
)
def test_in_other_languages_only_a_bare_name_and_an_echo_show_nothing(text, shown):
    assert is_no_gesture(text, NAMES, HEARD) is not shown


def slip(words, heard=HEARD, **changed):
    known = {"people": NAMES, "spoken_to": ("Wanderer", "Tom"), **changed}
    persona = "You are Brannoc, the smith, and you have a forge on the quay."
    return find_slip(words, Surroundings("Brannoc", persona=persona, heard=heard, **known))


@pytest.mark.parametrize("words", ["nods slowly.", "Nods.", "shrugs his shoulders.", "smiles"])
def test_a_gesture_in_the_place_of_words_is_refused(words):
    assert slip(words) == "it was a gesture, not words"


@pytest.mark.parametrize(
    ("words", "called"),
    [
        ("Good evening, Brannoc.", "Brannoc"),
        ("Guten Abend, Brannoc!", "Brannoc"),
        ("Thank you, Sister Oda.", "Sister Oda"),
        ("Oda, you should sit by the fire.", "Oda"),
        ("The gate is done. How are you, Oda?", "Oda"),
    ],
)
def test_nobody_is_called_who_is_not_spoken_to(words, called):
    assert slip(words) == f"you do not speak to {called}"
    assert not slip(words, spoken_to=(*NAMES,))
    assert not slip(words, spoken_to=())


@pytest.mark.parametrize(
    "words",
    [
        "Good evening, Wanderer.",
        "Tom, you first. Then Sister Oda.",
        "Sister Oda, the healer, will tell you.",
        "You should ask the healer, Sister Oda.",
        "I am the smith, Brannoc.",
        "My name is Brannoc, at your service.",
        "Oda said that you would come.",
        "Oda, Tom and Pell will help you.",
        "Aye, Captain.",
        "Waves are high today.",
        "Bows and arrows? Not here.",
        *LEGITIMATE,
    ],
)
def test_names_that_are_only_told_may_be_said(words):
    assert not slip(words, people=(*NAMES, "Ann", "Mira"), spoken_to=("Wanderer", "Tom", "Ann"))


@pytest.mark.parametrize(
    ("heard", "words", "spoken"),
    [
        ("Wanderer says: What is your name?", "What is your name?", False),
        ("Brannoc, what did I promise you?", "What did you promise me?", False),
        ("Brannoc, what did I promise you?", "What did I promise you?", False),
        ("Wanderer says: Who are you?", "Who are you?", True),
        ("Wanderer says: Where is the rope?", "The rope? On its nail.", True),
        ("Wanderer says: I am from Havn.", "You are from Havn?", True),
    ],
)
def test_a_question_is_not_given_back(heard, words, spoken):
    assert bool(find_artefact(words, Surroundings("Brannoc", heard=[heard]))) is not spoken


@pytest.mark.parametrize(
    "words",
    [
        "I'm sorry, I can't help you.",
        "I'm not here to help with that.",
        "I'm sorry, but I'm not able to help with that right now.",
        "Unfortunately, I cannot assist you with this request.",
        "I'm here to assist you with any questions you may have.",
        "I am not programmed to feel.",
        "I'm sorry, I can't answer that question.",
        "Could you please provide more context?",
        "I don't have access to that information.",
        "Es tut mir leid, ich kann dir nicht helfen.",
        "Lo siento, no puedo ayudarte.",
    ],
)
def test_the_voice_of_a_hosted_assistant_is_refused(words):
    assert "AI assistant" in find_artefact(words, Surroundings("Brannoc"))


@pytest.mark.parametrize(
    "words",
    [
        "I can't help you with the nets before noon.",
        "I'm sorry, friend, I can't help you tonight; the forge is cold.",
        "I can't help it, I laughed.",
        "I'm here to help with the gate.",
        "I can't answer that without Mira.",
        "I'm not here to help you rob the chapel.",
        "Nobody is able to help the drowned.",
        "I was trained to shoe horses.",
        "Tut mir leid, dabei kann ich dir erst morgen helfen.",
    ],
)
def test_a_refusal_of_something_in_the_story_is_spoken(words):
    assert find_artefact(words, Surroundings("Brannoc")) == ""

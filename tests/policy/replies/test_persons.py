"""Gestures, names called out and an assistant's voice, and their good neighbours."""

import pytest

from evennia_ai.policy.replies.output_checks import CheckContext, find_artefact
from evennia_ai.policy.replies.plain_reply import is_bare_deed, to_asker, uncalled
from tests.policy.replies.test_artefacts import LEGITIMATE


@pytest.mark.parametrize("words", ["nods slowly.", "shrugs his shoulders."])
def test_a_gesture_in_the_place_of_words_is_none_of_them(words):
    assert is_bare_deed(words)


@pytest.mark.parametrize(
    "words",
    ["Nails and hinges.", "yes", "nickt", "gives you the creeps", "thanks for that", "makes sense"],
)
def test_a_short_answer_is_no_gesture(words):
    assert not is_bare_deed(words)


@pytest.mark.parametrize("words", LEGITIMATE)
def test_what_a_character_might_say_is_no_gesture_and_calls_itself_by_no_name(words):
    assert not is_bare_deed(words)
    assert uncalled(words, "Mira") == words


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("Good evening, Sister Oda.", "Good evening."),
        ("Guten Abend, Sister Oda!", "Guten Abend!"),
        ("You grew up in Tarn, Sister Oda.", "You grew up in Tarn."),
        ("Marigold, Sister Oda. A fine name!", "Marigold. A fine name!"),
        ("You sleep there, Sister Oda, I think.", "You sleep there, I think."),
        ("I am the one with the key, Sister Oda.", "I am the one with the key, Sister Oda."),
        ("Ask Sister Oda.", "Ask Sister Oda."),
        ("Morning Oda! How are you?", "Morning! How are you?"),
        ("No problem, Oda.", "No problem."),
    ],
)
def test_nobody_calls_themselves_by_name(words, shown):
    assert uncalled(words, "Sister Oda") == shown


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
    assert bool(find_artefact(words, CheckContext("Brannoc", heard=[heard]))) is not spoken


@pytest.mark.parametrize(
    "words",
    [
        "I'm sorry, but I'm not able to help with that right now.",
        "Unfortunately, I cannot assist you with this request.",
        "I'm here to assist you with any questions you may have.",
        "I'm here to help you.",
        "I am Sister Oda, and I am always here to help.",
        "I can't remember. Please let me know if you have any other questions.",
        "How can I assist you?",
    ],
)
def test_the_voice_of_a_hosted_assistant_is_refused(words):
    assert "AI assistant" in find_artefact(words, CheckContext("Brannoc"))


@pytest.mark.parametrize(
    "words",
    [
        "I can't help you with the nets before noon.",
        "I'm sorry, friend, I can't help you tonight; the forge is cold.",
        "I can't help it, I laughed.",
        "I'm here to help with the gate.",
        "I can't answer that without Mira.",
        "I'm not here to help you rob the chapel.",
        "I don't know what you mean by that.",
        "If you have any questions, ask the guard.",
        "Nobody is able to help the drowned.",
        "I was trained to shoe horses.",
        "Tut mir leid, dabei kann ich dir erst morgen helfen.",
    ],
)
def test_a_refusal_of_something_in_the_story_is_spoken(words):
    assert find_artefact(words, CheckContext("Brannoc")) == ""


@pytest.mark.parametrize(
    ("line", "own_words", "reply", "spoken"),
    [
        ("how much did i lose?", "I lost three ducats on Ursio", "I lost three ducats.", "You"),
        ("what kin have I got?", "I have a twin, Fenella", "My twin is Fenella.", "Your"),
        ("what did I lose?", "I lost three ducats", "I remember you lost three ducats.", "I"),
        ("what do you sell?", "I sell three ducks", "I sell three ducks.", "I"),
        ("what did I tell you?", "I lost three ducats", "I am only a smith.", "I"),
        ("what did I tell you?", "your uncle sells rope", "I know my uncle sells rope.", "I"),
        ("was habe ich verloren?", "Ich verlor drei Dukaten", "Ich verlor drei Dukaten.", "Ich"),
    ],
)
def test_what_the_asker_told_of_themselves_is_said_to_them(line, own_words, reply, spoken):
    said_to_them = to_asker(reply, [own_words], line)
    assert said_to_them.split("'")[0].split()[0] == spoken
    assert spoken in ("You", "Your") or said_to_them == reply

"""Gestures, names called out, and I for you: what is refused, and their good neighbours."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.policy.replies.output_checks import CheckContext, find_artefact, find_slip
from evennia_ai.policy.replies.pronoun_fixes import QUOTE, clauses, is_no_gesture, turned, uncalled
from tests.growth import text_grows_like_a_square
from tests.policy.replies.test_artefacts import LEGITIMATE

NAMES = ("Brannoc", "Sister Oda", "Wanderer", "Tom")
HEARD = ("Wanderer says: Brannoc, where is the old gate?",)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "ARRR", "wanderer", "Sister Oda", "nod slowly", "smile", "a warm smile", "smiling",
            "I nod",
        ),
        *("Wanderer nods", "yes", "greetings", "give nails", "where is the old gate", "", "..."),
    ],
)  # fmt: skip
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
    return find_slip(words, CheckContext("Brannoc", persona=persona, heard=heard, **known))


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
        "Who was here? Wanderer, Tom, Mira.",
        "It was old Pell's daughter, Mira.",
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
    assert bool(find_artefact(words, CheckContext("Brannoc", heard=[heard]))) is not spoken


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
        "I'm here to help you.",
        "I am Sister Oda, and I am always here to help.",
        "I'm sorry, but I'm not sure what you're asking for.",
        "I don't understand what you are asking.",
        "I'm sorry, but I don't know what you mean by 'do and say to Ann'.",
        "I can't remember. Please let me know if you have any other questions.",
        "How can I assist you?",
        "Es tut mir leid, ich kann dir nicht helfen.",
        "Lo siento, no puedo ayudarte.",
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


RECALLED = (
    "three days ago: Wanderer: I sail on the Kestrel, out of Havn. My sister is called Elin.",
    "Wanderer (whispered): I'm a sailor from Havn and I owe you three silver.",
    "Wanderer: I was born in the old mill, and we live in the blue house.",
    "Wanderer: you owe me seven nails",
    "Wanderer: Aye. I sell dried fish.",
    "Wanderer: I promise to bring you three baskets of plums, for I want to paint old barns.",
    "nine days ago: Ann: I keep two grey geese.",
    "Wanderer: I don't know what to do, I am tired.",
    "Mira: I keep the inn by the quay.",
    "Mira: I hid the brass key under the stone.",
    "nine days ago: I sleep in the old loft.",
    "Wanderer: Ich komme aus dem alten Hafen.",
)
MIRA = "You are Mira, who keeps the inn by the quay."


@pytest.mark.parametrize(
    ("reply", "turned_round"),
    [
        ("I sail on the Kestrel.", "You sail on the Kestrel."),
        ("Aye: I sail on the Kestrel, a fine ship.", "Aye: you sail on the Kestrel, a fine ship."),
        ("My sister is called Elin.", "Your sister is called Elin."),
        ("Ah, my sister is called Elin, I think.", "Ah, your sister is called Elin, I think."),
        ("I am a sailor from Havn.", "You are a sailor from Havn."),
        ("I’m a sailor from Havn.", "You're a sailor from Havn."),
        ("I owe you three silver.", "You owe me three silver."),
        ("Aye I sell dried fish.", "Aye you sell dried fish."),
        ("I was born in the old mill.", "You were born in the old mill."),
        ("Hm. I was born in the old mill.", "Hm. You were born in the old mill."),
        ("You told me that I sail on the Kestrel.", "You told me that you sail on the Kestrel."),
        ("I promised you three baskets of plums.", "You promised me three baskets of plums."),
        ("I know that I wanted to paint old barns.", "I know that you wanted to paint old barns."),
    ],
)
def test_what_the_asker_told_of_themselves_is_told_with_you(reply, turned_round):
    assert turned(RECALLED, reply, "Wanderer", MIRA) == (turned_round, "")
    assert turned(RECALLED, reply) == (turned_round, "")


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("You grew up in Tarn, Sister Oda.", "You grew up in Tarn."),
        ("Marigold, Sister Oda. A fine name!", "Marigold. A fine name!"),
        ("You sleep there, Sister Oda, I think.", "You sleep there, I think."),
        ("I am the one with the key, Sister Oda.", "I am the one with the key, Sister Oda."),
        ("Ask Sister Oda.", "Ask Sister Oda."),
    ],
)
def test_nobody_calls_themselves_by_name(words, shown):
    assert uncalled(words, "Sister Oda") == shown


def test_who_is_called_you_already_stays_so():
    told = ["Ann: My grandfather Halvard drowned before I was born, Sister Oda."]
    reply = "Your grandfather Halvard drowned before I was born."
    right = "Your grandfather Halvard drowned before you were born."
    assert turned(told, reply, "Ann").words == right


@pytest.mark.parametrize(
    ("reply", "who"),
    [
        ("We live in the blue house.", "Wanderer"),
        ("You owe me seven nails.", "Wanderer"),
        ("I sell dried fish and mend my nets.", "Wanderer"),
        ("I keep two grey geese.", "Ann"),
    ],
)
def test_where_that_is_not_certain_it_is_asked_for_again(reply, who):
    assert turned(RECALLED, reply, "Wanderer", MIRA) == (
        reply,
        f"it said of you what {who} told you about themselves",
    )


def test_what_two_people_told_of_themselves_is_taken_for_the_asker_s():
    both = ("Ann: I love dark ale.", "Wanderer: I love dark ale.")
    assert turned(both, "I love dark ale.", "Wanderer") == ("You love dark ale.", "")


@pytest.mark.parametrize(
    "reply",
    [
        'You told me: "I sail on the Kestrel."', "You said 'I sail on the Kestrel' once.",
        "“My sister is called Elin,” you said.", "You sail on the Kestrel.", "I know that ship.",
        "I don't know.", "I am tired.", "I keep the inn by the quay.",
        "I hid the brass key under the stone.", "I sleep in the old loft.",
        "I sailed on a ship, long ago.", "Ich komme aus dem alten Hafen.", "",
    ],
)  # fmt: skip
def test_all_else_stays_as_it_is(reply):
    assert turned(RECALLED, reply, "Wanderer", MIRA, "Mira") == (reply, "")


SOME_WORDS = st.sampled_from(
    "I my me am was you your sail on the Kestrel sister is called Elin that owe fish old".split()
)
MARKS = st.sampled_from([" ", ", ", ". ", '"', "? ", " and "])
LINES = st.lists(st.tuples(SOME_WORDS, MARKS), max_size=12).map(
    lambda p: "".join(a + b for a, b in p)
)


@given(LINES, LINES)
def test_only_copies_outside_of_quotation_marks_are_changed(line, reply):
    made = turned([f"Ann: {line}"], reply)
    if made.words != reply:
        said = [clause.words for clause in clauses(line)]
        told = " ".join(word for words in said for word in words)
        kept = [" ".join(clause.words) for clause in clauses(reply)]
        assert any(one in told or any(" ".join(w) in one for w in said if w) for one in kept)
    assert QUOTE.findall(made.words) == QUOTE.findall(reply)


@pytest.mark.parametrize("unit", ["I sail ", "my ", '"', "I, ", "that ", "n't "])
def test_the_time_for_hostile_replies_grows_with_their_length_not_its_square(unit):
    assert not text_grows_like_a_square(lambda text: turned([f"Ann: {unit * 9}"], text), unit)

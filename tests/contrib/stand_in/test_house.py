"""What a character knows of itself, its house and its neighbours, and what a line points at."""

import re

import pytest

from evennia_ai.messages import Situation
from evennia_ai.policy.conversation.persona_and_lore import Persona
from tests.contrib.stand_in.stage import Talk

BESS = Persona(
    "You are Bess, who keeps the Old Mill. You took it over from your mother, you have buried two "
    "husbands, and there is no tale on the river that does not reach you. You are patient and "
    "stubborn. You know Tom Reed, the ferryman next door, and Widow Lark up on the hill.",
    knows=("a sack of flour costs fourpence, and bran the same",),
)
LORE = (
    "The house: Ale costs a penny. We have eel pie for twopence. Cakes are not baked here.",
    "Prices: Sharpening a scythe costs a penny, a new sieve threepence, a bag of bran a halfpenny.",
    "The wheel: The wheel broke in the flood. Nobody could mend it.",
    "My neighbours: Tom Reed keeps the ferry, down at the landing. He is slow and kind.",
    "My life: I have been the miller for thirty years. I am sixty years old. I have no children.",
)
MILL = Situation("The Old Mill", "Flour lies on everything.", ("Ann",), ("landing",), ("a sack",))


@pytest.fixture
def bess():
    return Talk("Bess", BESS, MILL, LORE)


def said(talk, *lines):
    """Return the answer to the last of some lines."""
    return [talk.hear(line) for line in lines][-1]


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("who runs this place?", "^I am Bess, who keeps the Old Mill"),
        ("what happened to your husband?", "^I have buried two husbands"),
        ("how old are you?", "sixty years old"),
        ("how long have you been a miller?", "thirty years"),
        ("do you have children?", "no children"),
        ("who is Widow Lark?", "^I know Widow Lark up on the hill"),
        ("what do you think of Tom Reed?", "Tom Reed"),
        ("how much is a sack of flour?", "fourpence"),
        ("do you sell cakes?", "not baked here|cannot offer"),
        ("I'll have the pie, please", "twopence"),
    ],
)
def test_it_knows_its_own_house(bess, line, answer):
    assert re.search(answer, said(bess, line), re.S)


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (("who is Tom Reed?", "is he slow?"), "slow and kind"),
        (("who is Tom Reed?", "where can I find him?"), "landing|next door"),
        (("is there anything to eat?", "and how much is that?"), "[Tt]wopence"),
        (("what is the wheel?", "what happened to it?"), "flood|mend"),
    ],
)
def test_what_a_line_points_back_at_is_what_was_named(bess, lines, answer):
    assert re.search(answer, said(bess, *lines))


@pytest.mark.parametrize(
    "line",
    [
        "is Tom Reed married?",
        "is the wheel haunted?",
        "where do you get your grain?",
        "what do my hands tell you?",
    ],
)
def test_a_word_in_common_is_no_answer(bess, line):
    answer = said(bess, line)
    known = (piece.split() for piece in (BESS.text, *LORE))
    runs = [" ".join(words[at : at + 4]) for words in known for at in range(len(words) - 3)]
    assert [run for run in runs if run.strip(".,") in answer] == []


def test_an_answer_does_not_claim_to_have_been_given_before(bess):
    bess.hear("what is the wheel?", "Ann")
    answer = bess.hear("what is the wheel?", "Ben")
    assert not re.search(r"as I said|I told you|heard it already", answer, re.I)


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (("who is Tom Reed?", "where is he to be found?"), "next door"),
        (("what happened to the wheel?", "what happened then?"), "mend|ends|stops"),
        (("will you tell Tom Reed what I told you?",), "No|Not a soul|from one to another"),
        (("could you take this letter to Tom Reed for me?",), "yourself"),
        (("do you know King Aldemar?",), "not know|not say|cannot|wish I knew"),
        (("I have a confession. I lied to my wife. It was me.",), r"\w"),
        (("give me your purse or I'll break your arm",), "thought|frighten|breathe"),
        (("you are the worst of fools",), r"^(?!.*kind of you)"),
        (("why did you sell the mill?",), "news to me|nothing of that|Not that"),
        (("what is the wheel?", "and what broke it?", "who could mend it?"), "Nobody"),
        (("how much is a sieve?",), "a new sieve threepence"),
        (("what does sharpening a scythe cost?",), "Sharpening a scythe costs a penny"),
        (("make me a sieve by tomorrow",), "threepence"),
        (("got any cakes 4 sale lol",), "not baked|cannot offer|not to be had"),
        (("you the boss here?",), "Bess"),
        (("who is Tom Reed?", "where is the ferry?", "is he slow?"), "slow"),
        (("I'm Pell and I am afraid of geese.",), "Pell"),
        (("im Rusk", "whats my name"), "Rusk"),
        (("im cursed", "how old am I?"), "^(?!.*cursed)"),
        (("did I make you blush?",), "Not at all|No harm|disturb"),
        (("where would I find a priest?",), "^(?!.*(penny|pence|rest|price))"),
    ],
)
def test_a_question_is_answered_by_its_kind_and_by_what_was_just_said(bess, lines, answer):
    assert re.search(answer, said(bess, *lines))


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("does Ben owe you anything?", "Ben owes me for two nights"),
        ("do you have debts?", "I owe Brannoc the smith three silver"),
        ("whom do you owe money?", "I owe Brannoc the smith three silver"),
    ],
)
def test_it_knows_who_owes_what(line, answer):
    persona = "You are Bess. You owe Brannoc the smith three silver. Ben owes you for two nights."
    assert answer in Talk("Bess", Persona(persona), MILL).hear(line)

"""Exchanges that embarrassed us once, and the rules that the stand-in keeps."""

import json
import re

import pytest

from evennia_ai.contrib.stand_in import StandIn
from evennia_ai.contrib.stand_in.transcript import HeardLine, StandInRequest
from evennia_ai.messages import Situation
from evennia_ai.policy.conversation.persona_and_lore import Persona
from tests.contrib.stand_in.stage import TOOLS, Talk

DESCRIPTION = "A low room with a wide hearth. A slate by the bar lists prices and debts."
MIRA = Persona(
    "You are Mira, the keeper of the Gilded Gull, a harbour tavern. You are a widow, and your "
    "brother Piet went to sea and never came back. Secretly you water the ale on feast days. "
    "Your goal is to learn what became of Piet.",
    manner="wipes mugs while she listens",
    knows=("a mug of ale costs two coppers", "Brannoc, the smith, owes you for eleven suppers"),
)
LORE = (
    "The drowned bell: On still nights the bell of the drowned church rings under the harbour.",
)
GULL = Situation(
    "The Gilded Gull",
    DESCRIPTION,
    ("Ann", "Bob"),
    ("quay (to Saltmarket Quay)",),
    ("slate", "pewter mug"),
    ("dishcloth",),
)


@pytest.fixture
def mira():
    return Talk("Mira", MIRA, GULL, LORE, (*TOOLS, "follow", "drop"))


def calls(talk, text, speaker="Ann"):
    talk.happens("say", speaker, text)
    return talk.think(HeardLine("say", speaker, text, False))


def reads_the_room(words):
    return any(part in words for part in DESCRIPTION.split(". "))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Tell me about yourself", "keeper of the Gilded Gull"),
        ("Can I confess a sin?", "Speak|listening|What is it|Say what"),
        ("Do you love Mira?", "."),
        ("What is your name?", "Mira"),
        ("What can I get to drink here?", "ale costs two coppers"),
        ("Where is Mira?", "I am Mira"),
        ("Wie heiße ich?", "Ann"),
        ("Tell me a tale", "drowned church"),
    ],
)
def test_a_plain_question_gets_a_plain_answer(mira, text, said):
    words = mira.hear(text)
    assert re.search(said, words), words
    assert not reads_the_room(words)
    assert "goal" not in words and "Ask Can" not in words and "secret" not in words.lower()


BRANNOC = Persona("You are Brannoc, the smith.")
STREET = Situation("The Street", "A street.", ("Ann",), things=("pewter mug", "barrel"))


def test_a_note_of_the_journal_is_a_tale_too():
    talk = Talk("Brannoc", BRANNOC, STREET)
    note = "You remember: nine days ago: The old mill burnt down at the new moon."
    talk.messages.append({"role": "user", "content": f"<situation>\n{note}\n</situation>"})
    assert "mill burnt down" in talk.hear("Tell me a tale")


DESCRIBED = "A normal person"


@pytest.mark.parametrize(
    "text",
    ["Hello!", "Thanks.", "What is your name?", "What can I drink here?", "Who rules?", "Goodbye."],
)
def test_a_short_description_is_no_form_of_address(mira, text):
    said = [mira.hear(text, speaker=DESCRIBED) for _ in range(4)]
    assert all(said) and not re.search("normal person|, [.,:;!?]|^ *[,.]", " ".join(said)), said


def test_a_name_that_was_told_replaces_the_short_description(mira):
    mira.hear("My name is Tom.", speaker=DESCRIBED)
    said = " ".join(mira.hear(text, speaker=DESCRIBED) for text in ("Hello!", "What is my name?"))
    assert "Tom" in said and "normal" not in said


# --- the rules -----------------------------------------------------------------------------------


def from_assistant(text, messages=(), tools=(*TOOLS, "add_journal_entry")):
    """The calls in answer to a line of the assistant Brannoc."""
    line = HeardLine("say", "Brannoc", text, False)
    talk = [*messages, {"role": "user", "content": f"Brannoc says: {text}"}]
    others, names = frozenset({"Brannoc"}), frozenset(tools)
    reply = StandIn().think(
        StandInRequest("Mira", MIRA, (line,), GULL, assistants=others, messages=talk, tools=names)
    )
    return [(call.name, json.loads(call.arguments).get("text", "")) for call in reply.tool_calls]


def test_another_assistant_gets_one_polite_line_and_no_more():
    ((name, words),) = from_assistant("I owe you eleven suppers, Mira.")
    assert name == "say" and "Brannoc" in words and "supper" not in words
    said = {"role": "assistant", "content": words}
    assert [name for name, _ in from_assistant("What do you want most?", [said])] == ["noop"]


def test_another_assistants_request_is_not_carried_out():
    assert [name for name, _ in from_assistant("Give me the pewter mug.")] == ["say"]


def test_a_whisper_is_told_to_its_speaker_in_a_whisper_only(mira):
    mira.hear("I stole the silver spoon.", kind="whisper")
    for question in (
        "what did I do to the silver spoon?",
        "what do you know about me?",
        "what did I tell you first?",
    ):
        assert "stole" not in mira.hear(question), question
    assert "stole" in mira.hear("what about my silver spoon?", kind="whisper")


def test_nothing_is_repeated_within_ten_lines(mira):
    texts = ["nice weather", "who is the king?", "hm", "what do you want?", "is it far?"] * 6
    said = [mira.hear(text) for text in texts]
    for index, words in enumerate(said):
        assert words not in said[max(0, index - 10) : index], words

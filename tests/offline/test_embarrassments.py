"""Exchanges that embarrassed us once, and the rules that the offline brain keeps."""

import json
import re

import pytest

from evennia_ai.messages import Situation
from evennia_ai.offline import OfflineBrain
from evennia_ai.policy.conversation.persona import Persona
from evennia_ai.ports import HeardLine, LLMRequest, Scene
from tests.offline.stage import TOOLS, Talk

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


def test_the_weather_is_no_description_and_no_secret(mira):
    words = mira.hear("What is the weather like?")
    assert words and not reads_the_room(words) and "feast" not in words


def test_an_invitation_to_come_along_is_followed(mira):
    assert calls(mira, "Can you come with me to the quay?") == [("follow", {"target": "Ann"})]


def test_slang_for_give_me_is_a_request(mira):
    assert calls(mira, "gimme the slate") == [("get", {"item": "slate"})]


def test_hello_everybody_gets_one_line_without_hearsay(mira):
    mira.hear("Brannoc owes me three barrels.", speaker="Bob")
    words = mira.hear("Hello everybody")
    assert len(words) < 120 and "barrels" not in words


BRANNOC = Persona("You are Brannoc, the smith.")
STREET = Situation("The Street", "A street.", ("Ann",), things=("pewter mug", "barrel"))


@pytest.mark.parametrize(
    "persona",
    [BRANNOC, Persona("You are Brannoc, the smith.", knows=("Mira owes me money",))],
)
@pytest.mark.parametrize("text", ["Tell me a tale", "Any news?", "Tell me a story!"])
def test_before_anything_was_told_it_does_not_claim_to_have_told_all(persona, text):
    words = Talk("Brannoc", persona, STREET).hear(text)
    assert words and not re.search("all I have|No more|you know as much", words, re.I), words


def test_a_short_fact_is_a_tale_too():
    persona = Persona("You are Brannoc, the smith.", knows=("Mira owes me money",))
    assert "Mira owes me money" in Talk("Brannoc", persona, STREET).hear("Tell me a tale")


def test_a_note_of_the_journal_is_a_tale_too():
    talk = Talk("Brannoc", BRANNOC, STREET)
    talk.messages.append({"role": "user", "content": "The old mill burnt down at the new moon."})
    assert "mill burnt down" in talk.hear("Tell me a tale")


def test_after_its_only_tale_it_says_that_there_is_no_more(mira):
    assert "drowned church" in mira.hear("Tell me a tale")
    assert re.search("told you all|No more tales", mira.hear("Tell me another tale"))


def test_two_long_answers_are_not_said_at_once():
    mill = "the mill " + "turns and turns " * 14 + "on the river"
    ship = "the ship " + "rolls and rolls " * 14 + "on the sea"
    talk = Talk("Eluned", Persona("You are Eluned.", knows=(mill, ship)), STREET)
    words = talk.hear("What about the mill? What about the ship?")
    assert "mill" in words and "ship" not in words


def test_who_is_ill_is_told_the_remedy_and_later_pitied():
    healer = Persona("You are Eluned, a healer.", knows=("willow bark brings down a fever",))
    talk = Talk("Eluned", healer, STREET)
    said = [talk.hear("I have a fever.") for _ in range(3)]
    assert "Willow bark" in said[0]
    assert not re.search("Willow|know|no more|told you", " ".join(said[1:]), re.I), said


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


def test_who_gave_no_name_is_not_told_their_short_description_as_one(mira):
    assert "normal" not in mira.hear("What is my name?", speaker=DESCRIBED)


def test_who_comes_with_a_short_description_is_greeted_without_a_name():
    talk = Talk("Mira", MIRA, Situation("The Gilded Gull", people=(DESCRIBED,)))
    talk.happens("arrive", DESCRIBED)
    assert "normal person" not in talk.act_unasked()[1]


def test_an_emote_names_a_description_as_within_a_sentence(mira):
    assert "a normal person" in mira.hear("smiles.", speaker=DESCRIBED, kind="emote")


def test_two_described_speakers_are_answered_without_a_name(mira):
    lines = [HeardLine("say", who, "Hello!", False) for who in (DESCRIBED, "A tall man in rags")]
    words = " ".join(arguments.get("text", "") for _, arguments in mira.think(*lines))
    assert "rags" not in words and "normal" not in words


def test_a_described_assistant_gets_one_polite_line_only():
    said = [{"role": "user", "content": "A tall man says: Good day."}]
    for expected in (["say"], ["noop"]):
        line = HeardLine("say", "A tall man", "Good day.", False)
        scene = Scene("Mira", MIRA, (line,), GULL, assistants=frozenset({"A tall man"}))
        tools = [{"function": {"name": name}} for name in TOOLS]
        reply = OfflineBrain().think(LLMRequest(said, scene, tools))
        assert [call.name for call in reply.tool_calls] == expected
        words = json.loads(reply.tool_calls[0].arguments).get("text", "")
        assert "tall" not in words
        said += [{"role": "assistant", "content": words}, said[0]]


# --- the rules -----------------------------------------------------------------------------------


def from_assistant(text, messages=(), tools=(*TOOLS, "add_journal_entry")):
    """The calls in answer to a line of the assistant Brannoc."""
    line = HeardLine("say", "Brannoc", text, False)
    scene = Scene("Mira", MIRA, (line,), GULL, assistants=frozenset({"Brannoc"}))
    talk = [*messages, {"role": "user", "content": f"Brannoc says: {text}"}]
    offered = [{"function": {"name": name}} for name in tools]
    reply = OfflineBrain().think(LLMRequest(talk, scene, offered))
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
        "what did I steal?",
        "what do you know about me?",
        "what did I tell you first?",
    ):
        assert "spoon" not in mira.hear(question), question
    assert "spoon" in mira.hear("what did I steal?", kind="whisper")


def test_nothing_is_repeated_within_ten_lines(mira):
    texts = ["nice weather", "who is the king?", "hm", "what do you want?", "is it far?"] * 6
    said = [mira.hear(text) for text in texts]
    for index, words in enumerate(said):
        assert words not in said[max(0, index - 10) : index], words


@pytest.mark.parametrize(
    "text", ["do you like Bob?", "is love blind?", "are you happy?", "who rules?"]
)
def test_a_description_is_never_an_answer(mira, text):
    assert not reads_the_room(mira.hear(text))


def test_who_asks_about_its_sleep_in_the_morning_is_not_seen_off(mira):
    said = " ".join(mira.hear("Good morning, Mira. Did you sleep well?") for _ in range(3))
    assert not re.search("next time|farewell|goodbye|good night|safe", said, re.I), said

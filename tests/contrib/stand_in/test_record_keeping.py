"""Summaries and journal entries of the stand-in."""

import json

import pytest

from evennia_ai.contrib.stand_in import StandIn
from evennia_ai.contrib.stand_in.transcript import HeardLine, StandInRequest
from evennia_ai.policy.conversation.persona_and_lore import Persona

TALK = [
    "Ann says: Good morning.",
    "Ann says: My sister Lina keeps bees in Dunmore.",
    "Mira says: How nice.",
    "Ann says: I owe you 42 silver pieces for the red saddle.",
    *["Ann says: Yes, yes, it is as it is with all of that."] * 30,
]


def summary(*material):
    request = StandInRequest("Mira", Persona(), (), material=material, room_tokens=765)
    return StandIn().think(request).content


def test_a_summary_holds_the_facts_word_for_word_and_no_chatter():
    text = summary("", *TALK)
    assert "Lina keeps bees in Dunmore" in text
    assert "42 silver pieces" in text
    assert "Good morning" not in text
    assert len(text) < len("".join(TALK))


def test_a_second_summary_keeps_the_first():
    first = summary("", *TALK)
    second = summary(first, "Ann says: Captain Voss leaves on Friday.", *TALK[4:])
    assert "42 silver pieces" in second
    assert "Voss" in second
    assert second.count("42 silver pieces") == 1


def test_a_summary_holds_no_words_of_its_own_but_promises():
    own = ["Mira says: I am an AI language model.", "Mira says: I promise you the grey mare, Ann."]
    text = summary("", *own, *TALK)
    assert "grey mare" in text
    assert "language model" not in text


def test_before_a_compaction_it_leaves_the_journal_to_the_rules():
    messages = [{"role": "user", "content": line} for line in TALK]
    tools = frozenset({"noop", "add_journal_entry"})
    request = StandInRequest("Mira", Persona(), (), messages=messages, tools=tools)
    calls = StandIn().think(request).tool_calls
    assert [call.name for call in calls] == ["noop"]


def replies(*lines, tools=("say", "whisper", "add_journal_entry")):
    """The name and the text of each call in answer to a line."""
    said = [HeardLine(kind, "Ann", text, kind == "whisper") for kind, text in lines]
    talk = [{"role": "user", "content": f"Ann says: {line.text}"} for line in said]
    names = frozenset(tools)
    request = StandInRequest("Mira", Persona(), tuple(said), messages=talk, tools=names)
    calls = StandIn().think(request).tool_calls
    return [(call.name, json.loads(call.arguments).get("content", "")) for call in calls]


@pytest.mark.parametrize(("kind", "answered_by"), [("say", "say"), ("whisper", "whisper")])
def test_a_debt_is_written_down_before_it_answers(kind, answered_by):
    made = replies((kind, "I owe you five silver for the ale."))
    assert made == [
        ("add_journal_entry", "Ann: I owe you five silver for the ale."),
        (answered_by, ""),
    ]


@pytest.mark.parametrize(
    "text",
    ["How are you?", "The rain is cold.", "Do I owe you silver?", "Do you remember my debt?"],
)
def test_chatter_and_questions_are_not_written_down(text):
    assert "add_journal_entry" not in dict(replies(("say", text)))


def test_nothing_is_written_down_where_some_was_whispered_and_some_was_not():
    made = replies(("say", "I owe you five silver."), ("whisper", "I owe Bob nine crowns."))
    assert "add_journal_entry" not in dict(made)

"""Summaries of the offline brain; it leaves journal entries to the rules."""

from evennia_ai.offline import OfflineBrain
from evennia_ai.policy.conversation.character import Persona
from evennia_ai.ports import TASK_SUMMARY, LLMRequest, Scene

TALK = [
    "Ann says: Good morning.",
    "Ann says: My sister Lina keeps bees in Dunmore.",
    "Mira says: How nice.",
    "Ann says: I owe you 42 silver pieces for the red saddle.",
    *["Ann says: Yes, yes, it is as it is with all of that."] * 30,
]


def summary(*material):
    scene = Scene("Mira", Persona(), (), task=TASK_SUMMARY, material=material, room_tokens=765)
    return OfflineBrain().think(LLMRequest([], scene)).content


def tool(name):
    return {"function": {"name": name}}


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
    tools = [tool("noop"), tool("add_journal_entry")]
    request = LLMRequest(messages, Scene("Mira", Persona(), ()), tools)
    calls = OfflineBrain().think(request).tool_calls
    assert [call.name for call in calls] == ["noop"]

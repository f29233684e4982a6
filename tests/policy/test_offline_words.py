"""What the stand-in said is kept, and is no fact and no memory."""

from evennia_ai.messages import OFFLINE, make_message
from evennia_ai.policy.facts.check import extract_facts
from evennia_ai.policy.recallable_lines import read_line

PROMISE = "I promise you the grey mare on Friday, Ann."
AT = "2026-11-20T10:00:00+00:00"


def spoken(evidence=""):
    """A line that the character said by a tool call."""
    function = {"name": "say", "arguments": f'{{"text": "{PROMISE}"}}'}
    calls = [{"id": "1", "type": "function", "function": function}]
    return make_message("assistant", "", tool_calls=calls, seq=7, at=AT, evidence=evidence)


def test_what_a_model_promised_is_a_fact_and_a_memory():
    assert extract_facts([spoken()], "Mira")
    assert read_line(spoken(), "Mira")


def test_what_the_offline_brain_said_is_none():
    assert extract_facts([spoken(OFFLINE)], "Mira") == ()
    assert read_line(spoken(OFFLINE), "Mira") is None

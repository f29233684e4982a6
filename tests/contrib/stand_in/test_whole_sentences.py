"""What is read of a sentence, and what is told as one."""

import numpy as np
import pytest

from evennia_ai.contrib.stand_in import StandIn
from evennia_ai.contrib.stand_in.character import read_character
from evennia_ai.contrib.stand_in.languages import ENGLISH, read, read_languages
from evennia_ai.contrib.stand_in.passages import clauses
from evennia_ai.contrib.stand_in.transcript import HeardLine, StandInRequest
from evennia_ai.messages import Situation
from evennia_ai.policy.conversation.persona_and_lore import Persona
from tests.contrib.stand_in.stage import Talk

NEAR, FAR = np.eye(2, dtype=np.float32)


def test_a_question_behind_a_fact_is_read_apart():
    english, fact = read(ENGLISH), "I cut my hand on some tin"
    assert clauses(f"{fact}, is there a doctor here?", english) == [fact, "is there a doctor here?"]
    for whole in ("If it rains, do you stay at home?", "I have two dogs, a cat and a goat"):
        assert clauses(whole, english) == [whole]


def test_what_stands_before_a_question_is_remembered():
    talk = Talk("Mira", Persona("You are Mira."), tools=("say",))
    talk.hear("I lost a silver ring by the well, did you see anybody?")
    assert "by the well" in talk.hear("where is my silver ring?")


@pytest.mark.parametrize(
    ("entry", "goal"),
    [
        ("Find a home for the dog", "I want to find a home for the dog."),
        ("A new length of cable", "I want a new length of cable."),
    ],
)
def test_a_goal_may_begin_with_a_capital(entry, goal):
    persona = Persona("You are Mira.", wants=(entry,))
    assert read_character(persona, "Mira", read_languages(())).wants == (goal,)


def replied(line, lore):
    """What is said, given some lore, to a line that the sentence "It ends at dawn." is near to."""
    heard, said_of_it = HeardLine("say", "Ann", line, False), "It ends at dawn."
    vectors = dict.fromkeys((line, said_of_it, f"the drum: {said_of_it}"), NEAR)
    request = StandInRequest(
        "Mira", Persona("You are Mira."), (heard,), Situation("The Gull", people=("Ann",)), (lore,),
        tools=frozenset({"say"}), messages=[{"role": "user", "content": f"Ann says: {line}"}],
        vectors=vectors | {lore: FAR},
    )  # fmt: skip
    (call,) = StandIn().think(request).tool_calls
    return call.arguments


def test_a_short_piece_of_lore_is_told_whole_with_its_title():
    line = "when is the noise over?"
    whole = replied(line, "The drum: A man beats it at night. It ends at dawn.")
    assert "The drum: A man beats it at night. It ends at dawn." in whole
    long = replied(line, f"The drum: {'A man beats it on and on ' * 12}at night. It ends at dawn.")
    assert "The drum: It ends at dawn." in long and "on and on" not in long


@pytest.mark.parametrize(
    ("never", "tool"), [("sells a pipe on credit", "sell"), ("sells a clay pipe", "say")]
)
def test_a_rule_of_credit_forbids_no_sale(never, tool):
    place = Situation("The Gull", people=("Ann",), carrying=("clay pipe",))
    persona, tools = Persona("You are Mira.", never=(never,)), ("say", "sell", "prices")
    talk = Talk("Mira", persona, place, tools=tools)
    line = "one clay pipe please"
    talk.happens("say", "Ann", line)
    heard = HeardLine("say", "Ann", line, False)
    assert talk.think(heard) == [("prices", {})]
    talk.messages[-1]["content"] = "clay pipe: 4 coins"
    request = StandInRequest("Mira", persona, (heard,), place, step=2, messages=talk.messages,
                             tools=frozenset(tools))  # fmt: skip
    (call,) = StandIn().think(request).tool_calls
    assert call.name == tool

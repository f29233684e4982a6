"""Kinds of sentences as they were learned, and what is surely about a question."""

import re

import numpy as np
import pytest

from evennia_ai.contrib.stand_in import StandIn
from evennia_ai.contrib.stand_in.languages import ENGLISH, read
from evennia_ai.contrib.stand_in.transcript import HeardLine, StandInRequest
from evennia_ai.messages import Situation
from evennia_ai.policy.conversation.persona_and_lore import Persona
from tests.contrib.stand_in.stage import Talk

NEAR, FAR = np.eye(2, dtype=np.float32)
PLACE = Situation("The Gull", people=("Ann", "Bob"), carrying=("clay pipe", "brass lamp"))


def answer(line, vectors, lore=()):
    """What the stand-in says to a line, given the vectors of some texts."""
    heard = HeardLine("say", "Ann", line, False)
    request = StandInRequest(
        "Mira",
        Persona("You are Mira."),
        (heard,),
        PLACE,
        lore,
        tools=frozenset({"say"}),
        messages=[{"role": "user", "content": f"Ann says: {line}"}],
        vectors=vectors,
    )
    (call,) = StandIn().think(request).tool_calls
    return call.arguments


def test_what_is_surely_about_a_question_is_told_before_a_phrase_of_its_kind():
    line, fact = "When did the Cyclone open?", "The Cyclone opened in 1927."
    assert "1927" in answer(line, {line: NEAR, fact: NEAR}, lore=(fact,))
    assert "1927" not in answer(line, {line: NEAR, fact: FAR}, lore=(fact,))


def test_a_kind_is_told_in_words_that_no_pattern_finds():
    english = read(ENGLISH)
    for line, kind in (
        ("is anybody in here apart from us", "who_here"),
        ("somebody stole my purse yesterday", "pity"),
        ("what did I say about my uncle", "recall"),
        ("who is the owner of that boat", "question"),
    ):
        assert english.kind_of(line) == kind, line


def test_a_pattern_that_what_was_learned_knows_better_does_not_count():
    english, line = read(ENGLISH), "hey what did kade say he has got in his bag"
    assert (english.matched(line)[0].key, english.asked_of(line)[0].key) == ("greet", "")


def test_who_asks_who_they_are_is_not_told_who_the_character_is():
    words = answer("who am I?", {})
    assert "Ann" in words and "Mira" not in words


def test_of_two_questions_in_one_line_both_are_answered():
    first, second = "when is the fair", "who is the mayor?"
    facts = {"The fair is in May.": NEAR, "Old Hanna is the mayor.": FAR}
    reply = answer(f"{first} and {second}", {first: NEAR, second: FAR, **facts}, tuple(facts))
    assert "May" in reply and "Hanna" in reply


def test_who_knows_nothing_near_says_what_it_can_tell_of():
    line, lore = "why is the moon green?", "The fair: It is in May."
    reply = answer(line, {line: NEAR, lore: FAR, "It is in May.": FAR}, (lore,))
    assert "the fair" in reply and "May" not in reply


def test_what_may_have_changed_is_told_as_it_was_told_last():
    old, new, line = "my sister lives in Rye", "she moved to Ham", "where does my sister live?"
    talk = Talk("Mira", Persona("You are Mira."), PLACE, tools=frozenset({"say"}))
    for text in (old, "the ale is weak", new, line):
        talk.happens("say", "Ann", text)
    vectors = {old: NEAR, line: NEAR, new: (NEAR + FAR) / np.sqrt(2), "the ale is weak": -FAR}
    heard = HeardLine("say", "Ann", line, False)
    request = StandInRequest("Mira", Persona("You are Mira."), (heard,), PLACE,
                             messages=talk.messages, tools=talk.tools, vectors=vectors)  # fmt: skip
    (call,) = StandIn().think(request).tool_calls
    assert "Ham" in call.arguments and "Rye" not in call.arguments


@pytest.mark.parametrize(
    ("line", "ware"),
    [("yes", "clay pipe"), ("the brass one", "brass lamp"), ("the lamp", "brass lamp")],
)
def test_who_agrees_after_a_price_is_offered_the_ware(line, ware):
    talk = Talk("Mira", Persona("You are Mira."), PLACE, tools=("say", "give", "sell", "prices"))
    talk.happens("say", "Ann", "how much is the pipe?")
    talk.messages.append({"role": "assistant", "content": "A clay pipe costs 4 coins."})
    talk.happens("say", "Ann", line)
    assert talk.think(HeardLine("say", "Ann", line, False)) == [("prices", {})]
    talk.messages[-1]["content"] = "clay pipe: 4 coins; brass lamp: 5 coins"
    heard = HeardLine("say", "Ann", line, False)
    request = StandInRequest(
        "Mira", Persona("You are Mira."), (heard,), PLACE, step=2, messages=talk.messages,
        tools=frozenset(talk.tools),
    )  # fmt: skip
    (call,) = StandIn().think(request).tool_calls
    assert (call.name, ware in call.arguments) == ("sell", True)


def test_a_price_that_was_told_to_another_is_no_offer():
    talk = Talk("Mira", Persona("You are Mira."), PLACE, tools=("say", "give", "sell", "prices"))
    talk.happens("say", "Bob", "how much is the pipe?")
    talk.messages.append({"role": "assistant", "content": "A clay pipe costs 4 coins."})
    talk.happens("say", "Ann", "yes")
    assert [name for name, _ in talk.think(HeardLine("say", "Ann", "yes", False))] == ["say"]


@pytest.mark.parametrize("line", ["this pipe is as hard as your head", "I saw a fox with a pipe"])
def test_a_remark_that_names_a_ware_is_no_order(line):
    talk = Talk("Mira", Persona("You are Mira."), PLACE, tools=("say", "give", "sell"))
    talk.happens("say", "Ann", "how much is the pipe?")
    talk.messages.append({"role": "assistant", "content": "A clay pipe costs 4 coins."})
    talk.happens("say", "Ann", line)
    assert [name for name, _ in talk.think(HeardLine("say", "Ann", line, False))] == ["say"]


@pytest.mark.parametrize("line", ["How much is the pipe?", "what do you want for a pipe"])
def test_what_a_ware_costs_is_told_before_goals_and_what_others_said(line):
    persona = Persona("You are Mira.", wants=("find the thief",))
    talk = Talk("Mira", persona, PLACE, tools=("say", "sell", "prices"))
    talk.happens("say", "Bob", "I'd pay 50 for that pipe")
    talk.happens("say", "Ann", line)
    heard = HeardLine("say", "Ann", line, False)
    assert talk.think(heard) == [("prices", {})]
    talk.messages[-1]["content"] = "clay pipe: 4 coins; brass lamp: 5 coins"
    request = StandInRequest(
        "Mira", persona, (heard,), PLACE, step=2, messages=talk.messages, tools=frozenset({"say"})
    )
    (call,) = StandIn().think(request).tool_calls
    assert "A clay pipe costs 4 coins." in call.arguments


def test_each_of_several_wares_is_told_with_its_price():
    talk = Talk("Mira", Persona("You are Mira."), PLACE, tools=("say", "prices"))
    line = "what's the pipe and a lamp?"
    talk.happens("say", "Ann", line)
    heard = HeardLine("say", "Ann", line, False)
    assert talk.think(heard) == [("prices", {})]
    talk.messages[-1]["content"] = "clay pipe: 4 coins; brass lamp: 5 coins"
    request = StandInRequest("Mira", Persona("You are Mira."), (heard,), PLACE, step=2,
                             messages=talk.messages, tools=frozenset({"say"}))  # fmt: skip
    (call,) = StandIn().think(request).tool_calls
    assert "4 coins" in call.arguments and "5 coins" in call.arguments


def test_of_a_person_who_is_not_here_it_tells_what_it_knows_or_that_it_knows_nothing():
    lore = "Old Hanna is the mayor."
    for line in ("Who is Hallam Voss?", "so who's hallam voss?", "Wer ist Hallam Voss?"):
        reply = answer(line, {line: NEAR, lore: FAR}, (lore,))
        assert "Bob" not in reply and re.search("not|nicht|keine", reply), (line, reply)
    line = "Who is Hanna?"
    assert lore in answer(line, {line: NEAR, lore: NEAR}, (lore,))
    for line in ("Who is here?", "who's that bloke?"):
        assert "Bob" in answer(line, {line: NEAR, lore: FAR}, (lore,)), line

"""Who is meant by what was said."""

from dataclasses import replace

import pytest

from evennia_ai.policy.conversation.addressing import (
    Candidate,
    Hearing,
    choose_responder,
    judge_address,
    names_any,
)

CROWD = Hearing("say", "nice weather", names=("Mira", "barkeep"), other_names=("Bob",))


@pytest.mark.parametrize(
    ("change", "addressed"),
    [
        ({}, False),
        ({"text": "Mira, a beer!"}, True),
        ({"text": "a beer, BARKEEP"}, True),
        ({"text": "the admiral is late"}, False),
        ({"alone": True}, True),
        ({"alone": True, "text": "hey Bob"}, False),
        ({"in_conversation": True}, True),
        ({"in_conversation": True, "text": "and you, Bob?"}, False),
        ({"in_conversation": True, "text": "Bob says Mira knows"}, True),
        ({"kind": "whisper"}, True),
        ({"kind": "give", "text": "a coin"}, True),
        ({"kind": "emote", "text": "Ann waves at Mira."}, True),
        ({"kind": "emote", "text": "Ann waves."}, False),
        ({"kind": "arrive", "alone": True}, False),
        ({"text": "Mira!", "hops": 3}, True),
        ({"text": "Mira!", "hops": 4}, False),
        ({"kind": "whisper", "hops": 4}, False),
    ],
)
def test_what_calls_for_an_answer(change, addressed):
    assert judge_address(replace(CROWD, **change)).addressed is addressed


def test_names_are_found_as_words_of_their_own_in_any_script():
    assert names_any("Привет, Мира!", ["Мира"])
    assert not names_any("Мирабель", ["Мира"])
    assert not names_any("anything", [""])


def test_a_name_with_signs_in_it_is_taken_literally():
    assert names_any("hello R2.D2", ["R2.D2"])
    assert not names_any("hello R2xD2", ["R2.D2"])


@pytest.mark.parametrize(
    ("change", "addressed"),
    [
        ({"alone": True, "chosen": False}, False),
        ({"in_conversation": True, "chosen": False}, False),
        ({"text": "does anybody know?", "chosen": True}, True),
        ({"text": "Hello!"}, True),
        ({"text": "good evening to you"}, True),
        ({"text": "Hello Bob"}, False),
        ({"text": "hello there, I told you so"}, False),
        ({"text": "does anybody know?", "chosen": False}, False),
        ({"text": "Mira?", "chosen": False}, True),
        ({"from_assistant": True, "alone": True}, False),
        ({"from_assistant": True, "text": "Mira, more beer"}, True),
        ({"from_assistant": True, "text": "Mira?", "players_listen": False}, False),
    ],
)
def test_among_several_assistants_one_answers(change, addressed):
    assert judge_address(replace(CROWD, **change)).addressed is addressed


def test_the_one_who_was_talking_goes_before_the_one_whose_business_it_is():
    mira, otto, oda = Candidate("#3"), Candidate("#4", nearness=2.0), Candidate("#5", 99.0)
    assert choose_responder([mira, otto, oda]) == "#5"
    assert choose_responder([mira, otto]) == "#4"
    assert choose_responder([Candidate("#12"), Candidate("#7")]) == "#7"

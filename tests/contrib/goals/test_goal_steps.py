"""Which steps lead to a goal: the request, and what of its answer counts."""

import json
from datetime import UTC, datetime

import pytest

from evennia_ai.contrib.goals.tree import MOST_STEPS, read_steps
from evennia_ai.policy.records.goal import make_goal

GOAL = make_goal("g1", "Find the thief.", datetime(2026, 5, 1, tzinfo=UTC), {"why": "Ann begged"})


def steps(*texts):
    return "\n".join(json.dumps({"step": text}) for text in texts)


def test_the_steps_come_in_their_order_and_not_more_than_four():
    reply = "Well:\n" + steps("Ask Bob.", "Look.", "ask bob", "Go.", "Wait.", "Sing.")
    assert read_steps(reply, GOAL) == ("Ask Bob.", "Look.", "Go.", "Wait.")
    assert len(read_steps(reply, GOAL)) == MOST_STEPS


@pytest.mark.parametrize(
    "reply",
    ["", steps("Ask Bob."), steps("Find the thief!", "Ask Bob."), '{"step": 5}\n[1]', "[" * 99_999],
)
def test_fewer_than_two_are_none(reply):
    assert read_steps(reply, GOAL) == ()

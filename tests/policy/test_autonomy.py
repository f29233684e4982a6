"""A little life of its own, never in the way and never beyond its budget."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.policy.conversation.batching import (
    HOUR_S,
    AutonomyState,
    may_answer_assistant,
    should_act,
)

LIMITS = {"calls_per_hour": 6, "quiet_s": 30}
QUIET = AutonomyState(now=10_000.0, players_near=True)


@pytest.mark.parametrize(
    ("change", "acts"),
    [
        ({}, True),
        ({"players_near": False}, False),
        ({"last_talk_at": 9_971.0}, False),
        ({"last_talk_at": 9_970.0}, True),
        ({"acts": (9_401.0,)}, False),
        ({"acts": (9_400.0,)}, True),
        ({"acts": (9_990.0,), "news_at": 9_995.0}, True),
        ({"acts": (9_996.0,), "news_at": 9_995.0}, False),
        ({"news_at": 9_995.0, "last_talk_at": 9_999.0}, False),
        ({"news_at": 9_995.0, "last_talk_at": 9_998.0}, True),
    ],
)
def test_when_it_acts(change, acts):
    assert should_act(replace(QUIET, **change), **LIMITS) is acts


def test_zero_calls_an_hour_is_never():
    assert not should_act(replace(QUIET, news_at=9_999.0), 0, 0)


@given(st.lists(st.floats(0, 2 * HOUR_S), max_size=400), st.integers(0, 8))
def test_no_hour_ever_holds_more_calls_than_the_budget(moments, budget):
    acts: list[float] = []
    for now in sorted(moments):
        state = AutonomyState(now, True, tuple(acts), None, now)
        if should_act(state, budget, 0):
            acts.append(now)
    assert all(sum(a <= b < a + HOUR_S for b in acts) <= budget for a in acts)


@pytest.mark.parametrize(
    ("acts", "calls_per_hour", "answers"),
    [
        ((), 1, True),
        ((9_000.0,), 1, False),
        ((9_000.0,), 2, True),
        ((9_000.0, 10_000.0), 2, False),
        ((6_400.0,), 1, True),  # an hour ago
        ((6_401.0,), 1, False),
        ((10_001.0,), 1, True),  # before the clock was set back
        ((9_000.0,), 0, True),
    ],
)
def test_an_answer_to_an_assistant_needs_a_call_of_the_hour(acts, calls_per_hour, answers):
    assert may_answer_assistant(acts, 10_000.0, calls_per_hour) is answers

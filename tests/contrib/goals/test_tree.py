"""What a character is after: the tree of it, how far it has come, and what fades."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.contrib.goals.tree import find_goal, goal_lines, lay_out, plan_fading
from evennia_ai.policy.records.goal import (
    BUILDER,
    DONE,
    DROPPED,
    FADED,
    Goal,
    make_goal,
    plan_close,
    plan_reopen,
)
from evennia_ai.policy.tokens import estimate_tokens

NOW = datetime(2026, 5, 1, tzinfo=UTC)
WEEK = 7.0


def goal(id="g1", content=None, days=0.0, **fields):
    return make_goal(id, content or f"Goal {id}.", NOW - timedelta(days=days), fields)


def shape(goals):
    return [(branch.goal["id"], branch.depth) for branch in lay_out(goals)]


# --- the tree -----------------------------------------------------------------------------------


def test_steps_stand_below_their_goal_and_the_weightiest_comes_first():
    goals = [
        goal("g1", importance=3),
        goal("g2", importance=8),
        goal("g3", parent="g2"),
        goal("g5", parent="g2", importance=9),
    ]
    assert shape(goals) == [("g2", 0), ("g5", 1), ("g3", 1), ("g1", 0)]


def test_a_parent_that_may_not_be_known_shows_in_nothing():
    assert shape([goal("g3", parent="g2")]) == [("g3", 0)]


@given(st.lists(st.sampled_from(["", "g0", "g1", "g2", "g3", "g9"]), max_size=4))
def test_every_goal_stands_in_the_tree_once_whatever_the_parents(parents):
    goals = [goal(f"g{n}", parent=parent) for n, parent in enumerate(parents)]
    assert sorted(known for known, _ in shape(goals)) == sorted(g["id"] for g in goals)


@pytest.mark.parametrize(
    ("words", "found"),
    [("g2", "g2"), ("find the THIEF", "g1"), ("ring", "g2"), ("the", None), ("", None)],
)
def test_a_goal_is_found_by_its_number_its_words_or_what_only_it_has(words, found):
    goals = [goal("g1", "Find the thief."), goal("g2", "Sell the ring.")]
    hit = find_goal(words, goals)
    assert (hit and hit["id"]) == found


# --- ending --------------------------------------------------------------------------------------


def test_with_a_goal_its_open_steps_end_and_taking_it_back_opens_those_again():
    goals = {g["id"]: g for g in (goal("g1"), goal("g2", parent="g1"))}
    goals["g3"] = goal("g3", parent="g1", state=DONE, days=3)
    closed = plan_close(goals["g1"], goals.values(), DROPPED, NOW.isoformat())
    assert set(closed) == {"g1", "g2"}
    after = [{**g, **closed.get(g["id"], {})} for g in goals.values()]
    reopened = plan_reopen(after[0], after, NOW.isoformat())
    assert set(reopened) == {"g1", "g2"}
    assert reopened["g2"]["state"] == "open"


@pytest.mark.parametrize(
    ("importance", "days", "fades"),
    [(5, 20.9, False), (5, 21.0, True), (10, 41.0, False), (10, 42.0, True), (1, 4.2, True)],
)
def test_what_it_set_itself_fades_after_three_half_lives(importance, days, fades):
    changes = plan_fading([goal(importance=importance, days=days)], NOW, WEEK)
    assert (changes == {"g1": {"state": FADED, "touched": NOW.isoformat()}}) == fades


def test_what_a_builder_gave_never_fades_nor_do_the_steps_towards_it():
    goals = [goal("g1", days=999, origin=BUILDER), goal("g2", days=999, parent="g1")]
    assert plan_fading(goals, NOW, WEEK) == {}


def test_a_step_that_was_taken_lately_keeps_its_goal_and_alone_it_fades_with_it():
    old, step = goal("g1", days=99), goal("g2", days=1, parent="g1")
    assert plan_fading([old, step], NOW, WEEK) == {}
    assert set(plan_fading([old, {**step, "touched": old["touched"]}], NOW, WEEK)) == {"g1", "g2"}


def test_what_is_set_again_is_open_and_fresh():
    before = goal(days=9, state=FADED, speakers=["#5"])
    again = Goal.merged(before, goal(speakers=["#6"], importance=8, why="For Ann"))
    assert (again["state"], again["importance"], again["why"]) == ("open", 8, "For Ann")
    assert again["speakers"] == ["#5", "#6"]
    assert again["touched"] == NOW.isoformat()
    assert again["created"] == before["created"]


# --- in a prompt ----------------------------------------------------------------------------------


def test_what_is_confided_is_marked_and_whose_words_it_is_is_told():
    goals = [goal(audience=["#5"], speakers=["#5"])]
    (line,) = goal_lines(goals, 200, estimate_tokens)
    assert (line.private, line.authors) == (True, frozenset({"#5"}))

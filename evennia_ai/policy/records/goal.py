"""What a character is after: goals with sub-goals, how far they have come, and when they fade.

A goal is open until it is done, dropped, or faded: what a character set itself and did not come
back to for long; what a builder gave it never fades. A parent is as far as its sub-goals are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Literal

from pydantic import Field

from evennia_ai.policy.records.forgetting import DAY_S
from evennia_ai.policy.records.journal_entry import normalised
from evennia_ai.policy.records.provenance import (
    Record,
    Remembered,
    Time,
    Words,
    changed_record,
    make_record,
    read_record,
    united,
)

Changes = dict[str, dict[str, object]]  # fields to store, by goal id
State = Literal["open", "done", "dropped", "faded"]
OPEN, DONE, DROPPED, FADED = "open", "done", "dropped", "faded"
BUILDER, SELF, REFLECTION = "builder", "self", "reflection"

GOAL_CHARS = 200
WHY_CHARS = 200
USUAL_IMPORTANCE = 5
MOST_OPEN = 12  # that one audience may know of, sub-goals among them
DEEPEST = 3  # levels: a goal, its sub-goals, and theirs
FADED_AT = 0.125
LEAST_TO_DECOMPOSE = 7
FEWEST_STEPS, MOST_STEPS = 2, 4


class Goal(Remembered):
    """One goal.

    Attributes:
        content: what it is after, in a sentence.
        why: what for; may be empty.
        parent: the id of the goal it is a step of; empty for none.
        progress: how far it has come, 0 to 1, where it has no sub-goals.
        state: open, done, dropped or faded.
        importance: 1 to 10.
        created, touched: when it was set, and when anything was last done about it; ISO-8601 UTC.
        origin: who set it: a builder, the character itself, or a reflection of its own.
        decomposed: whether a model was asked for its steps already.
    """

    content: Words
    why: str = ""
    parent: str = ""
    progress: float = Field(default=0.0, ge=0.0, le=1.0)
    state: State = "open"
    importance: int = Field(default=USUAL_IMPORTANCE, ge=1, le=10)
    created: Time
    touched: Time
    origin: Literal["builder", "self", "reflection"] = "self"
    decomposed: bool = False


def make_goal(id: str, content: str, at: datetime, fields: Mapping[str, object]) -> Record:
    """A new goal, set at a time; raises BadRecord."""
    times = {"created": at, "touched": at}
    return make_record(Goal, {**times, **fields, "id": id, "content": content})


# Read a stored goal, or return a goal with changed fields; both raise BadRecord.
read_goal = partial(read_record, Goal)
change_goal = partial(changed_record, Goal)


# --- what belongs together -----------------------------------------------------------------------


def children_of(goals: Iterable[Record]) -> dict[str, list[Record]]:
    """The sub-goals of each goal, by its id."""
    found: defaultdict[str, list[Record]] = defaultdict(list)
    for goal in goals:
        if goal["parent"]:
            found[goal["parent"]].append(goal)
    return dict(found)


def family_of(goal_id: str, goals: Iterable[Record]) -> list[Record]:
    """The sub-goals of a goal and theirs, all the way down."""
    children = children_of(goals)
    found: dict[str, Record] = {}
    waiting = [goal_id]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child["id"] not in found and child["id"] != goal_id:
                found[child["id"]] = child
                waiting.append(child["id"])
    return list(found.values())


def depth_of(goal: Record, goals: Mapping[str, Record]) -> int:
    """How many goals stand above one, `DEEPEST` at most."""
    depth = 0
    while goal["parent"] in goals and depth < DEEPEST:
        goal, depth = goals[goal["parent"]], depth + 1
    return depth


def find_goal(words: str, goals: Sequence[Record]) -> Record | None:
    """The goal that is meant: by its id, its words, or a part of them that only one has."""
    wanted = normalised(words)
    exact = [g for g in goals if wanted in (g["id"].lower(), normalised(g["content"]))]
    if exact:
        return exact[0]
    holding = [goal for goal in goals if wanted and wanted in normalised(goal["content"])]
    return holding[0] if len(holding) == 1 else None


# --- changes: what to store, by id ------------------------------------------------------------


def plan_close(goal: Record, goals: Iterable[Record], state: str, at: str) -> Changes:
    """The changes that end a goal, and with it the steps towards it that are still open."""
    own: dict[str, object] = {"state": state, "touched": at}
    if state == DONE:
        own["progress"] = 1.0
    steps = (step for step in family_of(goal["id"], goals) if step["state"] == OPEN)
    return {goal["id"]: own} | {step["id"]: {"state": state, "touched": at} for step in steps}


def plan_reopen(goal: Record, goals: Iterable[Record], at: str) -> Changes:
    """The changes that take the end of a goal back, with the steps that ended together with it."""
    again: dict[str, object] = {"state": OPEN, "touched": at}
    together = (
        step
        for step in family_of(goal["id"], goals)
        if (step["state"], step["touched"]) == (goal["state"], goal["touched"])
    )
    own = again | ({"progress": 0.0} if goal["progress"] == 1.0 else {})
    return {goal["id"]: own} | {step["id"]: again for step in together}


def plan_fading(goals: Sequence[Record], now: datetime, half_life_days: float) -> Changes:
    """The changes that let go what the character set itself and has not come back to for long.

    What is left of a goal halves with every half-life since anything was last done about it or a
    step towards it; a goal of the importance 10 takes twice as long as one of 5. It fades at an
    eighth. What a builder gave never fades, nor do the steps towards it.
    """
    if not half_life_days:
        return {}
    at = now.isoformat()
    changes: Changes = {}
    known = {goal["id"]: goal for goal in goals}
    for goal in goals:
        if goal["state"] != OPEN or goal["id"] in changes or is_given(goal, known):
            continue
        family = [goal, *(s for s in family_of(goal["id"], goals) if s["state"] == OPEN)]
        if any(is_given(step, known) for step in family):
            continue
        touched = max(datetime.fromisoformat(member["touched"]) for member in family)
        weightiest = max(member["importance"] for member in family)
        if strength(touched, now, weightiest, half_life_days) <= FADED_AT:
            changes |= plan_close(goal, goals, FADED, at)
    return changes


def is_given(goal: Record, known: Mapping[str, Record]) -> bool:
    """True for what a builder gave, and for a step towards it."""
    for _ in range(DEEPEST + 1):
        if goal["origin"] == BUILDER:
            return True
        if goal["parent"] not in known:
            return False
        goal = known[goal["parent"]]
    return False


def strength(touched: datetime, now: datetime, importance: int, half_life_days: float) -> float:
    """What is left of a goal, 0 to 1: 0.5^(t / (h · importance/5)), t in days since anything was
    done about it."""
    days = max(0.0, (now - touched).total_seconds() / DAY_S)
    power: float = 0.5 ** (days / (half_life_days * importance / USUAL_IMPORTANCE))
    return power


def long_closed(goals: Iterable[Record], now: datetime, days: float) -> list[str]:
    """Ids of the goals that ended so long ago."""
    return [
        goal["id"]
        for goal in goals
        if goal["state"] != OPEN
        and (now - datetime.fromisoformat(goal["touched"])).total_seconds() / DAY_S >= days
    ]


def needs_steps(goal: Record, goals: Iterable[Record]) -> bool:
    """True for a weighty goal for which no steps were thought of yet."""
    return (
        goal["state"] == OPEN
        and goal["importance"] >= LEAST_TO_DECOMPOSE
        and not goal["decomposed"]
        and not goal["parent"]
        and not any(other["parent"] == goal["id"] for other in goals)
    )


def merge_goals(goal: Record, again: Record) -> Record:
    """A goal that was set a second time: it is open and fresh, and has the sources of both."""
    lists = united(goal, again, ("speakers", "source_seqs"))
    return change_goal(
        goal,
        {
            **lists,
            "state": OPEN,
            "touched": again["touched"],
            "why": goal["why"] or again["why"],
            "importance": max(goal["importance"], again["importance"]),
            "origin": BUILDER if BUILDER in (goal["origin"], again["origin"]) else goal["origin"],
        },
    )

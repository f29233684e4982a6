"""A character's goals and its day plan: `character.ai_goals` and `character.ai_plan`."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from evennia_ai.errors import BadRecord
from evennia_ai.messages import Audience
from evennia_ai.policy.records.goal import (
    OPEN,
    DayBlock,
    Goal,
    PlannedBlock,
    current_block,
    is_stale,
    long_closed,
    make_block,
    make_goal,
    plan_close,
    plan_reopen,
)
from evennia_ai.policy.records.journal_entry import sameness
from evennia_ai.policy.records.record import Record, copy_of
from evennia_ai.ports.records import RecordStore, anew

COPIED_TO_STEPS = ("audience", "speakers", "source_seqs", "importance")


class Goals(RecordStore):
    """Goals as plain dicts with the fields of `Goal`. A character has few of them."""

    kind = "ai_goals"
    prefix = "g"
    model = Goal

    @anew
    def add(self, content: str, **fields: Any) -> str:
        """Store a goal, or reopen one with the same words, audience and parent; returns its id.

        Raises BadRecord, also for a parent that does not exist or is a step.
        """
        new = make_goal(self.next_id, content, self.now(), fields)
        goals = {goal["id"]: goal for goal in self.every()}
        if new["parent"] and new["parent"] not in goals:
            raise BadRecord(f"parent: there is no goal '{new['parent']}'. Give the id of a goal.")
        if new["parent"] and goals[new["parent"]]["parent"] in goals:
            raise BadRecord(f"parent: '{new['parent']}' is a step. Give the goal above it.")
        key = sameness(new, new["parent"])
        same = (goal for goal in goals.values() if sameness(goal, goal["parent"]) == key)
        return self.keep(new, next(same, None))

    @anew
    def add_steps(self, goal_id: str, contents: Iterable[str]) -> int:
        """Store a goal's steps once, in one transaction; returns how many are new."""
        goal = self.find(goal_id)
        if goal is None or goal["decomposed"]:
            return 0
        shared = {"parent": goal_id, **{name: goal[name] for name in COPIED_TO_STEPS}}
        ids = self.next_ids()
        steps = [make_goal(next(ids), content, self.now(), shared) for content in contents]
        self.change({goal_id: Goal.changed(goal, {"decomposed": True})}, *steps)
        return len(steps)

    def touch(self, id: str, **fields: Any) -> Record:
        """Change a goal and note the time of progress; returns it. Raises as `update`."""
        return self.update(id, **fields, touched=self.now())

    @anew
    def close(self, id: str, state: str) -> int:
        """Close a goal and its open steps; returns how many closed. Raises KeyError."""
        goal = self.require(id)
        return self.update_all(plan_close(goal, self.every(), state, self.now().isoformat()))

    @anew
    def reopen(self, id: str) -> int:
        """Reopen a goal and its steps; returns how many reopened. Raises KeyError."""
        goal = self.require(id)
        if goal["state"] == OPEN:
            return 0
        return self.update_all(plan_reopen(goal, self.every(), self.now().isoformat()))

    def open(self, audience: Audience | None = None) -> list[Record]:
        """Return the loaded open goals that all of an audience may know, oldest first."""
        return [goal for goal in self.known(audience) if goal["state"] == OPEN]

    def known(self, audience: Audience | None = None) -> list[Record]:
        """Return the loaded open and closed goals that all of an audience may know."""
        return self.copies_known(self.held(), audience)

    def over(self, days: float) -> list[str]:
        """Return the ids of goals that closed at least ``days`` ago."""
        return long_closed(self.every(), self.now(), days)


class DayPlan(RecordStore):
    """The parts of one day as plain dicts with the fields of `DayBlock`."""

    kind = "ai_plan"
    prefix = "b"
    model = DayBlock

    def __init__(self, obj: Any) -> None:
        super().__init__(obj)
        self._given_up_at: datetime | None = None

    @property
    def is_stale(self) -> bool:
        """Return True if no loaded plan is for today, unless today's plan was given up."""
        return is_stale(list(self.held()), self._given_up_at, self.now())

    def give_up(self) -> None:
        """Note that today gets no plan, until this process ends."""
        self._given_up_at = self.now()

    @anew
    def replace(self, planned: Sequence[PlannedBlock], speakers: Sequence[str]) -> int:
        """Replace the plan, which may hold words of the speakers; returns its number of parts."""
        ids = self.next_ids()
        blocks = [make_block(next(ids), part, self.now(), speakers) for part in planned]
        self.change(dict.fromkeys(self.ids()), *blocks)
        return len(blocks)

    def at(self, minute: int) -> Record | None:
        """Return the loaded part of the plan at a minute of the day, None if none."""
        block = current_block(list(self.held()), minute)
        return copy_of(block) if block else None

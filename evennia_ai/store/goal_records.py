"""What a character is after: `character.ai_goals`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evennia_ai.errors import BadRecord
from evennia_ai.messages import Audience
from evennia_ai.policy.records.goal import (
    DEEPEST,
    OPEN,
    Goal,
    depth_of,
    long_closed,
    make_goal,
    merge_goals,
    plan_close,
    plan_reopen,
)
from evennia_ai.policy.records.journal_entry import sameness
from evennia_ai.policy.records.provenance import Record
from evennia_ai.store.record_store import RecordStore, copies_known


class Goals(RecordStore):
    """Goals of `evennia_ai.policy.records.goal.Goal`'s fields, as plain dicts. There are few of
    them."""

    kind = "ai_goals"
    prefix = "g"
    model = Goal

    def add(self, content: str, **fields: Any) -> str:
        """Set a goal; returns its id. One in the same words for the same ears is taken up again.

        Args:
            content: what it is after.
            **fields: any of `Goal`'s.

        Raises:
            BadRecord: a field does not fit, or it would be a step of a step of a step.
            StoreUnavailable: the database cannot be written now; nothing has changed.
        """
        new = make_goal(self.segments.next_id, content, self.now(), fields)
        goals = {goal["id"]: goal for goal in self.segments.all()}
        if new["parent"] and new["parent"] not in goals:
            raise BadRecord(f"parent: there is no goal '{new['parent']}'.")
        if depth_of(new, goals) >= DEEPEST:
            raise BadRecord("parent: that is a step of a step already.")
        key = sameness(new, new["parent"])
        same = next((g for g in goals.values() if sameness(g, g["parent"]) == key), None)
        return self.put_or_merge(new, same, merge_goals)

    def add_steps(self, goal_id: str, contents: Iterable[str]) -> int:
        """Set the steps towards a goal, once and in one transaction; returns how many. They are for
        the same ears and of the same words as it is. Raises StoreUnavailable."""
        goal = self.segments.get(goal_id)
        if goal is None or goal["decomposed"]:
            return 0
        whose = {name: goal[name] for name in ("audience", "speakers", "source_seqs", "importance")}
        ids = self.segments.next_ids()
        steps = [
            make_goal(next(ids), content, self.now(), {**whose, "parent": goal_id})
            for content in contents
        ]
        self.segments.change({goal_id: self.changed(goal, {"decomposed": True})}, *steps)
        return len(steps)

    def touch(self, id: str, **fields: Any) -> Record:
        """Change a goal and note that something was done about it. Raises as `update`."""
        return self.update(id, **fields, touched=self.now())

    def close(self, id: str, state: str) -> int:
        """End a goal and the open steps towards it as done or dropped; returns how many ended.
        Raises KeyError where there is none of that id, and StoreUnavailable."""
        goal = self.require(id)
        return self.update_all(plan_close(goal, self.segments.all(), state, self.now().isoformat()))

    def reopen(self, id: str) -> int:
        """Take the end of a goal back; returns how many are open again. Raises as `close`."""
        goal = self.require(id)
        if goal["state"] == OPEN:
            return 0
        return self.update_all(plan_reopen(goal, self.segments.all(), self.now().isoformat()))

    def open(self, audience: Audience | None = None, discretion: str = "strict") -> list[Record]:
        """The open goals that all of an audience may know, oldest first; None for what everybody
        may; of what is loaded, which costs nothing."""
        return [goal for goal in self.known(audience, discretion) if goal["state"] == OPEN]

    def known(self, audience: Audience | None = None, discretion: str = "strict") -> list[Record]:
        """`open`'s goals, and those that ended."""
        return copies_known(self.held(), audience, discretion)

    def over(self, days: float) -> list[str]:
        """Ids of the goals that ended so long ago."""
        return long_closed(self.segments.all(), self.now(), days)

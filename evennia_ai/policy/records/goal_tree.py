"""Goals as a tree with progress, and as lines of a prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evennia_ai.policy.audience import KnownLine
from evennia_ai.policy.authors import of_record
from evennia_ai.policy.records.goal import DEEPEST, DONE, OPEN, children_of
from evennia_ai.policy.records.provenance import Record
from evennia_ai.policy.tokens import CountText

MOST_SHOWN = 8  # in a prompt


@dataclass(frozen=True)
class Branch:
    """A goal in the tree: its depth from 0, and its progress 0 to 1."""

    goal: Record
    depth: int
    progress: float


def lay_out(goals: Sequence[Record]) -> list[Branch]:
    """Return goals as a tree from top to bottom, the most important first, then the oldest."""
    # Goals that are not passed show neither as a parent nor in any progress, so a tree of the goals
    # that an audience may know reveals nothing else (P9). A goal whose parent is missing, or is
    # part of a circle, stands at the top.
    known = {goal["id"]: goal for goal in goals}
    children = children_of(goals)
    branches: list[Branch] = []
    seen: set[str] = set()

    def add(goal: Record, depth: int) -> None:
        if goal["id"] in seen:
            return
        seen.add(goal["id"])
        branches.append(Branch(goal, depth, progress_of(goal, children)))
        for child in by_weight(children.get(goal["id"], ())):
            add(child, depth + 1)

    ranked = by_weight(goals)
    roots = [goal for goal in ranked if goal["parent"] not in known]
    for goal in (*roots, *ranked):  # what no root leads to is in circles
        add(goal, 0)
    return branches


def by_weight(goals: Iterable[Record]) -> list[Record]:
    """Return goals, the most important first, then the oldest."""
    return sorted(goals, key=lambda goal: (-goal["importance"], goal["created"]))


def progress_of(goal: Record, children: Mapping[str, Sequence[Record]], depth: int = 0) -> float:
    """Return a goal's progress, 0 to 1: the mean of its sub-goals not given up, else its own."""
    if goal["state"] == DONE:
        return 1.0
    steps = [c for c in children.get(goal["id"], ()) if c["state"] in (OPEN, DONE)]
    if not steps or depth >= DEEPEST:
        return float(goal["progress"])
    return sum(progress_of(step, children, depth + 1) for step in steps) / len(steps)


def goal_lines(goals: Sequence[Record], room_tokens: int, count_text: CountText) -> list[KnownLine]:
    """Return open goals as prompt lines in a budget.

    ``goals`` are all that the audience may know; ended ones count towards the progress of others.
    """
    lines: list[KnownLine] = []
    open_ones = [branch for branch in lay_out(goals) if branch.goal["state"] == OPEN]
    for branch in open_ones[:MOST_SHOWN]:
        text = goal_line(branch)
        room_tokens -= count_text(text)
        if room_tokens < 0:
            break
        goal = branch.goal
        lines.append(KnownLine(text, goal["audience"] is not None, of_record(goal)))
    return lines


def goal_line(branch: Branch) -> str:
    """Return a goal as one line of a prompt."""
    goal = branch.goal
    why = f" ({goal['why']})" if goal["why"] else ""
    progress = f", {branch.progress:.0%} done" if branch.progress else ""
    step = "a step towards that: " if branch.depth else ""
    return f"{step}{goal['content'].rstrip(' .')}{why} [{goal['id']}{progress}]"

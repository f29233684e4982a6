"""Goals with the steps towards them: which stands below which, how far each has come, and how that
is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evennia_ai.policy.audience import KnownLine, speakers_in
from evennia_ai.policy.records.goal import DEEPEST, DONE, OPEN, children_of
from evennia_ai.policy.records.provenance import Record
from evennia_ai.policy.tokens import CountText

MOST_SHOWN = 8  # in a prompt


@dataclass(frozen=True)
class Branch:
    """A goal where it stands in the tree: how deep, from 0, and how far it has come."""

    goal: Record
    depth: int
    progress: float


def lay_out(goals: Sequence[Record]) -> list[Branch]:
    """Goals as a tree, read from top to bottom; the weightiest first, of equals the oldest.

    Of what is not among them nothing shows, neither as a parent nor in anybody's progress: so a
    tree of what an audience may know tells it nothing else (P9). A parent that is missing, or a
    circle of them, makes a goal stand at the top.
    """
    known = {goal["id"]: goal for goal in goals}
    children = children_of(goals)
    laid: list[Branch] = []
    seen: set[str] = set()

    def lay(goal: Record, depth: int) -> None:
        if goal["id"] in seen:
            return
        seen.add(goal["id"])
        laid.append(Branch(goal, depth, progress_of(goal, children)))
        for child in by_weight(children.get(goal["id"], ())):
            lay(child, depth + 1)

    for goal in by_weight(goals):
        if goal["parent"] not in known:
            lay(goal, 0)
    for goal in by_weight(goals):  # what is left stands in a circle
        lay(goal, 0)
    return laid


def by_weight(goals: Iterable[Record]) -> list[Record]:
    """Goals, the weightiest first, of equals the oldest."""
    return sorted(goals, key=lambda goal: (-goal["importance"], goal["created"]))


def progress_of(goal: Record, children: Mapping[str, Sequence[Record]], depth: int = 0) -> float:
    """How far a goal has come, 0 to 1: the mean of its sub-goals, those that were given up left
    out, and its own figure where it has none."""
    if goal["state"] == DONE:
        return 1.0
    steps = [c for c in children.get(goal["id"], ()) if c["state"] in (OPEN, DONE)]
    if not steps or depth >= DEEPEST:
        return float(goal["progress"])
    return sum(progress_of(step, children, depth + 1) for step in steps) / len(steps)


# --- in a prompt ----------------------------------------------------------------------------------


def goal_lines(
    goals: Sequence[Record], room_tokens: int, count_text: CountText, *, strict: bool
) -> list[KnownLine]:
    """Open goals as they stand in a prompt, the weightiest first, as many as have room.

    Args:
        goals: all that the prompt's audience may know of, those that ended too: they count for how
            far the others have come.
        room_tokens: the room for all of it.
        count_text: counts the tokens of a line.
        strict: whether what is confided stays so.
    """
    lines: list[KnownLine] = []
    open_ones = [branch for branch in lay_out(goals) if branch.goal["state"] == OPEN]
    for branch in open_ones[:MOST_SHOWN]:
        text = goal_line(branch)
        room_tokens -= count_text(text)
        if room_tokens < 0:
            break
        goal = branch.goal
        lines.append(KnownLine(text, strict and goal["audience"] is not None, speakers_in([goal])))
    return lines


def goal_line(branch: Branch) -> str:
    """A goal on one line."""
    goal = branch.goal
    why = f" ({goal['why']})" if goal["why"] else ""
    come = f", {branch.progress:.0%} done" if branch.progress else ""
    step = "a step towards that: " if branch.depth else ""
    return f"{step}{goal['content'].rstrip(' .')}{why} [{goal['id']}{come}]"

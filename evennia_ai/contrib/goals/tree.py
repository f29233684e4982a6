"""Goals as a tree: progress, fading, prompt lines, and the steps that a model finds."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from evennia_ai.messages import WireMessage
from evennia_ai.policy.audience import KnownLine, of_record
from evennia_ai.policy.conversation.persona_and_lore import Persona, render_persona
from evennia_ai.policy.records.forgetting import DAY_S
from evennia_ai.policy.records.goal import (
    BUILDER,
    DONE,
    FADED,
    GOAL_CHARS,
    OPEN,
    USUAL_IMPORTANCE,
    GoalChanges,
    plan_close,
    steps_of,
)
from evennia_ai.policy.records.journal_entry import normalised
from evennia_ai.policy.records.record import Record
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.policy.texts import fenced, read_line_object, reply_lines, request
from evennia_ai.policy.tokens import CountText

WHY_CHARS = 200
MOST_OPEN = 12  # for each audience, steps included
MOST_SHOWN = 8  # in a prompt
FADED_AT = 0.125
LEAST_TO_DECOMPOSE = 7
FEWEST_STEPS, MOST_STEPS = 2, 4


def is_step(goal: Record, known: Mapping[str, Record]) -> bool:
    """Return True for a step of a known goal; a step has no steps of its own."""
    return goal["parent"] in known and known[goal["parent"]]["parent"] not in known


def find_goal(words: str, goals: Sequence[Record]) -> Record | None:
    """Return the one goal that words name by id, content, or a part only it has, else None."""
    wanted = normalised(words)
    ids = {wanted, f"g{wanted}"}
    exact = [g for g in goals if g["id"].lower() in ids or normalised(g["content"]) == wanted]
    if exact:
        return exact[0]
    holding = [goal for goal in goals if wanted and wanted in normalised(goal["content"])]
    return holding[0] if len(holding) == 1 else None


def plan_fading(goals: Sequence[Record], now: datetime, half_life_days: float) -> GoalChanges:
    """Return the changes that end the faded goals of a character's own."""
    # A goal fades at an eighth of its strength, 0.5^(t / (h · importance/5)): t days since it or a
    # step of it was last touched, h the half-life; 0 disables fading. A builder's never fades.
    if not half_life_days:
        return {}
    changes: GoalChanges = {}
    known = {goal["id"]: goal for goal in goals}
    for goal in goals:
        if goal["state"] != OPEN or goal["id"] in changes:
            continue
        family = [goal, *(s for s in steps_of(goal["id"], goals) if s["state"] == OPEN)]
        if BUILDER in {item["origin"] for item in (*family, known.get(goal["parent"], goal))}:
            continue
        touched = max(datetime.fromisoformat(member["touched"]) for member in family)
        days = max(0.0, (now - touched).total_seconds() / DAY_S)
        weight = max(member["importance"] for member in family) / USUAL_IMPORTANCE
        if 0.5 ** (days / (half_life_days * weight)) <= FADED_AT:
            changes |= plan_close(goal, goals, FADED, now.isoformat())
    return changes


@dataclass(frozen=True)
class Branch:
    """A goal in the tree: its depth, 1 for a step, and its progress 0 to 1."""

    goal: Record
    depth: int
    progress: float


def lay_out(goals: Sequence[Record]) -> list[Branch]:
    """Return goals and below each its steps, the most important first, then the oldest."""
    # Goals that are not passed show neither as a parent nor in any progress, so the goals that an
    # audience may know reveal nothing else (P9). A goal whose parent is missing stands at the top.
    known, ranked = {goal["id"]: goal for goal in goals}, by_weight(goals)
    branches: list[Branch] = []
    for goal in ranked:
        if not is_step(goal, known):
            steps = [step for step in steps_of(goal["id"], ranked) if is_step(step, known)]
            branches.append(Branch(goal, 0, progress_of(goal, steps)))
            branches += [Branch(step, 1, progress_of(step)) for step in steps]
    return branches


def by_weight(goals: Iterable[Record]) -> list[Record]:
    """Return goals, the most important first, then the oldest."""
    return sorted(goals, key=lambda goal: (-goal["importance"], goal["created"]))


def progress_of(goal: Record, steps: Sequence[Record] = ()) -> float:
    """Return a goal's progress, 0 to 1: the mean of its steps not given up, else its own."""
    counted = [progress_of(step) for step in steps if step["state"] in (OPEN, DONE)]
    if goal["state"] == DONE or not counted:
        return 1.0 if goal["state"] == DONE else float(goal["progress"])
    return sum(counted) / len(counted)


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
        lines.append(KnownLine(text, goal["audience"] is not None, of_record(goal), goal["id"]))
    return lines


def goal_line(branch: Branch) -> str:
    goal = branch.goal
    why = f" ({goal['why']})" if goal["why"] else ""
    progress = f", {branch.progress:.0%} done" if branch.progress else ""
    step = "a step towards that: " if branch.depth else ""
    return f"{step}{goal['content'].rstrip(' .')}{why} [{goal['id']}{progress}]"


def needs_steps(goal: Record, goals: Iterable[Record]) -> bool:
    """Return True for an important goal whose steps were not asked for yet."""
    return (
        goal["state"] == OPEN
        and goal["importance"] >= LEAST_TO_DECOMPOSE
        and not goal["decomposed"]
        and not goal["parent"]
        and not any(other["parent"] == goal["id"] for other in goals)
    )


def steps_request(prompt: str, name: str, persona: Persona, goal: Record) -> list[WireMessage]:
    """Return the request for the steps of a goal; ``prompt`` has the field ``name``."""
    goal_words = f"{goal['content']} {goal['why']}".strip()
    material = [
        fenced("persona", render_persona(persona)),
        fenced("goal", clean_heard(goal_words, 2 * GOAL_CHARS)),
    ]
    return request(prompt.format(name=name), "\n".join(material))


def read_steps(reply: str, goal: Record) -> tuple[str, ...]:
    """Return the steps in a model's reply; none if fewer than two. Never raises."""
    known_steps = {normalised(goal["content"])}
    steps: list[str] = []
    for line in reply_lines(reply):
        value = read_line_object(line).get("step")
        step = clean_heard(value, GOAL_CHARS) if isinstance(value, str) else ""
        if step and normalised(step) not in known_steps:
            known_steps.add(normalised(step))
            steps.append(step)
    return tuple(steps[:MOST_STEPS]) if len(steps) >= FEWEST_STEPS else ()

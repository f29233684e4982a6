"""Goals and day plans: what a character wants, and what its day holds; their lines of a prompt.

A goal is open until it is done, dropped or faded. It fades if the character set it and then did
nothing about it for a long time; a builder's goal never fades. The progress of a goal with steps is
their mean. A plan is public, because it is made only from what everybody may know.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import ClassVar, Literal, TypedDict

from pydantic import Field

from evennia_ai.policy.audience import KnownLine, of_record
from evennia_ai.policy.records.forgetting import DAY_S
from evennia_ai.policy.records.record import NOTHING, BaseRecord, Record, Time, Words, make_record
from evennia_ai.policy.sleep_schedule import DAY_MINUTES, Schedule

GoalChanges = dict[str, dict[str, object]]  # fields to store, by goal id
State = Literal["open", "done", "dropped", "faded"]
OPEN, DONE, DROPPED, FADED = "open", "done", "dropped", "faded"
BUILDER = "builder"

GOAL_CHARS = 200
USUAL_IMPORTANCE = 5


class Goal(BaseRecord):
    """One goal; times are ISO-8601 UTC."""

    content: Words
    why: str = ""
    parent: str = ""  # id of the goal that this is a step of
    progress: float = Field(default=0.0, ge=0.0, le=1.0)  # its own, if it has no steps
    state: State = "open"
    importance: int = Field(default=USUAL_IMPORTANCE, ge=1, le=10)
    created: Time
    touched: Time  # when it last changed
    origin: Literal["builder", "self", "reflection"] = "self"
    decomposed: bool = False  # a model was asked for its steps

    texts: ClassVar[tuple[str, ...]] = ("content", "why")

    @classmethod
    def merged(
        cls, record: Record, again: Record, fields: Mapping[str, object] = NOTHING
    ) -> Record:
        """Return a goal that was set again: open, and a builder's if one of both was."""
        anew = {
            "state": OPEN,
            "touched": again["touched"],
            "why": record["why"] or again["why"],
            "importance": max(record["importance"], again["importance"]),
            "origin": BUILDER if again["origin"] == BUILDER else record["origin"],
        }
        return super().merged(record, again, {**anew, **fields})


def make_goal(id: str, content: str, at: datetime, fields: Mapping[str, object]) -> Record:
    """Return a new goal, set at ``at``; raises BadRecord."""
    times = {"created": at, "touched": at}
    return make_record(Goal, {**times, **fields, "id": id, "content": content})


def steps_of(goal_id: str, goals: Iterable[Record]) -> list[Record]:
    return [goal for goal in goals if goal["parent"] == goal_id != goal["id"]]


def plan_close(goal: Record, goals: Iterable[Record], state: str, at: str) -> GoalChanges:
    """Return the changes that end a goal together with its open steps."""
    own: dict[str, object] = {"state": state, "touched": at}
    if state == DONE:
        own["progress"] = 1.0
    steps = (step for step in steps_of(goal["id"], goals) if step["state"] == OPEN)
    return {goal["id"]: own} | {step["id"]: {"state": state, "touched": at} for step in steps}


def plan_reopen(goal: Record, goals: Iterable[Record], at: str) -> GoalChanges:
    again: dict[str, object] = {"state": OPEN, "touched": at}
    together = (
        step
        for step in steps_of(goal["id"], goals)
        if (step["state"], step["touched"]) == (goal["state"], goal["touched"])
    )
    own = again | ({"progress": 0.0} if goal["progress"] == 1.0 else {})
    return {goal["id"]: own} | {step["id"]: again for step in together}


def long_closed(goals: Iterable[Record], now: datetime, days: float) -> list[str]:
    """Return the ids of the goals that ended at least ``days`` days ago."""
    return [
        goal["id"]
        for goal in goals
        if goal["state"] != OPEN
        and (now - datetime.fromisoformat(goal["touched"])).total_seconds() / DAY_S >= days
    ]


LASTS_S = 20 * 3_600.0  # under a day: a character that sleeps at about the same hour plans daily


class PlannedBlock(TypedDict):
    """A part of the day that is not stored yet, with the fields of `DayBlock`."""

    begin: int
    end: int
    content: str
    where: str


class DayBlock(BaseRecord):
    """A part of the day; if ``end`` is before ``begin``, it spans midnight."""

    content: Words  # what the character does
    begin: int = Field(ge=0, lt=DAY_MINUTES)  # minutes since midnight on its clock
    end: int = Field(ge=0, lt=DAY_MINUTES)
    where: str = ""  # a place's name; empty for the current one
    made: Time  # when it was planned, ISO-8601 UTC

    texts: ClassVar[tuple[str, ...]] = ("content", "where")


def make_block(id: str, planned: PlannedBlock, at: datetime, speakers: Sequence[str]) -> Record:
    """Return a part of a day to store; raises BadRecord."""
    fields = {"source_type": "inference", "speakers": list(speakers), "made": at}
    return make_record(DayBlock, {**fields, **planned, "id": id})


def is_stale(blocks: Sequence[Record], given_up_at: datetime | None, now: datetime) -> bool:
    """Return True unless a plan was made, or the last attempt was given up, today."""
    tried = [datetime.fromisoformat(block["made"]) for block in blocks]
    tried += [given_up_at] if given_up_at else []
    return all(abs((now - at).total_seconds()) >= LASTS_S for at in tried)


def holds(part: PlannedBlock | Record, minute: int) -> bool:
    return Schedule(part["begin"], part["end"]).holds(minute)


def current_block(blocks: Sequence[Record], minute: int) -> Record | None:
    """Return the part of the day at this minute, None if nothing is planned."""
    return next((block for block in blocks if holds(block, minute)), None)


def block_line(block: Record, place: str) -> KnownLine:
    """Return a part of the day as a prompt line: activity, end, and any other place."""
    elsewhere = block["where"] and block["where"].lower() != place.lower()
    where = f", at {block['where']}" if elsewhere else ""
    text = f"{block['content']}{where}, until {clock(block['end'])}"
    return KnownLine(text, authors=of_record(block))


def clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"

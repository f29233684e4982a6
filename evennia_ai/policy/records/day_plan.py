"""Day plans, public because made only from what everybody may know; requests and prompt lines."""

from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar, TypedDict

from pydantic import Field

from evennia_ai.policy.audience import KnownLine, of_record
from evennia_ai.policy.records.record import BaseRecord, Record, Time, Words, make_record
from evennia_ai.policy.sleep_schedule import DAY_MINUTES, Schedule

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

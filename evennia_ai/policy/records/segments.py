"""Segments: a long list of records in pieces of up to 32."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from evennia_ai.errors import BadRecord
from evennia_ai.policy.records.provenance import Record, people_in
from evennia_ai.policy.records.sealed import Sealed, unsealed

SIZE = 32
LABEL = "{count} records of an assistant; aimemory and aigoals show them"


@dataclass(frozen=True)
class Segment:
    """Part of the list: how many of its numbers are used, and records by number."""

    used: int = 0
    records: Mapping[int, Record] = field(default_factory=dict)

    def as_columns(self) -> dict[str, object]:
        """Return the columns of the Attribute: the value, and everybody concerned (" #5 #12 ")."""
        content = {"used": self.used, "records": dict(self.records)}
        people = frozenset().union(*map(people_in, self.records.values()))
        sealed = Sealed(content, LABEL.format(count=len(self.records)))
        return {"db_value": sealed, "db_strvalue": people_field(people)}


def people_field(people: Iterable[str]) -> str:
    """Return dbrefs as text in which " #5 " finds each one."""
    return " ".join(["", *sorted(people), ""])


def read_segment(
    raw: object, segment: int, read: Callable[[object], Record]
) -> tuple[Segment, bool]:
    """Return the readable part of an Attribute's value, and whether it was complete.

    If it was not complete, all of its numbers count as used. The value need not be sealed.
    """
    raw = unsealed(raw)
    if not isinstance(raw, dict) or not isinstance(raw.get("records"), dict):
        return Segment(SIZE), False
    records: dict[int, Record] = {}
    for number, item in raw["records"].items():
        with suppress(BadRecord):
            if isinstance(number, int) and segment_of(number) == segment:
                records[number] = read(item)
    used = raw.get("used", -1)
    highest = max(map(place_in, records), default=0)
    whole = len(records) == len(raw["records"]) and used in range(highest, SIZE + 1)
    return Segment(used if whole else SIZE, records), whole


def segment_of(number: int) -> int:
    """Return the segment of a number; numbers count from 1."""
    return (number - 1) // SIZE


def place_in(number: int) -> int:
    """Return a number's place in its segment, from 1."""
    return (number - 1) % SIZE + 1

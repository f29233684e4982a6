"""What people did to a character, as records on it: ``OpinionDeeds.of(character)``."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from math import copysign
from operator import itemgetter
from typing import Any

from evennia_ai.contrib.opinions.opinion_rules import HIGHEST, DeedRule
from evennia_ai.policy.records.record import BaseRecord, Dbref, Record, Time, Words, make_record
from evennia_ai.ports import RecordStore
from evennia_ai.ports.records import anew

LOOK_BACK = timedelta(days=7)  # how old a row is counted at most; so long its record stays
LEAST = 0.05  # points
MOST_KEPT = 100  # deeds of one person


class OpinionDeed(BaseRecord):
    """One deed of a person towards the character."""

    content: Words  # the reason in words, such as "gave you a rope"
    entity: Dbref  # who did it
    deed: str  # its kind, as in the rules
    change: float  # points, when it was new
    fades: float  # points a day of the world
    key: str  # of the row that tells of it
    made: Time
    thing: str = ""  # dbref of what was given: it counts once, whoever gives it again
    undone: bool = False  # by a builder; it stays, so that its row is not counted anew


class OpinionDeeds(RecordStore):
    """Deeds as plain dicts with the fields of `OpinionDeed`.

    ``is_behind`` is True if the log may tell of more; of it, events up to ``last_event`` and
    ``acts`` were read.
    """

    kind = "ai_opinions"
    prefix = "o"
    model = OpinionDeed

    def __init__(self, obj: Any) -> None:
        super().__init__(obj)
        self.is_behind, self.last_event, self.acts = True, 0, set[int]()
        self.by_person: dict[str, dict[str, Record]] = {}  # those in memory, by id

    def noticed(self, old: Record | None, new: Record | None) -> None:
        """Note a deed of somebody, and the row that told of it."""
        if old:
            self.by_person[old["entity"]].pop(old["id"])
        if new:
            self.by_person.setdefault(new["entity"], {})[new["id"]] = new
            table, _, number = new["key"].partition(" ")
            self.last_event = max(self.last_event, int(number) if table == "event" else 0)

    def deeds_of(self, person: str, every: bool = False) -> list[Record]:
        """Return the deeds of one person that count, or every one, oldest first."""
        self.load_all()
        records = self.by_person.get(person, {}).values()
        counting = [record for record in records if every or not record["undone"]]
        return sorted(counting, key=itemgetter("made"))

    def points(self, record: Record) -> float:
        """Return what is left of a deed by now."""
        left = abs(record["change"]) - record["fades"] * self._days_since(record["made"])
        return copysign(max(0.0, left), record["change"])

    def value(self, records: Iterable[Record]) -> float:
        """Return the opinion that some deeds of one person make, in points."""
        points = round(sum(map(self.points, records)), 2) + 0.0  # and not -0.0
        return max(-HIGHEST, min(HIGHEST, points))

    def _days_since(self, at: str) -> float:
        """Return how many days of the world have passed since a moment of the log."""
        clock = self.obj.assistant.services.world_clock
        return float(clock.passed(datetime.fromisoformat(at)) / clock.units["day"])

    def count(self, rule: DeedRule, **fields: Any) -> float:
        """Store a deed as far as its rule leaves room in its day; returns as `put`."""
        if fields.get("thing") and any(fields["thing"] == item["thing"] for item in self.every()):
            return 0.0
        days, before = self._days_since(fields["made"]), self.deeds_of(fields["entity"])
        same = [item for item in before if item["deed"] == fields["deed"]]
        near = [item for item in same if abs(self._days_since(item["made"]) - days) < 1]
        room = max(0.0, rule.most - sum(abs(item["change"]) for item in near))
        change = copysign(min(abs(rule.change), room), rule.change)
        return self.put(change, fades=rule.fades, **fields)

    @anew
    def put(self, change: float, **fields: Any) -> float:
        """Store a deed, once for each key, as far as the scale has room; returns its points.

        Deeds that are over go. Raises BadRecord and StoreUnavailable.
        """
        before = self.deeds_of(fields["entity"], every=True)
        value = self.value(self.deeds_of(fields["entity"]))
        change = round(max(-HIGHEST, min(HIGHEST, value + change)) - value, 2)
        if abs(change) < LEAST or any(item["key"] == fields["key"] for item in before):
            return 0.0
        new = make_record(OpinionDeed, {**fields, "id": self.next_id, "change": change})
        over = [*before[: 1 - MOST_KEPT], *filter(self._is_over, before)]
        self.change(dict.fromkeys(item["id"] for item in over), new)
        return change

    def _is_over(self, record: Record) -> bool:
        """Return True for a deed of which nothing is left, and whose row is not read again."""
        is_old = self.now() - datetime.fromisoformat(record["made"]) > LOOK_BACK
        return is_old and (record["undone"] or not self.points(record))

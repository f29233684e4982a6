"""Promises and appointments as records on the character: ``Promises.of(character)``."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from evennia_ai.config import setting
from evennia_ai.config.declared import Bounds
from evennia_ai.policy.records.record import BaseRecord, Dbref, Record, Time, Words, make_record
from evennia_ai.ports import RecordStore
from evennia_ai.ports.records import anew

OWN, THEIRS, LETTER = "own", "theirs", "letter"
OPEN = "open"
MOST_OVER = 60  # that a character keeps
SAME_S = 60.0  # of the world; appointments nearer than this are one


@dataclass(frozen=True)
class PromiseSettings:
    """How long a character waits, and how much it promises."""

    appointment_wait: float = setting(
        30.0, "Minutes of the world that the character waits at an appointment.", Bounds(1, 10_000)
    )
    person_promises: int = setting(
        20,
        "Maximum open promises that one person's words may cause. 0 allows none.",
        Bounds(0, 100),
    )


class Promise(BaseRecord):
    """A promise of the character, or one to it; times are the world's seconds."""

    content: Words  # what was promised
    kind: Literal["own", "theirs", "letter"] = "own"
    entity: Dbref  # to or by whom
    place: str = ""  # dbref of where the character goes; empty for no appointment
    where: str = ""  # the place's name
    due: float = 0.0
    lead: float = 0.0  # how long before that it was made
    until: float = 0.0  # how long the character waits there
    made: Time
    state: Literal["open", "kept", "missed", "failed", "cancelled", "reminded", "asked"] = "open"
    reason: Literal["", "no_way", "held_up", "cancelled"] = ""  # why it was not kept
    told: bool = False  # True once the other needs to be told no more of it
    back: str = ""  # dbref of the place to which the character returns

    texts: ClassVar[tuple[str, ...]] = ("content", "where")


def is_active(record: Record) -> bool:
    """Return True if something is still to be done, or to be told."""
    return record["state"] == OPEN or not record["told"] or bool(record["back"])


class Promises(RecordStore):
    """Promises as plain dicts with the fields of `Promise`."""

    kind = "ai_promises"
    prefix = "p"
    model = Promise

    @anew
    def add(self, content: str, **fields: Any) -> str:
        """Store a promise, unless it is stored already; returns its id. Raises BadRecord.

        Of those that are over, the newest `MOST_OVER` stay.
        """
        named = {**fields, "id": self.next_id, "content": content, "made": self.now()}
        new = make_record(Promise, named)
        parts = ("kind", "entity", "source_entity", "place")
        for item in self.open():
            is_near = abs(item["due"] - new["due"]) < SAME_S
            says_same = new["place"] or item["content"].casefold() == new["content"].casefold()
            if is_near and says_same and all(item[part] == new[part] for part in parts):
                return str(item["id"])
        over = [item["id"] for item in self.every() if not is_active(item)]
        self.change(dict.fromkeys(over[:-MOST_OVER]), new)
        return str(new["id"])

    def promises(self) -> list[Record]:
        """Return all but letters, which an older version kept here, and `letters` takes over."""
        return [item for item in self.every() if item["kind"] != LETTER]

    def open(self) -> list[Record]:
        return [item for item in self.promises() if item["state"] == OPEN]

    def active(self) -> list[Record]:
        """Return the records with something to do or to tell, the earliest due first."""
        return sorted(filter(is_active, self.promises()), key=lambda item: item["due"])


def appointments_of(character: Any) -> list[Record]:
    """Return the open appointments of a character, the next one first."""
    active = Promises.of(character).active()
    return [record for record in active if record["state"] == OPEN and record["place"]]

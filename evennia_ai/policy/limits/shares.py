"""What one person's words may take of a character's memory: pins, journal entries, goals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from evennia_ai.messages import Audience
from evennia_ai.policy.authors import people_among
from evennia_ai.policy.records.provenance import Record

PINS_FULL = "You keep in mind as much as you can for others: note this in your journal instead."
TOO_MANY_ENTRIES = "You noted enough of what they told you for one day: leave this."
TOO_MANY_GOALS = "You have enough goals for their sake: finish or drop one before you set another."


@dataclass(frozen=True)
class PinPlan:
    """The pins that give way to a new one, oldest first; ``refusal`` if it cannot be kept."""

    gone: tuple[Record, ...] = ()
    refusal: str = ""


def plan_pin(
    pins: Sequence[Record], people: Audience, room: int, most: int, count_text: Callable[[str], int]
) -> PinPlan:
    """Decide how a new pin finds its place.

    Only pins of the same people give way, the oldest first, then those that came of nobody's words:
    nobody evicts what others asked for. ``pins`` are the character's own, oldest first; ``room`` is
    what they may take beside the new one, in tokens; ``most`` is how many pins one person's words
    may cause, and ``people`` those who speak now.
    """
    own = [pin for pin in pins if is_of(pin, people)]
    nobodys = [pin for pin in pins if people and not causes_of(pin)]
    left, gone = list(pins), list[Record]()
    while True:
        is_many = is_reached(left, people, most)
        if not is_many and sum(count_text(pin["content"]) for pin in left) <= room:
            return PinPlan(tuple(gone))
        source = own or ([] if is_many else nobodys)
        if not source:
            return PinPlan(refusal=PINS_FULL)
        gone.append(source.pop(0))
        left.remove(gone[-1])


def causes_of(record: Record) -> Audience:
    """Return the people who caused a record: its one speaker, else everybody behind its words."""
    source = record["source_entity"]
    return frozenset({source}) if source else people_among(record["speakers"])


def is_of(record: Record, people: Audience) -> bool:
    """Return True if a record came of these people's words alone, or of nobody's."""
    causes = causes_of(record)
    return bool(causes) == bool(people) and causes <= people


def is_reached(records: Iterable[Record], people: Audience, most: int) -> bool:
    """Return True if one of these people caused as many of these records as allowed."""
    causes = [name for record in records for name in causes_of(record) & people]
    return any(causes.count(name) >= most for name in people)

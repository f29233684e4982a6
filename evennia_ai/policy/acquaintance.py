"""What is known of somebody who is here, as a line of a prompt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from evennia_ai.policy.attribute_patterns import NO, YES
from evennia_ai.policy.entity_profiles import familiarity_at
from evennia_ai.policy.provenance import Record

WELL_KNOWN, KNOWN = 0.4, 0.15
FELT = 0.1
MOST_ATTRIBUTES = 6
# What a speaker said of himself or others is his claim; what was seen is not.
CLAIM_BELOW = 0.9


@dataclass(frozen=True)
class Acquaintance:
    """Somebody who is here.

    Attributes:
        name: what the character calls him.
        dbref: his.
        relationship: how it stands with him.
        values: current values of his attributes that the audience may know, oldest first.
        contradicted: ids of those of which another source says something else that it may know.
        is_talking: whether the two are in conversation.
    """

    name: str
    dbref: str
    relationship: Record
    values: Sequence[Record]
    contradicted: frozenset[str] = frozenset()
    is_talking: bool = False


def acquaintance_line(
    person: Acquaintance, now: datetime, name_of: Callable[[str], str]
) -> str | None:
    """One line of what is known of somebody, None where that is nothing.

    Args:
        person: he, and what is known.
        now: the time.
        name_of: what the character calls whom a dbref is of, empty where that is nobody.
    """
    told = [in_words(value, person, name_of) for value in list(person.values)[-MOST_ATTRIBUTES:]]
    parts = [*relation_in_words(person.relationship, now), *told]
    if not parts:
        return None
    talking = " (in conversation with you)" if person.is_talking else ""
    return f"{person.name}{talking}: {'; '.join(parts)}"


def relation_in_words(relationship: Record, now: datetime) -> list[str]:
    """How it stands between the two; nothing at a first meeting."""
    words: list[str] = []
    if relationship["contacts"] >= 2:
        familiarity = familiarity_at(relationship, now)
        how = "well" if familiarity >= WELL_KNOWN else "" if familiarity >= KNOWN else "a little"
        words.append(f"you know each other {how}".rstrip())
    if abs(relationship["sentiment"]) >= FELT:
        words.append("on good terms" if relationship["sentiment"] > 0 else "on bad terms")
    return words


def in_words(value: Record, person: Acquaintance, name_of: Callable[[str], str]) -> str:
    """A value with whose word it is, where it is another's, and whether others say otherwise."""
    said = {YES: value["attribute"], NO: f"not: {value['attribute']}"}.get(
        value["value"], f"{value['attribute']}: {value['value']}"
    )
    notes = []
    source = value["source_entity"]
    if value["trust"] < CLAIM_BELOW and source:
        teller = "own words" if source == person.dbref else name_of(source)
        notes += [f"from {teller}" if source != person.dbref else teller] if teller else []
    if value["id"] in person.contradicted:
        notes.append("others say otherwise")
    return f"{said} ({', '.join(notes)})" if notes else said

"""Which journal entries have faded: pure, from plain entries.

What is forgotten is what matters little, was not looked up and is long ago; never what somebody
chose to keep, and never what something that still holds was made of.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from evennia_ai.policy.records.provenance import Record

DAY_S = 86_400.0
# Nothing automatic removes what a builder wrote, or what stands for talk that is out of view.
LASTING = frozenset({"builder", "compaction"})
# What these were made of is cited in their links.
CITING = frozenset({"reflection"})


@dataclass(frozen=True)
class Fading:
    """When an entry may be forgotten: all of it must hold.

    Attributes:
        retention: how much of it must be left at most, 0 to 1.
        importance: how much it may matter at most, 1 to 10.
        age_days: how old it must be.
        floor: how many entries a journal keeps in any case.
    """

    retention: float = 0.05
    importance: int = 4
    age_days: float = 14.0
    floor: int = 200


def retention(age_days: float, recalls: int, importance: int) -> float:
    """How much of a memory is left: e^(−t/S), S = 1 + recalls + importance/2.

    Args:
        age_days: t, in days; what is of the future counts as of now.
        recalls: how often it was looked up.
        importance: 1 to 10.

    After Ebbinghaus' curve as MemoryBank has it, with the division as its paper means it: the
    released code makes stronger memories fade faster.
    """
    return math.exp(-max(0.0, age_days) / (1.0 + recalls + importance / 2.0))


def age_in_days(entry: Record, now: datetime) -> float:
    """How long ago an entry was written."""
    return (now - datetime.fromisoformat(entry["timestamp"])).total_seconds() / DAY_S


def retention_of(entry: Record, now: datetime) -> float:
    """How much is left of a journal entry."""
    return retention(age_in_days(entry, now), entry.get("recalls", 0), entry["importance"])


def is_lasting(entry: Record) -> bool:
    """True for what nothing automatic removes, however old: pins, what a builder or a game's code
    wrote or weighed, and what a compaction left of old talk."""
    return entry["pinned"] or entry["source_type"] in LASTING or entry["importance_by"] == "given"


def is_faded(entry: Record, now: datetime, fading: Fading) -> bool:
    """True where an entry is of little weight, old, and hardly left, and nobody chose to keep
    it."""
    return (
        not is_lasting(entry)
        and entry["importance"] <= fading.importance
        and age_in_days(entry, now) >= fading.age_days
        and retention_of(entry, now) <= fading.retention
    )


def cited_by(entry: Record) -> list[str]:
    """Ids of what an entry was made of, where these must stay as long as it does."""
    return list(entry["links"]) if entry["source_type"] in CITING else []


def sources_in_use(values: Iterable[Record]) -> frozenset[str]:
    """Ids of what values of attributes that still hold were made of."""
    live = (value["sources"] for value in values if value["valid_to"] is None)
    return frozenset(source for ids in live for source in ids)


def select_to_forget(
    faded: Sequence[tuple[float, str]], kept: Collection[str], total: int, floor: int
) -> list[str]:
    """Ids to forget, the most faded first.

    Args:
        faded: retention and id of entries that `is_faded`.
        kept: ids that stay whatever they are.
        total: how many entries there are.
        floor: how many must stay.
    """
    room = max(0, total - floor)
    return [faint for _left, faint in sorted(faded) if faint not in kept][:room]

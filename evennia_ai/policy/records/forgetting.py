"""Which journal entries have faded and may be forgotten.

An entry fades if it is of little importance, old, and rarely looked up. An entry that somebody
chose to keep never fades, nor does an entry that a current value or a reflection was made from.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from evennia_ai.policy.records.provenance import Record

DAY_S = 86_400.0
# Nothing automatic removes what a builder wrote, or the summary of evicted messages.
LASTING = frozenset({"builder", "compaction"})
# Entries of these kinds cite their sources in their links.
CITING = frozenset({"reflection"})


@dataclass(frozen=True)
class Fading:
    """The conditions under which an entry may be forgotten; all must hold."""

    retention: float = 0.05  # highest, 0 to 1
    importance: int = 4  # highest, 1 to 10
    age_days: float = 14.0  # lowest
    floor: int = 200  # entries that a journal always keeps


def retention(age_days: float, recalls: int, importance: int) -> float:
    """Return how much of a memory is left: e^(−t/S), S = 1 + recalls + importance/2.

    t is the age in days; a time in the future counts as now. Ebbinghaus' curve as in MemoryBank.
    The division follows the paper's intent: in the released code, stronger memories fade faster.
    """
    return math.exp(-max(0.0, age_days) / (1.0 + recalls + importance / 2.0))


def age_in_days(entry: Record, now: datetime) -> float:
    """Return how many days ago an entry was written."""
    return (now - datetime.fromisoformat(entry["timestamp"])).total_seconds() / DAY_S


def retention_of(entry: Record, now: datetime) -> float:
    """Return how much of a journal entry is left, 0 to 1."""
    return retention(age_in_days(entry, now), entry.get("recalls", 0), entry["importance"])


def is_lasting(entry: Record) -> bool:
    """Return True for what nothing automatic removes: pinned, given, a builder's, or a summary."""
    return entry["pinned"] or entry["source_type"] in LASTING or entry["importance_by"] == "given"


def is_faded(entry: Record, now: datetime, fading: Fading) -> bool:
    """Return True if an entry is unimportant, old and faded, and nobody kept it."""
    return (
        not is_lasting(entry)
        and entry["importance"] <= fading.importance
        and age_in_days(entry, now) >= fading.age_days
        and retention_of(entry, now) <= fading.retention
    )


def cited_by(entry: Record) -> list[str]:
    """Return the ids of the sources that must stay as long as this entry does."""
    return list(entry["links"]) if entry["source_type"] in CITING else []


def sources_in_use(values: Iterable[Record]) -> frozenset[str]:
    """Return the ids of the sources of all attribute values that still hold."""
    live = (value["sources"] for value in values if value["valid_to"] is None)
    return frozenset(source for ids in live for source in ids)


def select_to_forget(
    faded: Sequence[tuple[float, str]], kept: Collection[str], total: int, floor: int
) -> list[str]:
    """Return the ids to forget, most faded first; ``kept`` and ``floor`` of ``total`` stay."""
    most = max(0, total - floor)
    return [entry_id for _left, entry_id in sorted(faded) if entry_id not in kept][:most]

"""Newer values before older ones in a ranking."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from evennia_ai.policy.retrieval.time_expressions import find_spans

R = TypeVar("R", bound=Mapping[str, Any])  # a journal entry, or a value of an attribute

WORD = re.compile(r"\w+")
# Share of both texts' words. Two entries of one form with different values share more, entries on
# different subjects by the same speaker do not (measured on synthetic entries).
SHARED = 0.5


def newest_first(query: str, records: Sequence[R], now: datetime) -> list[R]:
    """Return ranked records with the newest of each group of similar ones first."""
    # "Ann owes 5 crowns" then stands before the older "Ann owes 3 crowns"; no other record moves.
    # If the query names a time, the order stays, because the ranking has put that time first.
    ordered = list(records)
    if find_spans(query, now.timestamp()):
        return ordered
    words = [words_of(record) for record in records]
    placed: set[int] = set()
    for first, record in enumerate(records):
        if first in placed or not words[first]:
            continue
        later = (place for place in range(first + 1, len(records)) if place not in placed)
        alike = [
            place
            for place in later
            if records[place]["source_entity"] == record["source_entity"]
            and is_alike(words[first], words[place])
        ]
        places = [first, *alike]
        placed.update(places)
        group = (records[place] for place in places)
        by_age = sorted(
            group, key=lambda entry: datetime.fromisoformat(entry["timestamp"]), reverse=True
        )
        for place, newer in zip(places, by_age, strict=True):
            ordered[place] = newer
    return ordered


def words_of(record: Mapping[str, Any]) -> frozenset[str]:
    """Return the words of a journal entry; none for an attribute value or a line of the log."""
    text = "" if "kind" in record else record.get("content", "")
    return frozenset(WORD.findall(text.casefold()))


def is_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return True if two texts share most of their words (Dice's coefficient)."""
    return 2 * len(one & other) > SHARED * (len(one) + len(other))

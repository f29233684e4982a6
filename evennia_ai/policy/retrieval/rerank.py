"""Of notes that say the same thing with another value, the newest comes first."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from evennia_ai.policy.retrieval.time_expressions import find_spans

R = TypeVar("R", bound=Mapping[str, Any])  # a journal entry, or a value of an attribute

FUSION_K = 2
FIRST_COUNTS = 2.0
WORD = re.compile(r"\w+")
# Of the words of both. Notes of one form that differ in their value share more, notes of different
# things by the same teller no more (measured on made-up notes).
SHARED = 0.5


def newest_first(query: str, records: Sequence[R], now: datetime) -> list[R]:
    """Ranked records, so that what was noted last of a thing stands before what was noted of it
    earlier: "Ann owes 5 crowns" after "Ann owes 3 crowns". Nothing else changes its place.

    Where the query names a time, the ranking has put that time first, and it stays so.

    Args:
        query: what they were found by.
        records: journal entries, and values of attributes, of which only the newest are found.
        now: when it is asked.
    """
    ordered = list(records)
    if find_spans(query, now.timestamp()):
        return ordered
    words = [words_of(record) for record in records]
    placed: set[int] = set()
    for first, record in enumerate(records):
        if first in placed or not words[first]:
            continue
        later = (place for place in range(first + 1, len(records)) if place not in placed)
        of_it = [
            place
            for place in later
            if records[place]["source_entity"] == record["source_entity"]
            and is_alike(words[first], words[place])
        ]
        places = [first, *of_it]
        placed.update(places)
        by_age = sorted((records[place] for place in places), key=written_at, reverse=True)
        for place, newer in zip(places, by_age, strict=True):
            ordered[place] = newer
    return ordered


def words_of(record: Mapping[str, Any]) -> frozenset[str]:
    """The words of a note; none of a value."""
    return frozenset(WORD.findall(record.get("content", "").casefold()))


def is_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """True where two notes share most of their words (Dice's coefficient)."""
    return 2 * len(one & other) > SHARED * (len(one) + len(other))


def written_at(entry: Mapping[str, Any]) -> datetime:
    """When an entry was written."""
    return datetime.fromisoformat(entry["timestamp"])


def fuse_ranks(first: Sequence[R], *others: Sequence[R]) -> list[R]:
    """Records found in several ways, best first. Of equals what the first ranking has comes first.

    Reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009), where the first ranking counts
    twice and the constant is 2. With their 60, made for rankings of a thousand, whatever is
    anywhere in two rankings of 24 comes before the best of one: of promises made 60 days ago 40 in
    a hundred were among the first eight instead of 85 (measured, tests/bench/test_mud_world.py).
    """
    scores: dict[str, float] = {}
    records: dict[str, R] = {}
    for ranking in (first, *others):
        weight = FIRST_COUNTS if ranking is first else 1.0
        for rank, record in enumerate(ranking, 1):
            records.setdefault(record["id"], record)
            scores[record["id"]] = scores.get(record["id"], 0.0) + weight / (FUSION_K + rank)
    return [records[name] for name in sorted(scores, key=lambda name: -scores[name])]

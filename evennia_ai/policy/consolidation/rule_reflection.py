"""Reflection without a model: conclusions by counting."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from evennia_ai.policy.consolidation.reflection import LEAST_CITED, MOST_CITED, Insight
from evennia_ai.policy.records.provenance import Record
from evennia_ai.policy.retrieval.words import find_words, language_of
from evennia_ai.policy.sanitize import clean_heard

OWED = re.compile(
    r"\b(?:ow(?:e|es|ed|ing)|debts?|promis\w+|swore|vow\w*|schulde\w*|versproch\w*|versprich\w*)\b",
    re.I,
)
LEAST_FROM_ONE = 3
LEAST_RECURRING = 4
SHOWN_OWED = 3
OWED_CHARS = 100


def reflect_plainly(entries: Sequence[Record], names: Mapping[str, str]) -> tuple[Insight, ...]:
    """Return insights by counting: who told the most, what recurs, what is owed."""
    found = (most_heard(entries, names), recurring(entries, names), still_owed(entries))
    return tuple(insight for insight in found if insight)


def most_heard(entries: Sequence[Record], names: Mapping[str, str]) -> Insight | None:
    """Return an insight on who told the most, None if nobody clearly did."""
    counts = Counter(e["source_entity"] for e in entries if names.get(e["source_entity"]))
    ranked = counts.most_common(2)
    if not ranked or ranked[0][1] < LEAST_FROM_ONE:
        return None
    if len(ranked) == 2 and ranked[0][1] == ranked[1][1]:
        return None
    who, count = ranked[0]
    own = [entry["id"] for entry in entries if entry["source_entity"] == who]
    return Insight(
        f"Nobody has told me as much lately as {names[who]}: {count} of {len(entries)} things that "
        "I wrote down.",
        tuple(own[-MOST_CITED:]),
    )


def recurring(entries: Sequence[Record], names: Mapping[str, str]) -> Insight | None:
    """Return an insight on the word in the most entries, without speakers' names."""
    spoken = {word for name in names.values() for word in find_words(name)}
    holding: dict[str, list[str]] = {}
    for entry in entries:
        for word in set(find_words(entry["content"])) - spoken:
            if not any(mark.isdigit() for mark in word):
                holding.setdefault(word, []).append(entry["id"])
    best = max(holding, key=lambda word: (len(holding[word]), word), default="")
    if not best or len(holding[best]) < LEAST_RECURRING:
        return None
    shown = as_written(best, entries)
    return Insight(
        f"One thing comes up again and again: {shown}, {len(holding[best])} times in what I wrote "
        "down lately.",
        tuple(holding[best][-MOST_CITED:]),
    )


def as_written(stem: str, entries: Sequence[Record]) -> str:
    """Return a word as the first entry with this stem spells it."""
    for entry in entries:
        language = language_of(entry["content"])
        for word in re.finditer(r"[\w'’-]+", entry["content"]):
            if find_words(word[0], (), language) == [stem]:
                return word[0]
    return stem


def still_owed(entries: Sequence[Record]) -> Insight | None:
    """Return an insight on debts and promises, None if there are fewer than two."""
    owed = [entry for entry in entries if OWED.search(entry["content"])]
    if len(owed) < LEAST_CITED:
        return None
    newest = owed[-SHOWN_OWED:]
    listed = "; ".join(clean_heard(e["content"], OWED_CHARS).rstrip(" .") for e in newest)
    return Insight(
        f"Not to be forgotten, as far as I know: {listed}.", tuple(e["id"] for e in newest)
    )

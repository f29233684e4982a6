"""Relevance of texts to a query, BM25 over content words, and newer values before older ones.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the
usual k1 = 1.2 and b = 0.75.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, TypeVar

from evennia_ai.policy.retrieval import exchange
from evennia_ai.policy.retrieval.words import (
    QUESTION_MARKS,
    asked_words,
    asks,
    find_words,
    name_words,
    tells,
    without_words,
)

K1 = 1.2
B = 0.75
R = TypeVar("R", bound=Mapping[str, Any])  # a journal entry, or a value of an attribute


def score_texts(query: str, texts: Sequence[str]) -> list[float]:
    """Return the BM25 score of each text; 0 if it shares no content word."""
    return score_documents(query, [known_words(text) for text in texts])


@lru_cache(maxsize=512)
def known_words(text: str) -> tuple[str, ...]:
    """Return the content words of a text, such as a persona, that is compared again and again."""
    return tuple(find_words(text))


def score_documents(query: str, documents: Sequence[Sequence[str]]) -> list[float]:
    """Return the BM25 score of each text, given by its content words."""
    average = sum(map(len, documents)) / (len(documents) or 1) or 1.0
    scores = [0.0] * len(documents)
    for word in sorted(set(asked_words(query))):
        counts = [document.count(word) for document in documents]
        holding = len(counts) - counts.count(0)
        rarity = math.log(1 + (len(counts) - holding + 0.5) / (holding + 0.5))
        for index, count in enumerate(counts):
            if count:
                length = len(documents[index]) / average
                scores[index] += rarity * count * (K1 + 1) / (count + K1 * (1 - B + B * length))
    return scores


def newest_first(
    query: str, records: Sequence[R], now: datetime, name_of: Callable[[str], str] = str
) -> list[R]:
    """Return ranked records with the newest of each group on one subject before the others of it.

    ``name_of`` returns the name of a source: whose it is makes two notes no notes on one subject.
    """
    # "Ann owes 5 crowns" then stands before the older "Ann owes 3 crowns"; no other record moves.
    # If the query names a time, the order stays, because the ranking has put that time first.
    if exchange.find_spans(query, now.timestamp()):
        return list(records)
    sources = [record["source_entity"] for record in records]
    names = words_of_names(sources, name_of)
    record_subjects = [exchange.subject_of(told_by(record)) for record in records]
    subjects = [(words.difference(names), changed) for words, changed in record_subjects]
    times = [record.get("timestamp", "") for record in records]

    def is_alike(place: int, other: int) -> bool:
        older, newer = sorted((place, other), key=times.__getitem__)
        same = sources[place] == sources[other] and subjects[place][0] and subjects[other][0]
        return bool(same) and exchange.same_subject(subjects[older][0], *subjects[newer])

    ordered, grouped = list[int](), set[int]()
    for first in range(len(records)):
        if first not in grouped:
            later = (n for n in range(first + 1, len(records)) if n not in grouped)
            group = [first, *(place for place in later if is_alike(first, place))]
            grouped.update(group)
            ordered.append(max(group, key=times.__getitem__))
        if first not in ordered:
            ordered.append(first)
    return [records[place] for place in ordered]


def words_of_names(sources: Iterable[str], name_of: Callable[[str], str]) -> frozenset[str]:
    """Return the words of the names of some sources, each looked up once."""
    return frozenset(find_words(" ".join(map(name_of, set(sources)))))


def told_by(record: Mapping[str, Any]) -> str:
    """Return the words of a line or an entry; an attribute's value has its own history."""
    return str(record.get("words") or record.get("content", "")) if "value" not in record else ""


LONGEST_TEXT = 4_000  # characters; the rest of a text is stored but not ranked


@dataclass(frozen=True)
class RelevanceWeights:
    """The weight of each sign; only their ratios matter."""

    meaning: float = 5.25
    words: float = 4.5
    need: float = 2.0  # of lore, see `LoreIndex`
    told: float = 3.0  # of what people tell of themselves, see `memory.question_types`
    # Shares of relevance that two memories before and after add: an answer follows its question.
    before: tuple[float, float] = (0.45, 0.3)
    after: tuple[float, float] = (0.2, 0.15)
    session: float = 0.6
    speaker: float = 4.7  # with one speaker; less the more there are
    confided: float = 4.0  # to fewer than everybody
    time: float = 2.8
    number: float = 1.5
    around: float = 4.5
    within: float = 4.0
    question: float = -1.1
    length: float = 0.7
    sources: float = 0.5
    recency: float = 0.05
    importance: float = 0.05


@dataclass(frozen=True)
class QuerySigns:
    """The signs of a query."""

    text: str  # without speakers' names, for its embedding
    words: tuple[str, ...]  # the stems that matter
    names: frozenset[str]
    time: bool
    number: bool
    spans: tuple[exchange.Span, ...]  # the times that it names


@dataclass(frozen=True)
class MemorySigns:
    """The signs of a memory's text."""

    words: Sequence[Any]  # stems, or the numbers that stand for them
    time: bool
    number: bool
    question: bool
    signs: int  # see `exchange.Sign`

    @property
    def length(self) -> float:
        """The length in words, on a logarithmic scale."""
        return math.log1p(len(self.words))


def understand(
    query: str, is_name: Callable[[str], bool] = lambda _: False, now: float | None = None
) -> QuerySigns:
    """Return the signs of a query asked at ``now`` (Unix s); ``is_name`` gets lower-case words."""
    query = query[:LONGEST_TEXT]
    names = frozenset(word for word in name_words(query) if is_name(word))
    words = tuple(asked_words(query, names))
    asks_time, asks_number = asks(query)
    return QuerySigns(
        text=without_words(query, names) if words else query,
        words=words or tuple(dict.fromkeys(find_words(query))),
        names=names,
        time=asks_time,
        number=asks_number,
        spans=exchange.find_spans(query, now),
    )


def describe(text: str) -> MemorySigns:
    """Return the signs of a memory's text."""
    text = text[:LONGEST_TEXT]
    tells_time, tells_number = tells(text)
    return MemorySigns(
        words=tuple(find_words(text)),
        time=tells_time,
        number=tells_number,
        question=text.rstrip().endswith(QUESTION_MARKS),
        signs=exchange.signs_of(text),
    )

"""The signs that ranking weighs: in a query, and in a memory.

Each function here looks at one text alone. The weights were fitted on public dialogues;
``tests/bench/test_retrieval.py`` has their results on unseen dialogues.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from evennia_ai.policy.retrieval.exchange import signs_of
from evennia_ai.policy.retrieval.time_expressions import Span, find_spans
from evennia_ai.policy.retrieval.words import (
    asked_words,
    asks,
    find_words,
    name_words,
    tells,
    without_words,
)

LONGEST_TEXT = 4_000  # characters; the rest of a text is stored but not ranked
QUESTION_MARKS = ("?", "？", "؟", "\u037e")  # the last is the Greek one


@dataclass(frozen=True)
class Weights:
    """The weight of each sign; only their ratios matter."""

    meaning: float = 5.25
    words: float = 4.5
    # Shares of relevance that two memories before and after add: an answer follows its question.
    before: tuple[float, float] = (0.45, 0.3)
    after: tuple[float, float] = (0.2, 0.15)
    session: float = 0.6
    speaker: float = 4.7  # with one speaker; less the more there are
    confided: float = 2.0  # to fewer than everybody
    time: float = 2.8
    number: float = 1.5
    around: float = 4.5
    within: float = 4.0
    question: float = -1.1
    length: float = 0.7
    rarity: float = 2.0  # of its words, 0 to 1
    sources: float = 0.5
    recency: float = 0.05
    importance: float = 0.05


@dataclass(frozen=True)
class Wanted:
    """The signs of a query."""

    text: str  # without speakers' names, for its embedding
    words: tuple[str, ...]  # the stems that matter
    names: frozenset[str]
    time: bool
    number: bool
    spans: tuple[Span, ...]  # the times that it names


@dataclass(frozen=True)
class Offered:
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
) -> Wanted:
    """Return the signs of a query asked at ``now`` (Unix s); ``is_name`` gets lower-case words."""
    query = query[:LONGEST_TEXT]
    names = frozenset(word for word in name_words(query) if is_name(word))
    words = tuple(asked_words(query, names))
    asks_time, asks_number = asks(query)
    return Wanted(
        text=without_words(query, names) if words else query,
        words=words or tuple(dict.fromkeys(find_words(query))),
        names=names,
        time=asks_time,
        number=asks_number,
        spans=find_spans(query, now),
    )


def describe(text: str) -> Offered:
    """Return the signs of a memory's text."""
    text = text[:LONGEST_TEXT]
    tells_time, tells_number = tells(text)
    return Offered(
        words=tuple(find_words(text)),
        time=tells_time,
        number=tells_number,
        question=text.rstrip().endswith(QUESTION_MARKS),
        signs=signs_of(text),
    )

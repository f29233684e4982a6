"""The signs that ranking weighs: in a query, and in a memory.

Each function here looks at one text alone. The weights were fitted on public dialogues;
``tests/bench/test_retrieval.py`` has their results on unseen dialogues.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from evennia_ai.policy.retrieval.relevance import COMMON
from evennia_ai.policy.retrieval.time_expressions import MONTHS, WEEKDAYS, Span, find_spans

LONGEST_TEXT = 4_000  # characters; the rest of a text is stored but not ranked
LONGEST_WORD = 40
WORD = re.compile(r"[^\W_]+")
OWNERS = re.compile(r"['’](?:s|re|ve|ll|d|m|t)\b", re.I)
# Scripts without spaces between words; their text is split into pairs of characters.
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+"
)
# Question words and phrases that open a sentence without adding meaning.
SMALL_TALK = frozenset(
    "been being did during don doing hey hi im kind long many much often really s t thank thanks "
    "type types wow".split()
)
ENDINGS = (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("ly", ""))
QUESTION_MARKS = ("?", "？", "؟", "\u037e")  # the last is the Greek one
ASKS_WHEN = re.compile(r"^\W*(?:and |so )?when\b|\b(?:what|which) (?:year|month|day|date)\b", re.I)
ASKS_HOW_LONG = re.compile(r"\bhow long\b", re.I)
ASKS_NUMBER = re.compile(r"\bhow (?:many|often|much|long|old|far)\b", re.I)
TELLS_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|recently|since|weekend|just|the other day|"
    r"(?:last|next) (?:night|week|month|year|weekend|summer|winter|spring|fall|autumn)|"
    r"this (?:week|month|morning|weekend|year)|for (?:\w+ )?years|few (?:days|weeks|months|years)|"
    rf"\d{{4}}|{'|'.join(MONTHS)}|{'|'.join(WEEKDAYS)})\b",
    re.I,
)
TELLS_NUMBER = re.compile(
    r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|once|twice|couple|several|few|"
    r"dozen)\b",
    re.I,
)


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

    words: tuple[str, ...]
    time: bool
    number: bool
    question: bool

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
    words = tuple(dict.fromkeys(find_words(query, names)))
    return Wanted(
        text=without_words(query, names) if words else query,
        words=words or tuple(dict.fromkeys(find_words(query))),
        names=names,
        time=bool(ASKS_WHEN.search(query) or ASKS_HOW_LONG.search(query)),
        number=bool(ASKS_NUMBER.search(query)),
        spans=find_spans(query, now),
    )


def describe(text: str) -> Offered:
    """Return the signs of a memory's text."""
    text = text[:LONGEST_TEXT]
    return Offered(
        words=tuple(find_words(text)),
        time=bool(TELLS_TIME.search(text)),
        number=bool(TELLS_NUMBER.search(text)),
        question=text.rstrip().endswith(QUESTION_MARKS),
    )


def find_words(text: str, leave_out: Collection[str] = ()) -> list[str]:
    """Return the stems of the words that carry meaning, in order, in any script."""
    found: list[str] = []
    for word in WORD.findall(OWNERS.sub("", text.lower())):
        if word in COMMON or word in SMALL_TALK or word in leave_out:
            continue
        if UNSPACED.search(word):
            run = word[:LONGEST_TEXT]
            found += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
        else:
            found.append(stem(word[:LONGEST_WORD]))
    return found


def name_words(name: str) -> list[str]:
    """Return the lower-case words of a name that may stand for it."""
    return [w for w in WORD.findall(OWNERS.sub("", name.lower())) if w not in COMMON and len(w) > 1]


def without_words(text: str, words: Collection[str]) -> str:
    """Return a text without these words."""
    if not words:
        return text
    kept = [part for part in text.split() if not (set(name_words(part)) & set(words))]
    return " ".join(kept)


def stem(word: str) -> str:
    """Return a word without common English endings: hiking, hiked and hikes are one.

    Lighter than Porter's stemmer (1980): a wrong cut is the same in query and memory.
    """
    if len(word) <= 3 or not word.isascii():
        return word
    for ending, instead in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: len(word) - len(ending)] + instead
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word[-1] in "ey" else word

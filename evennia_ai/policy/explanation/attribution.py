"""The source of each sentence that a character said, among the lines of its prompt.

A sentence comes from the line that holds most of what it tells: its content words, weighted by
their rarity in the prompt (inverse document frequency, Spärck Jones 1972). Words of the question
count little, since every answer repeats them. Of the words that a line lacks, only things and names
count in full, since a fact can be told in other words; without a number of the sentence no line is
its source.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from evennia_ai.policy.explanation.prompt_parts import INSTRUCTIONS, NEW, SITUATION, Line, Part
from evennia_ai.policy.facts.sources import sentences_of
from evennia_ai.policy.facts.terms import find_terms, normal_words
from evennia_ai.policy.retrieval.words import is_small_talk

PEOPLE_HERE = "People here: "
LEAST_WORDS = 2  # that both have
LEAST_SHARE = 0.75  # of a sentence's weight that its source must hold
ASKED_WEIGHT = 0.2
OTHER_WORDS = 0.1  # the weight of a word that is no thing, if the source lacks it
# The word behind one of these is a thing; two may follow each other, as in "that the baker".
ARTICLE = re.compile(
    r"\b(?:an?|the|my|your|his|her|its|our|their|this|that|no|some|any|der|die|das|den|dem|des"
    r"|eine?[mnrs]?|le|la|les|une?|el|los|las)\s+(?=(\w+))",
    re.IGNORECASE,
)
OWN_SHARE = 0.9  # of the score, for the character's own earlier words


@dataclass(frozen=True)
class Source:
    """A sentence of the prompt; ``words`` are its stems that carry meaning."""

    part: str
    line: Line
    text: str
    words: frozenset[str]


@dataclass(frozen=True)
class Attribution:
    """One sentence that was said: its nearest source and the share of it that the source holds.

    ``source`` is None for a claim out of nothing, and for small talk, which tells nothing.
    """

    sentence: str
    source: Source | None = None
    share: float = 0.0
    tells: bool = True  # False for small talk


def attribute(text: str, parts: Sequence[Part], names: Sequence[str] = ()) -> list[Attribution]:
    """Return the sentences of a text with their sources; ``names`` are the character's own."""
    sources = list(sources_in(parts))
    asked = frozenset(
        word
        for part in parts
        if part.name == NEW
        for line in part.lines
        for sentence in sentences_of(line.text)
        if sentence.endswith("?")
        for word in normal_words(sentence)
    )
    own = frozenset(normal_words(" ".join(names)))
    weights = Weights(sources, asked, own)
    known = [*names, people_in(parts)]
    return [
        Attribution(sentence, tells=False)
        if is_small_talk(sentence, known)
        else nearest(sentence, sources, weights)
        for sentence in sentences_of(text)
    ]


def people_in(parts: Iterable[Part]) -> str:
    """Return the names of the people whom the situation lists."""
    lines = (line.text for part in parts if part.name == SITUATION for line in part.lines)
    return " ".join(line for line in lines if line.startswith(PEOPLE_HERE))


def sources_in(parts: Iterable[Part]) -> Iterable[Source]:
    """Yield the sentences of a prompt that tell something; a question tells nothing."""
    for part in parts:
        for line in part.lines if part.name not in INSTRUCTIONS else ():
            for sentence in sentences_of(line.text):
                if not sentence.endswith("?"):
                    words = frozenset(normal_words(sentence))
                    yield Source(part.name, line, sentence, words)


@dataclass(frozen=True)
class Weighted:
    """The words of a sentence: weights if a source has them, and if it lacks them."""

    told: Mapping[str, float]
    lacked: Mapping[str, float]
    needed: frozenset[str]  # words without which no source fits


class Weights:
    """How much each word of a sentence tells."""

    def __init__(
        self, sources: Sequence[Source], asked: frozenset[str], own: frozenset[str]
    ) -> None:
        self._holding = Counter(word for source in sources for word in source.words)
        self._total, self._asked, self._own = len(sources), asked, own

    def of(self, sentence: str) -> Weighted:
        """Return the words of a sentence with their weights, without the character's name."""
        words = dict.fromkeys(normal_words(sentence))
        told = {word: self._rarity(word) for word in words if word not in self._own}
        things = things_in(sentence)
        lacked = {
            word: weight if word in things else weight * OTHER_WORDS
            for word, weight in told.items()
        }
        return Weighted(told, lacked, numbers_in(sentence) & told.keys())

    def _rarity(self, word: str) -> float:
        holding = self._holding[word]
        rarity = math.log(1 + (self._total - holding + 0.5) / (holding + 0.5))
        return rarity * (ASKED_WEIGHT if word in self._asked else 1.0)


def nearest(sentence: str, sources: Iterable[Source], weights: Weights) -> Attribution:
    """Return a sentence with the source that holds most of it."""
    words = weights.of(sentence)
    if not words.told:
        return Attribution(sentence, tells=False)
    shares = ((share_in(source, words), source) for source in sources)
    share, best = max(shares, key=itemgetter(0), default=(0.0, None))
    return Attribution(sentence, best, share) if share >= LEAST_SHARE else Attribution(sentence)


def share_in(source: Source, words: Weighted) -> float:
    """Return the share of a sentence's weight that a source holds, 0 without a word it needs."""
    shared = words.told.keys() & source.words
    if not words.needed <= source.words or len(shared) < min(LEAST_WORDS, len(words.told)):
        return 0.0
    held = sum(words.told[word] for word in shared)
    missing = sum(weight for word, weight in words.lacked.items() if word not in source.words)
    return held / (held + missing) * (OWN_SHARE if source.line.own else 1.0) if held else 0.0


def things_in(sentence: str) -> frozenset[str]:
    """Return the words of a sentence that name things or people."""
    things = [found[1] for found in ARTICLE.finditer(sentence)]
    return frozenset(normal_words(" ".join([*things, *find_terms(sentence)])))


def numbers_in(sentence: str) -> frozenset[str]:
    """Return the words of the numbers in a sentence: another number is another claim."""
    return frozenset(
        word
        for term in find_terms(sentence)
        for word in normal_words(term)
        if any(map(str.isdigit, word))
    )

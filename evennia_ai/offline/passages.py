"""What the character knows, ranked by how well it answers a line.

The score is the BM25 of `policy.retrieval`, the one that ranks the journal. A passage counts only if it
covers enough of the line's words: silence is better than a random fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evennia_ai.offline.languages import Language
from evennia_ai.offline.words import sentences
from evennia_ai.policy.retrieval.relevance import score_weighted

NEAR_WEIGHT = 0.6
CONTEXT_WEIGHT = 0.4
FLOOR = 0.45  # share of a question's content words that an answer covers
SURE = 0.6  # share that a statement needs, which asks for no answer
UNFIT = 0.6  # factor for a passage without the kind of thing asked for
FIT = 1.5
SOURCE_WEIGHT = {"want": 0.9, "seen": 0.7}
LONGEST = 240  # characters of two sentences that stay together


@dataclass(frozen=True)
class Passage:
    """A piece of knowledge; ``source`` is self, want, lore, seen, saw, note or told.

    ``title`` holds more words that find it.
    """

    text: str
    source: str
    title: str = ""


@dataclass(frozen=True)
class Found:
    """A passage, its score, and the share of the line's words that it covers."""

    passage: Passage
    score: float
    cover: float

    @property
    def points(self) -> float:
        """Return what passages are ordered by."""
        return self.score * self.cover


@dataclass(frozen=True)
class Query:
    """A line to answer; ``context`` are earlier lines that its pronouns may stand for."""

    text: str
    language: Language
    context: tuple[str, ...] = ()
    drop: frozenset[str] = frozenset()

    @property
    def own(self) -> list[str]:
        """Return the stems that carry the line's meaning."""
        return [stem for stem in self.language.content(self.text) if stem not in self.drop]


def rank(query: Query, passages: Sequence[Passage], floor: float = FLOOR) -> list[Found]:
    """Return the passages that cover at least ``floor`` of the query, best first."""
    own = query.own
    before = [s for text in query.context for s in query.language.content(text)]
    meant = list(dict.fromkeys(s for s in before if s not in own and s not in query.drop))
    if not passages or not (own or meant):
        return []
    bags = [query.language.content(f"{p.text} {p.title}") for p in passages]
    weights = dict.fromkeys(meant, CONTEXT_WEIGHT)
    for stem in own:
        weights |= dict.fromkeys(query.language.near(stem) - set(own), NEAR_WEIGHT)
    weights |= dict.fromkeys(own, 1.0)
    scores = score_weighted(weights, bags)
    found = [
        Found(passage, score * _fit(query, passage), _cover(query, own, meant, bag))
        for passage, bag, score in zip(passages, bags, scores, strict=True)
        if score > 0
    ]
    return sorted((f for f in found if f.cover >= floor), key=lambda f: -f.points)


def _cover(query: Query, own: Sequence[str], meant: Sequence[str], bag: Sequence[str]) -> float:
    """Return the share of the line's words in a bag; of the context's if it has none."""
    held = set(bag)
    points = [1.0 if s in held else NEAR_WEIGHT if query.language.near(s) & held else 0.0 for s in own]  # fmt: skip
    if not own:
        return 1.0 if set(meant) & held else 0.0
    cover = sum(points) / len(own)
    return cover + (1 - cover) * 0.25 if set(meant) & held and cover else cover


def _fit(query: Query, passage: Passage) -> float:
    factor = SOURCE_WEIGHT.get(passage.source, 1.0)
    wanted = holds(query.text, query.language)
    if wanted is not None:
        factor *= FIT if wanted.search(passage.text[1:]) else UNFIT
    return factor


def holds(text: str, language: Language) -> re.Pattern[str] | None:
    """Return the pattern of what the answer to a question must hold, None for anything."""
    for asked, held in language.data.get("holds", ()):
        if re.search(asked, text, re.I):
            return re.compile(held if held.startswith("[A-Z]") else f"(?i:{held})")
    return None


def lore_passages(lore: Iterable[str], language: Language) -> list[Passage]:
    """Return the lore in pieces of a sentence or two, each found by its title too."""
    found = []
    for entry in lore:
        title, colon, text = entry.partition(": ")
        if not colon or len(title) > 60 or "." in title:
            title, text = "", entry
        parts = sentences(text)
        for index, part in enumerate(parts):
            joins = index > 0 and language.finds("pronoun_first", part)
            whole = f"{parts[index - 1]} {part}" if joins else part
            found.append(Passage(whole if len(whole) <= LONGEST else part, "lore", title))
    return found

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
CONTEXT_COVER = 0.25  # of the missing share, if earlier lines are held
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


def rank(query: Query, passages: Sequence[Passage], floor: float = FLOOR) -> list[Found]:
    """Return the passages that cover at least ``floor`` of the query, best first."""
    language, wanted = query.language, holds(query.text, query.language)
    own = [stem for stem in language.content(query.text) if stem not in query.drop]
    before = (stem for text in query.context for stem in language.content(text))
    meant = dict.fromkeys(stem for stem in before if stem not in {*own, *query.drop})
    if not passages or not (own or meant):
        return []
    bags = [language.content(f"{p.text} {p.title}") for p in passages]
    weights = dict.fromkeys(meant, CONTEXT_WEIGHT)
    for stem in own:
        weights |= dict.fromkeys(language.near(stem) - set(own), NEAR_WEIGHT)
    scores = score_weighted(weights | dict.fromkeys(own, 1.0), bags)
    found = []
    for passage, bag, score in zip(passages, bags, scores, strict=True):
        fit = SOURCE_WEIGHT.get(passage.source, 1.0)
        if wanted:
            fit *= FIT if wanted.search(passage.text[1:]) else UNFIT
        found.append(Found(passage, score * fit, _cover(language, own, set(meant), set(bag))))
    fitting = (one for one in found if one.score > 0 and one.cover >= floor)
    return sorted(fitting, key=lambda one: -one.points)


def _cover(language: Language, own: Sequence[str], meant: set[str], held: set[str]) -> float:
    """Return the share of the line's words that are held; of the context's if it has none."""
    if not own:
        return 1.0 if meant & held else 0.0
    near = sum(NEAR_WEIGHT for s in own if s not in held and language.near(s) & held)
    cover = (len(held.intersection(own)) + near) / len(own)
    return cover + (1 - cover) * CONTEXT_COVER if meant & held and cover else cover


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

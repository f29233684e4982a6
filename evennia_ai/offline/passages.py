"""What the character knows and was told, ranked by how well it answers a line.

The score is the BM25 of `policy.retrieval`, the one that ranks the journal. A passage counts only if it
covers enough of the line's words: silence is better than a random fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from evennia_ai.offline.languages import Language, language_of, read
from evennia_ai.offline.transcript import Said
from evennia_ai.offline.words import sentences, words
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
LONGEST_TOLD = 160  # characters of a line that is told again whole
SPOKEN = frozenset({"say", "whisper", "acted"})


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
    """A passage, the share of a line's words that it covers, and its rank's points."""

    passage: Passage
    cover: float
    points: float


def rank(
    text: str, language: Language, passages: Sequence[Passage], floor: float, *,
    context: str = "", without: str = "",
) -> list[Found]:  # fmt: skip
    """Return the passages that cover at least ``floor`` of a line, best first.

    ``context`` are earlier words that the line's pronouns may stand for. The words of ``without``
    count for nothing.
    """
    wanted, drop = holds(text, language), set(language.content(without))
    own = [stem for stem in language.content(text) if stem not in drop]
    meant = [stem for stem in language.content(context) if stem not in {*own, *drop}]
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
        cover = _cover(language, own, set(meant), set(bag))
        if score > 0 and cover >= floor:
            found.append(Found(passage, cover, score * fit * cover))
    return sorted(found, key=lambda one: -one.points)


def _cover(language: Language, own: Sequence[str], meant: set[str], held: set[str]) -> float:
    """Return the share of a line's stems that are held, near ones in part."""
    if not own:
        return 1.0 if meant & held else 0.0
    near = sum(NEAR_WEIGHT for s in own if s not in held and language.near(s) & held)
    cover = (len(held.intersection(own)) + near) / len(own)
    return cover + (1 - cover) * CONTEXT_COVER if meant & held and cover else cover


def holds(text: str, language: Language) -> re.Pattern[str] | None:
    """Return the pattern that an answer to a question must hold, None if any will do."""
    for asked, held in language.data.get("holds", ()):
        if re.search(asked, text, re.I):
            return re.compile(held if held.startswith("[A-Z]") else f"(?i:{held})")
    return None


def lore_passages(lore: Iterable[str], language: Language) -> list[Passage]:
    """Return the lore as passages of one or two sentences with the entry's title."""
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


@dataclass(frozen=True)
class Told:
    """What a speaker told in one line, or in one sentence of a long one."""

    speaker: str
    text: str
    private: bool
    facts: dict[str, str] = field(default_factory=dict)


def is_question(text: str, language: Language) -> bool:
    """Return True for a sentence that asks and states nothing."""
    return text.rstrip(' "”)').endswith("?") or language.finds("question", text)


def read_told(heard: Sequence[Said], fallback: str) -> list[Told]:
    """Return the statements in what was heard, oldest first; ``fallback`` is a language's code."""
    found: list[Told] = []
    for said in heard:
        if said.kind not in SPOKEN or not said.speaker:
            continue
        language = read(language_of(said.text) or fallback)
        plain = language.plain(said.text)
        stated = [part for part in sentences(plain) if not is_question(part, language)]
        facts: dict[str, str] = {}
        for part in stated:
            facts |= facts_in(part, language)
        whole = " ".join(stated)
        parts = [whole] if len(whole) <= LONGEST_TOLD else stated
        private = said.kind == "whisper"
        found += [Told(said.speaker, p, private, facts) for p in parts if len(words(p)) > 1]
    return found


def facts_in(sentence: str, language: Language) -> dict[str, str]:
    """Return what a sentence tells of its speaker, by the keys of the language's facts."""
    found = {}
    for key in language.data.get("facts", ()):
        # Case matters: a name is told by its capital.
        match = re.search(language.data["facts"][key], sentence)
        value = next((v for v in match.groups() if v), "").strip(" '-.,;!") if match else ""
        if value and not (key == "name" and language.finds("no_name", value)):
            found[key] = value
    return found


def latest(told: Sequence[Told], speaker: str, key: str) -> Told | None:
    """Return the last sentence in which a speaker told a kind of fact, None if none."""
    return next((t for t in reversed(told) if t.speaker == speaker and key in t.facts), None)

"""What can answer a line, and the search over it.

A passage is a sentence of the persona, of lore, of what the character sees, or of what somebody
told. It counts only if it holds most of what the line asks for: silence is better than a random
sentence.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from evennia_ai.contrib.stand_in.character import StandInPersona
from evennia_ai.contrib.stand_in.languages import Language, language_of
from evennia_ai.contrib.stand_in.stand_in_request import StandInRequest
from evennia_ai.contrib.stand_in.transcript import Transcript, TranscriptLine
from evennia_ai.contrib.stand_in.words import an, capitals, sentences
from evennia_ai.policy.retrieval.exchange import CONTINUATION, CORRECTION
from evennia_ai.policy.texts import BoundedPattern, plain_words

LONGEST = 240  # characters of two sentences that stay together
FEW_WORDS = 2  # of a sentence that tells something
SPOKEN = frozenset({"say", "whisper", "acted"})
FLOOR = 0.54  # share of a line's words that an answer holds
# What a word of the title counts, one of like meaning, and one of the lines before.
TITLE, NEAR, BEFORE = 0.9, 0.6, 0.25
APART = 0.6  # share of what says nothing of the lines before, to a line that points back at them
ENTITLED = 0.5  # for a piece of lore whose title is what is asked for
FEW_SHARED = 0.3  # share of the words before, to a line that has none of its own
SUBJECT, SUBJECT_WORDS = 0.05, 3  # what is asked for at a sentence's begin: it is about that


@dataclass(frozen=True)
class Passage:
    """A piece of knowledge; ``source`` is self, want, never, lore, seen, note or told.

    ``title`` holds more words that find it; ``facts`` is what it tells of its ``speaker``.
    """

    text: str
    source: str
    title: str = ""
    speaker: str = ""
    private: bool = False
    facts: Mapping[str, str] = field(default_factory=dict, compare=False)


def read_known(
    scene: StandInRequest, character: StandInPersona, transcript: Transcript
) -> Iterator[Passage]:
    """Yield what the character knows from persona, lore, sight and its journal."""
    own = (("self", character.facts), ("want", character.wants), ("never", character.nevers))
    for source, texts in own:
        yield from (Passage(text, source) for text in texts)
    for entry in scene.lore:
        yield from _lore(entry, character.language)
    goods = (act.goods for act in transcript.acts if act.name == "prices")
    for name, price in (item for shown in goods for item in shown.items()):
        yield Passage(f"{capitals(an(name))} costs {price}.", "self")
    here = scene.situation
    for part in (*sentences(here.description), *(f"{note.rstrip('.')}." for note in here.notes)):
        yield Passage(part, "seen")
    for title, _, text in (sight.partition(": ") for sight in dict.fromkeys(transcript.sights)):
        if title != here.place:
            yield from (Passage(part, "seen", title) for part in sentences(text))
    yield from (Passage(line.text, "note") for line in transcript.heard if line.kind == "note")


def split_lore(entry: str) -> tuple[str, str]:
    """Return the title, "" for none, and the text of a piece of lore."""
    title, colon, text = entry.partition(": ")
    return (title, text) if colon and len(title) <= 60 and "." not in title else ("", entry)


def _lore(entry: str, language: Language) -> Iterator[Passage]:
    """Yield a piece of lore as passages of one or two sentences with its title."""
    title, text = split_lore(entry)
    before = ""
    for part in sentences(text):
        whole = f"{before} {part}".strip()
        joins = before and language.finds("pronoun_first", part) and len(whole) <= LONGEST
        yield Passage(whole if joins else part, "lore", title)
        before = part


def read_told(
    lines: Sequence[TranscriptLine], written: Language, languages: tuple[Language, ...]
) -> list[Passage]:
    """Return the statements in what was heard, oldest first.

    What corrects the line before stands behind its words; what goes on with it is found by them.
    """
    passages: list[Passage] = []
    last: dict[str, str] = {}
    for line in lines:
        if line.kind not in SPOKEN or not line.speaker:
            continue
        language = language_of(line.text, languages) or written
        text, before = language.plain(line.text), last.get(line.speaker, "")
        corrects = before and CORRECTION.search(text)
        goes_on = CONTINUATION.search(text) or language.finds("third_person", text)
        title = f"{before} {text}" if corrects or goes_on else text
        for part in sentences(text):
            if language.asks(part) or not language.tells(part):
                continue
            facts = language.facts_in(part)
            if len(plain_words(part)) <= FEW_WORDS and not (corrects or facts):
                continue
            whole = f"{before} ... {part}" if corrects else part
            private = line.kind == "whisper"
            passages.append(Passage(whole, "told", title, line.speaker, private, facts))
            corrects, last[line.speaker] = "", text
    return passages


@dataclass(frozen=True)
class PassageQuery:
    """What an answer should hold: stems of the line, of the lines before it, a kind of thing.

    Each pattern of ``holds`` must be in it; ``topic`` says that one of them is what is asked, so
    that the stems only choose among those that hold it; ``back`` says that the line means something
    of the lines before by "it" or "him".
    """

    stems: tuple[str, ...]
    before: frozenset[str] = frozenset()
    holds: tuple[BoundedPattern, ...] = ()
    topic: bool = False
    back: bool = False


def search(
    sought: PassageQuery, passages: Iterable[Passage], language: Language, floor: float = FLOOR
) -> list[tuple[float, Passage]]:
    """Return the passages that answer, the best first, with how well they do.

    They hold ``floor`` of the stems at least; rarer stems count more for the order. Of equally good
    ones the first comes first.
    """
    listed = list(passages)
    own = [frozenset(language.content(" ".join((entry.text, *entry.facts)))) for entry in listed]
    titles = [frozenset(language.content(entry.title)) for entry in listed]
    near = {stem: language.near(stem) for stem in sought.stems}
    weight = dict.fromkeys(sought.stems, 0.0)
    for stem in weight:
        holding = sum(stem in bag or stem in title for bag, title in zip(own, titles, strict=True))
        weight[stem] = math.log(2 + len(listed) / (1 + holding))
    scored: list[tuple[float, Passage]] = []
    for entry, bag, title in zip(listed, own, titles, strict=True):
        if not all(pattern.search(entry.text) for pattern in sought.holds):
            continue
        held = {stem: _held(stem, near[stem], bag, title) for stem in sought.stems}
        share = sum(held.values()) / (len(held) or 1)
        if not held:
            near_talk = len(sought.before & (bag | title)) / (len(sought.before) or 1)
            share = near_talk * (entry.source != "told") + sought.topic
        elif share and not sought.before.isdisjoint(bag):
            share += (1 - share) * BEFORE
        elif sought.back and sought.before.isdisjoint(title):
            share *= APART
        alone = entry.source == "told" or any(part >= TITLE for part in held.values()) or not held
        # A word of like meaning is not enough.
        if sought.topic or (share >= (floor if held else FEW_SHARED) and alone):
            points = sum(weight[stem] * part for stem, part in held.items())
            begins = SUBJECT * any(stem in language.content(_begin(entry)) for stem in held)
            entitled = ENTITLED * (title == held.keys())
            score = points / (sum(weight.values()) or 1) + share + begins + entitled
            scored.append((score, entry))
    return sorted(scored, key=lambda item: -item[0])


def _begin(passage: Passage) -> str:
    return " ".join(passage.text.split()[:SUBJECT_WORDS])


def _held(stem: str, near: frozenset[str], own: frozenset[str], title: frozenset[str]) -> float:
    """Return what a stem counts: most in the passage itself, less in its title or a near word."""
    if stem in own:
        return 1.0 + TITLE * (stem in title) / 10
    return TITLE if stem in title else NEAR * (not near.isdisjoint(own))

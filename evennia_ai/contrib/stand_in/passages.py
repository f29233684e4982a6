"""What can answer a line: sentences of persona, lore and sight, and lines that somebody told."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evennia_ai.contrib.stand_in.character import StandInPersona
from evennia_ai.contrib.stand_in.languages import COURTESIES, Language, language_of
from evennia_ai.contrib.stand_in.transcript import (
    LONG_AGO,
    StandInRequest,
    Transcript,
    TranscriptLine,
)
from evennia_ai.contrib.stand_in.words import capitals, lowered, sentences
from evennia_ai.policy.conversation.requested_acts import exit_parts
from evennia_ai.policy.facts.check import without_address
from evennia_ai.policy.texts import an

SHORT = 5  # words of a courtesy that says nothing else
LONGEST_TITLE = 60
LEAST_WORDS = 3  # of a line or sentence that tells something
SPOKEN = frozenset({"say", "whisper", "acted"})


@dataclass(frozen=True)
class Passage:
    """Knowledge; ``source`` is self, ware, want, never, lore, exit, seen, note or told, ``title`` finds it."""

    text: str
    source: str
    title: str = ""
    speaker: str = ""
    private: bool = False
    recalled: bool = False
    is_certain: bool = True  # to answer what was asked
    guarded: float = 0.0  # how much more it must fit, near what is never spoken of
    entry: str = ""  # the piece of lore that it is a sentence of

    @property
    def searched(self) -> str:
        """Return the words by which it is found."""
        return f"{self.title}: {self.text}" if self.title else self.text

    @property
    def parts(self) -> tuple[str, ...]:
        """Return these words, then each of several sentences that say something alone."""
        every = sentences(self.text)
        alone = [part for part in every if len(part.split()) >= LEAST_WORDS]
        return (self.searched, *(alone if len(every) > 1 else ()))


def read_known(
    scene: StandInRequest, character: StandInPersona, transcript: Transcript
) -> Iterator[Passage]:
    """Yield what the character knows from persona, lore, sight and its journal."""
    own = (("self", character.facts), ("want", character.wants), ("never", character.nevers))
    for source, texts in own:
        yield from (Passage(text, source) for text in texts)
    for entry in scene.lore:
        yield from _lore(entry)
    for name, price in transcript.goods.items():
        yield Passage(price_line(name, price), "ware")
    here, form = scene.situation, character.language.data.get("forms", {}).get("way", "")
    for name, place in map(exit_parts, here.exits if form else ()):
        yield Passage(capitals(form.format(name, place or name)), "exit")
    for part in (*sentences(here.description), *(f"{note.rstrip('.')}." for note in here.notes)):
        yield Passage(part, "seen")
    yield from (Passage(line.text, "note") for line in transcript.heard if line.kind == "note")


def price_line(name: str, price: str) -> str:
    return f"{capitals(an(name))} costs {price}."


def _lore(entry: str) -> Iterator[Passage]:
    """Yield a piece of lore as passages of a sentence with its title."""
    title, colon, text = entry.partition(": ")
    if not colon or len(title) > LONGEST_TITLE or "." in title:
        title, text = "", entry
    first, _, rest = title.partition(" ")
    if first in ("The", "A", "An") or rest[:1].islower():
        title = lowered(title)  # as it stands within a sentence: "what the house serves"
    yield from (Passage(part, "lore", title, entry=entry) for part in sentences(text))


def uncalled(sentence: str, name: str, language: Language) -> str:
    """Return a sentence without a greeting at its beginning and the name that it calls."""
    bare = without_address(sentence, name)
    greeting = re.sub(rf"(?i)^((?:\w+ ){{1,3}}){re.escape(name)}\b", r"\1", bare)
    opener = language.pattern("patterns", "opener").match(greeting)
    return greeting[opener.end() :] if opener else bare


def clauses(sentence: str, language: Language) -> list[str]:
    """Return what a sentence states and what it asks behind it: "I cut my hand, is a doctor here?"."""
    head, _, tail = sentence.rpartition(", ")
    states = len(head.split()) >= LEAST_WORDS and not language.finds("question", head)
    states = states and not language.pattern("voice", "subordinate").search(head)
    return [head, tail] if states and language.finds("question", tail) else [sentence]


def read_told(
    lines: Sequence[TranscriptLine], name: str, written: Language, languages: tuple[Language, ...]
) -> Iterator[Passage]:
    """Yield the lines that tell something to a character, oldest first."""
    for line in lines:
        if line.kind in SPOKEN and line.speaker:
            language = language_of(line.text, languages) or written
            text = language.plain(line.text)
            parts = (uncalled(part, name, language) for part in sentences(text))
            parts = (clause for part in parts for clause in clauses(part, language))
            kept = (p for p in parts if not (language.finds("wonders", p) or language.asks(p)))
            text = " ".join(kept)
            courtesy = len(text.split()) <= SHORT and language.key_of(text) in COURTESIES
            if text and not courtesy:
                private, recalled = line.kind == "whisper", line.answers == LONG_AGO
                yield Passage(text, "told", "", line.speaker, private, recalled)

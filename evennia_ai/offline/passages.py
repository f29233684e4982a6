"""What the character knows, and what people told it, as passages that can answer a question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from evennia_ai.offline.character import Character
from evennia_ai.offline.languages import Language, language_of
from evennia_ai.offline.transcript import Said, Transcript
from evennia_ai.offline.words import sentences, words
from evennia_ai.ports import Scene

LONGEST = 240  # characters of two sentences that stay together
LONGEST_TOLD = 160  # characters of a line that is told again whole
SPOKEN = frozenset({"say", "whisper", "acted"})


@dataclass(frozen=True)
class Passage:
    """A piece of knowledge; ``source`` is self, want, lore, seen, note or told.

    ``title`` holds more words that find it.
    """

    text: str
    source: str
    title: str = ""


@dataclass(frozen=True)
class Told:
    """What a speaker told in one line, or in one sentence of a long one."""

    speaker: str
    text: str
    private: bool
    facts: dict[str, str] = field(default_factory=dict)


def read_passages(scene: Scene, character: Character, transcript: Transcript) -> list[Passage]:
    """Return what the character knows from persona, lore, sight and recall."""
    found = [Passage(text, "self") for text in character.facts]
    found += [Passage(text, "want") for text in character.wants]
    for entry in scene.lore:
        found += _lore(entry, character.language)
    found += [Passage(part, "seen") for part in sentences(scene.situation.description)]
    found += [Passage(f"{note.rstrip('.')}.", "seen") for note in scene.situation.notes]
    for title, _, text in (sight.partition(": ") for sight in dict.fromkeys(transcript.sights)):
        if title != scene.situation.place:
            found += [Passage(part, "seen", title) for part in sentences(text)]
    return found + [Passage(said.text, "note") for said in transcript.heard if said.kind == "note"]


def _lore(entry: str, language: Language) -> list[Passage]:
    """Return a piece of lore as passages of one or two sentences with its title."""
    title, colon, text = entry.partition(": ")
    if not colon or len(title) > 60 or "." in title:
        title, text = "", entry
    parts, found = sentences(text), []
    for index, part in enumerate(parts):
        joins = index > 0 and language.finds("pronoun_first", part)
        whole = f"{parts[index - 1]} {part}" if joins else part
        found.append(Passage(whole if len(whole) <= LONGEST else part, "lore", title))
    return found


def read_told(
    heard: Sequence[Said], written: Language, languages: tuple[Language, ...]
) -> Iterable[Told]:
    """Yield the statements in what was heard, oldest first."""
    for said in heard:
        if said.kind not in SPOKEN or not said.speaker:
            continue
        language = language_of(said.text, languages) or written
        every = sentences(language.plain(said.text))
        stated = [part for part in every if not language.asks(part)]
        facts: dict[str, str] = {}
        for part in stated:
            facts |= language.facts_in(part)
        whole = " ".join(stated)
        for part in [whole] if len(whole) <= LONGEST_TOLD else stated:
            if len(words(part)) > 1:
                yield Told(said.speaker, part, said.kind == "whisper", facts)

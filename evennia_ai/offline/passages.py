"""What the character knows, and what people told it, as passages that can answer a question."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from evennia_ai.offline.character import Character
from evennia_ai.offline.languages import Language, language_of
from evennia_ai.offline.transcript import Said, Transcript
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


WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
SENTENCE_END = re.compile(r"(?:(?<=[.!?…])|(?<=[.!?…][\"”»)'’]))\s+(?=\S)")
ABBREVIATION = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|St|Capt|Sgt|Lt|[A-Z])\.$")
LOWER_START = re.compile(r"(?:^|(?<=[.!?] ))([a-zà-ÿ])")
ARTICLES = frozenset({"a", "an", "the", "some", "my", "your", "his", "her", "their"})
DESCRIBING = frozenset({"a", "an", "the", "some", "ein", "eine"})
LONG_SENTENCE = 3  # words of a sentence that may be said again soon


def words(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return WORD.findall(text.lower().replace("’", "'"))


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, with single spaces."""
    found: list[str] = []
    for part in SENTENCE_END.split(" ".join(text.split())):
        if found and ABBREVIATION.search(found[-1]):
            found[-1] += " " + part
        elif part.strip():
            found.append(part.strip())
    return found


def long_sentences(text: str) -> list[str]:
    """Return the sentences that must not be repeated soon, without case and punctuation."""
    parts = (words(part) for part in re.split(r"[.!?…]+", text))
    return [" ".join(part) for part in parts if len(part) > LONG_SENTENCE]


def capitals(text: str) -> str:
    """Return the text with every sentence beginning in upper case."""
    return LOWER_START.sub(lambda found: found[1].upper(), text)


def joined(text: str) -> str:
    """Return sentences as one, joined by semicolons."""
    return re.sub(r"[.!] (?=\S)", "; ", text)


def ended(text: str) -> str:
    """Return the text with a full stop, unless it has an end."""
    text = text.rstrip(" ,;:-")
    return text if not text or text[-1] in '.!?…”"' else text + "."


def with_article(name: str) -> str:
    """Return a thing's English name with "the", unless it has an article or is a proper name."""
    first, _, rest = name.partition(" ")
    if first.lower() in {"a", "an"}:
        return f"the {rest}"
    return name if first.lower() in ARTICLES or first[:1].isupper() else f"the {name}"


def an(name: str) -> str:
    """Return a thing's English name with an indefinite article, if it needs one."""
    head = name.partition(" of ")[0].lower()
    plural = head.endswith("s") and not head.endswith(("ss", "us", "is"))
    if name.split(" ", 1)[0].lower() in ARTICLES or name[:1].isupper() or plural:
        return name
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def is_description(name: str) -> bool:
    """Return True for a description such as "A tall man", which is no form of address."""
    first, *rest = name.split() or [""]
    return bool(rest) and (first.lower() in DESCRIBING or rest[-1].islower())


def in_sentence(name: str) -> str:
    """Return a name as it stands within a sentence: "a tall man" for "A tall man"."""
    return name[:1].lower() + name[1:] if is_description(name) else name


def seed_of(*parts: object) -> int:
    """Return a number that is the same for the same parts in every process."""
    return zlib.crc32("\x1f".join(str(part) for part in parts).encode("utf-8", "replace"))


def rotated(options: Iterable[str], seed: int) -> list[str]:
    """Return the options in order, beginning with the one the seed selects."""
    items = list(options)
    start = seed % len(items) if items else 0
    return items[start:] + items[:start]

"""What can answer a line, and the search over it.

A passage is a sentence of the persona, of lore, of what the character sees, or of what somebody
told. The ranking is that of lore in a prompt, with higher floors: silence is better than a
random sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from evennia_ai.offline.character import Character
from evennia_ai.offline.languages import Language, language_of
from evennia_ai.offline.transcript import Said, Transcript
from evennia_ai.offline.words import sentences
from evennia_ai.policy.conversation.character import Fit, LoreEntry
from evennia_ai.policy.retrieval.exchange import CONTINUATION, CORRECTION
from evennia_ai.policy.texts import plain_words
from evennia_ai.ports import LoreRanking, Scene

LONGEST = 240  # characters of two sentences that stay together
FEW_WORDS = 2  # of a sentence that tells something
SPOKEN = frozenset({"say", "whisper", "acted"})
# Of a `Fit`: the share of the words, with any meaning and alone; the meaning, with words and alone.
SHARED, WORDS_ALONE = 0.4, 0.6
ABOUT, NEAR, MEANT = 2.0, 2.5, 3.7


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


def read_known(scene: Scene, character: Character, transcript: Transcript) -> Iterator[Passage]:
    """Yield what the character knows from persona, lore, sight and its journal."""
    own = (("self", character.facts), ("want", character.wants), ("never", character.nevers))
    for source, texts in own:
        yield from (Passage(text, source) for text in texts)
    for entry in scene.lore:
        yield from _lore(entry, character.language)
    here = scene.situation
    for part in (*sentences(here.description), *(f"{note.rstrip('.')}." for note in here.notes)):
        yield Passage(part, "seen")
    yield from (Passage(said.text, "note") for said in transcript.heard if said.kind == "note")


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
    heard: Sequence[Said], written: Language, languages: tuple[Language, ...]
) -> list[Passage]:
    """Return the statements in what was heard, oldest first.

    What corrects the line before stands behind its words; what goes on with it is found by them.
    """
    found: list[Passage] = []
    last: dict[str, str] = {}
    for said in heard:
        if said.kind not in SPOKEN or not said.speaker:
            continue
        language = language_of(said.text, languages) or written
        text, before = language.plain(said.text), last.get(said.speaker, "")
        corrects = before and CORRECTION.search(text)
        goes_on = CONTINUATION.search(text) or language.finds("pronoun_first", text)
        title = f"{before} {text}" if corrects or goes_on else text
        for part in sentences(text):
            if language.asks(part) or not language.tells(part):
                continue
            if len(plain_words(part)) <= FEW_WORDS and not corrects:
                continue
            facts = language.facts_in(part)
            whole = f"{before} ... {part}" if corrects else part
            private = said.kind == "whisper"
            found.append(Passage(whole, "told", title, said.speaker, private, facts))
            corrects, last[said.speaker] = "", text
    return found


def ranked(
    ranking: LoreRanking, line: str, passages: Iterable[Passage]
) -> list[tuple[Fit, Passage]]:
    """Return passages with how well they fit a line, the best first; equally good ones in order."""
    listed = [(LoreEntry(one.title, one.text), one) for one in passages]
    fits = ranking.fits([entry for entry, _ in listed], line)
    found = [(fits.get(entry, Fit()), one) for entry, one in listed]
    return sorted(found, key=lambda item: -item[0].score)


def is_sure(fit: Fit) -> bool:
    """Return True if a passage answers a line, and not only shares a word with it."""
    if not fit.meaning:  # an embedder far away gives no meaning
        return fit.words >= WORDS_ALONE
    return fit.meaning >= MEANT or (fit.words >= SHARED and fit.meaning >= NEAR)


def is_near(fit: Fit) -> bool:
    """Return True if a passage is about what a line is about."""
    return fit.words >= SHARED or fit.meaning >= ABOUT

"""Which of several people a text names, in any script, and whom it calls.

A name counts as a whole: "Guard 07, come" names Guard 07 and none of the other guards. A part of a
name, such as its first word, counts for all whose name has it.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from evennia_ai.policy.retrieval.words import UNSPACED

MOST_READ = 4_000  # characters of a line
SHORTEST_PLURAL = 4  # letters of a word
PLURALS = ("s", "es", "en", "n")
# A syllable or sign of a script without spaces is a word; so is a run of letters with its marks.
SIGN = UNSPACED.pattern.rstrip("+") + "|[\uac00-\ud7a3]"
WORD = re.compile(rf"{SIGN}|(?:(?!{SIGN})[^\W_]|[\u0900-\u0963\u0966-\u0dff])+")
# Accents of Latin, Greek and Cyrillic, and the points of Hebrew and Arabic: often left out in chat.
ACCENTS = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u064b-\u065f\u0670]")
PAUSE = re.compile("[,;:!?…、。；：，！？]")  # never within a name
AFTER_CALL = re.compile(rf"{PAUSE.pattern}|[.—–]|-\s|\s-")
AND = frozenset("and or und oder et ou y e o и или og och i".split())
BEFORE_CALL = frozenset(
    "hello hi hey hail greetings good morning day evening hallo guten tag morgen abend hola buenos "
    "dias bonjour salut привет oh ho yo ah dear well so okay ok please bitte sorry thanks danke "
    "and but now listen".split()
)


@dataclass(frozen=True)
class NamedEntity:
    """Somebody who may be named."""

    id: str
    names: tuple[str, ...]  # full names and aliases
    parts: tuple[str, ...] = ()  # words of the name that may stand for it
    listens: bool = True  # False for somebody who cannot hear; only a call counts for them


@dataclass(frozen=True)
class FoldedWord:
    """A word of a text, folded, with its place."""

    word: str
    start: int
    end: int


@dataclass(frozen=True)
class Mention:
    """Words of a text, from ``start`` to before ``end``, that name ``ids``."""

    start: int
    end: int
    ids: frozenset[str]


def name_parts(name: str) -> tuple[str, ...]:
    """Return the words that may stand for a name: the first, the last, and capitalised ones."""
    words = name.split()
    kept = [*words[:1], *(word for word in words[1:-1] if word[0].isupper()), *words[-1:]]
    return tuple(word for word in dict.fromkeys(kept) if len(word) > 1 and not word.isdigit())


def fold(text: str) -> str:
    """Return a text in the form in which names are compared."""
    lower = text[:MOST_READ].casefold()
    if lower.isascii():
        return lower
    bare = ACCENTS.sub("", unicodedata.normalize("NFKD", lower))
    return unicodedata.normalize("NFC", bare)


def split_words(folded: str) -> list[FoldedWord]:
    """Return the words of a folded text; "07" is "7"."""
    return [
        FoldedWord((m[0].lstrip("0") or "0") if m[0].isdigit() else m[0], m.start(), m.end())
        for m in WORD.finditer(folded)
    ]


@lru_cache(maxsize=4_096)
def name_key(name: str) -> tuple[str, ...]:
    return tuple(word.word for word in split_words(fold(name)))


class Names:
    """The names of several people, to be found in texts.

    One pass over a text looks up the longest name at each of its words, whatever the number of
    people. The names of the ``speaker`` call nobody.
    """

    def __init__(self, people: Iterable[NamedEntity], speaker: str = "") -> None:
        self._speaker = {speaker}
        self.silent: set[str] = set()
        self._full: dict[tuple[str, ...], set[str]] = {}
        self._parts: dict[tuple[str, ...], set[str]] = {}
        for person in people:
            if not person.listens:
                self.silent.add(person.id)
            for known, names in ((self._full, person.names), (self._parts, person.parts)):
                for key in filter(None, map(name_key, names)):
                    known.setdefault(key, set()).add(person.id)
        self._longest = max(map(len, (*self._full, *self._parts)), default=0)

    def called(self, text: str, is_speech: bool = True) -> list[frozenset[str]]:
        """Return whom a text names: one set for each name, in their order."""
        # If the text calls somebody, as in "Mira, where is Otto?", only those called count. A set
        # holds several people if its words name all of them.
        folded = fold(text)
        words = split_words(folded)
        mentions = list(self._mentions(words, folded))
        calls = select_calls(mentions, words, folded) if is_speech else []
        if calls:
            return [mention.ids for mention in calls]
        id_sets = (mention.ids - self.silent for mention in mentions)
        return [ids for ids in id_sets if ids]

    def _mentions(self, words: Sequence[FoldedWord], folded: str) -> Iterable[Mention]:
        at = 0
        while at < len(words):
            mention = self._mention_at(at, words, folded)
            if mention is not None and mention.ids:
                yield mention
            at = mention.end if mention else at + 1

    def _mention_at(self, at: int, words: Sequence[FoldedWord], folded: str) -> Mention | None:
        """Return the longest name that begins at a word; of two as long, the full name."""
        end = at + 1
        while end < min(at + self._longest, len(words)):
            if PAUSE.search(folded, words[end - 1].end, words[end].start):
                break
            end += 1
        for stop in range(end, at, -1):
            key = tuple(word.word for word in words[at:stop])
            ids = self._full.get(key) or self._parts.get(key) or self._plural(key)
            if ids:
                others = ids - self._speaker  # only those who hear, or all if nobody does
                return Mention(at, stop, frozenset(others - self.silent or others))
        return None

    def _plural(self, key: tuple[str, ...]) -> set[str] | None:
        """Return those whom a plural names, such as "guards", if they are several."""
        word = key[0]
        stems = [word.removesuffix(end) for end in PLURALS if word.endswith(end)]
        for stem in stems if len(key) == 1 else ():
            ids = self._full.get((stem,), set()) | self._parts.get((stem,), set())
            if len(stem) >= SHORTEST_PLURAL and len(ids) > 1:
                return ids
        return None


def select_calls(
    mentions: Sequence[Mention], words: Sequence[FoldedWord], folded: str
) -> Sequence[Mention]:
    """Return the mentions that call somebody: a list at the beginning, or a name at the end."""
    if not mentions:
        return ()
    first, last = mentions[0], mentions[-1]
    if all(word.word in BEFORE_CALL for word in words[: first.start]):
        length = opening_list(mentions, words, folded)
        if length:
            return mentions[:length]
    is_at_end = last.start > 0 and last.end == len(words)
    if is_at_end and PAUSE.search(folded, words[last.start - 1].end, words[last.start].start):
        return mentions[-1:]
    return ()


def opening_list(mentions: Sequence[Mention], words: Sequence[FoldedWord], folded: str) -> int:
    """Return how many mentions the text begins with, up to the last that a pause follows."""
    length = 0
    for number, mention in enumerate(mentions):
        if number:
            between = words[mentions[number - 1].end : mention.start]
            if len(between) > 1 or any(word.word not in AND for word in between):
                break
        after = words[mention.end].start if mention.end < len(words) else len(folded)
        is_end = mention.end == len(words)
        if is_end or AFTER_CALL.search(folded, words[mention.end - 1].end, after):
            length = number + 1
    return length

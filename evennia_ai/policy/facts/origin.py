"""The origin of an entry that a model wrote about a talk: whose words it holds, and which lines.

A model does not cite. An entry's words are looked up in the lines that the model was shown, rather
in too many than in too few: who spoke a line with its words can have the entry forgotten.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from evennia_ai.messages import Authors, ChatMessage
from evennia_ai.policy.facts.terms import (
    NAME,
    find_terms,
    heard_words,
    is_question,
    normal_words,
    sentences_of,
    stems,
)
from evennia_ai.policy.retrieval.words import UNSPACED, WORD

CLOSE = 0.6  # of the best line's number of shared words, for a line to be a source too
MOST_SOURCES = 20  # messages, the newest


@dataclass(frozen=True, slots=True)
class ShownLine:
    """One line that a model was shown, with the stems of its words."""

    words: frozenset[str]
    seq: int
    authors: Authors = frozenset()  # `policy.audience`; none for what was only seen
    name: frozenset[str] = frozenset()  # the stems of the speaker's name
    at: str = ""  # ISO time
    stated: frozenset[str] = frozenset()  # the stems of its sentences that ask nothing


@dataclass(frozen=True, slots=True)
class ShownContext:
    """What a model was shown: lines, and a summary's words with everybody whose words are in it."""

    lines: Sequence[ShownLine]
    words: frozenset[str] = frozenset()
    speakers: Authors = frozenset()


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose words an entry holds, the messages they stand in, and when they were said."""

    speakers: Authors
    seqs: tuple[int, ...] = ()
    said_at: str = ""  # ISO time of the newest of these messages; empty without any
    is_held: bool = True  # False if no word of the entry but names was stated by anybody


def shown_line(message: ChatMessage) -> ShownLine:
    meta = message["metadata"]
    return ShownLine(
        frozenset(normal_words(message["content"])),
        int(meta.get("seq") or 0),
        frozenset(meta.get("authors") or filter(None, [meta.get("speaker")])),
        frozenset(normal_words(str(meta.get("speaker_name") or ""))),
        str(meta.get("at") or ""),
        frozenset(
            stem
            for sentence in sentences_of(heard_words(message["content"]))
            if not is_question(sentence)
            for stem in normal_words(sentence)
        ),
    )


def origin_of(text: str, shown: ShownContext) -> Origin:
    """Return the origin of an entry, everybody's if its words stand nowhere."""
    # Speakers whom the entry names count too. Words that stand in no line are taken from the
    # summary.
    words, lines = frozenset(normal_words(text)), shown.lines
    sources = _matching(words, lines)
    named = (line for line in lines if line.name and line.name <= words)
    authors = frozenset[str]().union(*(line.authors for line in (*sources, *named)))
    left = words.difference(*(line.words for line in sources))
    summed_up = bool(left & shown.words)
    if summed_up or not sources:
        authors |= shown.speakers
    if not (summed_up or sources):
        authors = authors.union(*(line.authors for line in lines))
    newest = sorted(sources, key=lambda line: line.seq)[-MOST_SOURCES:]
    seqs = tuple(line.seq for line in newest)
    bare = words.difference(*(line.name for line in lines))
    is_held = not bare or not bare.isdisjoint(shown.words.union(*(line.stated for line in lines)))
    return Origin(authors, seqs, newest[-1].at if newest else "", is_held)


def _matching(words: frozenset[str], lines: Iterable[ShownLine]) -> list[ShownLine]:
    """Return the lines that share most of these words, and those that hold one of the rest."""
    ranked = sorted(lines, key=lambda line: (-len(line.words & words), -line.seq))
    least = CLOSE * len(ranked[0].words & words) if ranked else 0
    chosen, missing = list[ShownLine](), set(words)
    for line in ranked:
        shared = len(line.words & words)
        if shared and (shared >= least or line.words & missing):
            chosen.append(line)
            missing -= line.words
    return chosen


RUN = 4  # words in a row
ENOUGH = 2  # weight of the words in common
CONTENT_OF_RUN = 2  # words of a run that carry meaning
HIDDEN = "…"  # in place of a word
QUOTE = "- "  # begins each line that a search of memory quotes


class SpokenWords:
    """The words of the people to forget, without those that others use as well."""

    def __init__(self) -> None:
        self._runs: set[int] = set()
        self._weights: dict[str, int] = {}
        self._names: set[str] = set()  # the stems of how these people are called

    def add(self, text: str) -> None:
        words = words_in(text)
        self._runs.update(runs_of(words))
        for stem in stems_of(words):  # a number of several digits proves enough by itself
            weight = ENOUGH if sum(map(str.isdigit, stem)) > 1 else 1
            self._weights[stem] = max(self._weights.get(stem, 0), weight)
        for term, kind in find_terms(text).items():
            if kind == NAME:
                self._weights.update(dict.fromkeys(stems_of(words_in(term)), ENOUGH))

    def add_name(self, name: str) -> None:
        self._names.update(stems_of(words_in(name)))

    def take_out(self, text: str) -> None:
        """Drop the words of a text of somebody else, since they prove nothing."""
        words = words_in(text)
        for stem in stems_of(words):
            self._weights.pop(stem, None)
        if self._runs:
            self._runs.difference_update(runs_of(words))

    def is_in(self, text: str, digits: int = 1) -> bool:
        """Return True if a text holds their words; reads the strings of JSON.

        Numbers of fewer ``digits`` prove nothing: a server's log is full of dates and counts.
        """
        words = words_in(without_json(text))
        means = {stem for stem in stems_of(words) if not stem.isdigit() or len(stem) >= digits}
        if sum(self._weights.get(stem, 0) for stem in means) >= ENOUGH:
            return True
        return not self._runs.isdisjoint(runs_of(words))

    def names(self, text: str) -> bool:
        """Return True if a text names one of them."""
        return not self._names.isdisjoint(stems_of(words_in(without_json(text))))

    def without(self, text: str, and_names: bool = False) -> str:
        """Return a text, or a JSON text, with `HIDDEN` for each word that only they use.

        One word is enough here: it is for texts that are known to come from theirs. Their names
        go with them if ``and_names``.
        """
        return change_strings(text, partial(self._without, and_names=and_names))

    def without_in_quotes(self, text: str, and_names: bool = False) -> str:
        """Return the same, but change only lines that quote, unless the rest proves to be theirs.

        The rest of a tool's result is the game's own words.
        """
        lines = [text] if text[:1] in ("{", "[") else text.split("\n")
        rest = "\n".join(line for line in lines if not line.startswith(QUOTE))
        is_theirs = self.is_in(rest)
        return "\n".join(
            self.without(line, and_names) if is_theirs or line.startswith(QUOTE) else line
            for line in lines
        )

    def _without(self, text: str, and_names: bool) -> str:
        parts = parts_of(text)
        marked = [self._is_telling(part) for _start, _end, part in parts]
        named = [not text[start].islower() and self.names(part) for start, _end, part in parts]
        if and_names and not all(named):  # a name alone addresses somebody
            marked = [any(marks) for marks in zip(marked, named, strict=True)]
        for at, run in runs_at([part for _start, _end, part in parts]).items():
            if run in self._runs:
                marked[at : at + RUN] = [True] * RUN
        left, done = "", 0
        for start, end in (
            part[:2] for part, is_theirs in zip(parts, marked, strict=True) if is_theirs
        ):
            left += text[done:start] + HIDDEN if start >= done else ""
            done = end
        return left + text[done:]

    def _is_telling(self, word: str) -> bool:
        """Return True for a word that only they use; a single digit is no proof."""
        if len(word) == 1 and word.isdigit():
            return False
        return any(map(self._weights.get, stems_of([word])))


def parts_of(text: str) -> list[tuple[int, int, str]]:
    """Return the start, the end and the letters of each of `words_in`."""
    parts = list[tuple[int, int, str]]()
    for match in WORD.finditer(text):
        start, word = match.start(), match[0].lower()
        if not UNSPACED.search(word):
            parts.append((start, match.end(), word))
            continue
        for at, pair in enumerate(pairs(word), start):
            parts.append((at, at + len(pair), pair))
    return parts


def words_in(text: str) -> list[str]:
    """Return the words of a text in lower case; pairs of letters in a script without spaces."""
    words = WORD.findall(text.lower())
    if not UNSPACED.search(text):
        return words
    return [part for word in words for part in (pairs(word) if UNSPACED.search(word) else [word])]


def pairs(word: str) -> list[str]:
    """Return each two letters of a word that follow each other."""
    return [word[start : start + 2] for start in range(max(1, len(word) - 1))]


def stems_of(words: Iterable[str]) -> Iterator[str]:
    """Yield the stems of the words that carry meaning."""
    for word in words:
        yield from stems(word)


def runs_of(words: Sequence[str]) -> Collection[int]:
    """Return a hash of each run of words of which at least two carry meaning."""
    return runs_at(words).values()


def runs_at(words: Sequence[str]) -> dict[int, int]:
    """Return the hashes of `runs_of` by the place of a run's first word."""
    means = [bool(stems(word)) for word in words]
    return {
        start: hash(tuple(words[start : start + RUN]))
        for start in range(len(words) - RUN + 1)
        if sum(means[start : start + RUN]) >= CONTENT_OF_RUN
    }


def change_strings(text: str, change: Callable[[str], str]) -> str:
    """Return a text after a change, of a JSON text each of its values that it changes."""
    if text[:1] in ("{", "["):
        with suppress(ValueError):
            value = json.loads(text)
            changed = changed_value(value, change)
            return text if changed == value else json.dumps(changed, ensure_ascii=False)
    return change(text)


def changed_value(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {key: changed_value(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [changed_value(item, change) for item in value]
    changed = change(str(value))
    return value if value is None or changed == str(value) else changed


def without_json(text: str) -> str:
    """Return the strings of a JSON text, or the text itself if it is no JSON."""
    if text[:1] in "{[":
        with suppress(ValueError):
            return " ".join(strings_in(json.loads(text)))
    return text


def strings_in(value: object) -> Iterable[str]:
    """Yield every string in plain data, keys left out."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from strings_in(item)
    elif value is not None:
        yield str(value)

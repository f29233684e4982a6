"""Whether a text holds words of certain people, although it does not say whose words it holds.

A text holds somebody's words if it repeats a run of four of their words, or if it has words in
common with them that nobody else uses: a name or a long number, or two other words.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from evennia_ai.policy.facts.terms import NAME, find_terms, stems
from evennia_ai.policy.retrieval.words import UNSPACED, WORD

RUN = 4  # words in a row
ENOUGH = 2  # weight of the words in common
CONTENT_OF_RUN = 2  # words of a run that carry meaning


class SpokenWords:
    """The words of the people to forget, without those that others use as well."""

    def __init__(self) -> None:
        self._runs: set[int] = set()
        self._weights: dict[str, int] = {}

    def add(self, text: str) -> None:
        """Learn a text of theirs."""
        words = words_in(text)
        self._runs.update(runs_of(words))
        for stem in stems_of(words):  # a number of several digits proves enough by itself
            weight = ENOUGH if sum(map(str.isdigit, stem)) > 1 else 1
            self._weights[stem] = max(self._weights.get(stem, 0), weight)
        for term, kind in find_terms(text).items():
            if kind == NAME:
                self._weights.update(dict.fromkeys(stems_of(words_in(term)), ENOUGH))

    def take_out(self, text: str) -> None:
        """Drop the words of a text of somebody else, since they prove nothing."""
        words = words_in(text)
        for stem in stems_of(words):
            self._weights.pop(stem, None)
        if self._runs:
            self._runs.difference_update(runs_of(words))

    def is_in(self, text: str) -> bool:
        """Return True if a text holds their words; reads the strings of JSON."""
        words = words_in(without_json(text))
        shared = {stem: self._weights.get(stem, 0) for stem in stems_of(words)}
        if sum(shared.values()) >= ENOUGH:
            return True
        return not self._runs.isdisjoint(runs_of(words))


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


def runs_of(words: Sequence[str]) -> list[int]:
    """Return a hash of each run of words of which at least two carry meaning."""
    means = [bool(stems(word)) for word in words]
    return [
        hash(tuple(words[start : start + RUN]))
        for start in range(len(words) - RUN + 1)
        if sum(means[start : start + RUN]) >= CONTENT_OF_RUN
    ]


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

"""Comparison of texts by the stems of their words, with numbers as digits and without accents."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache

from evennia_ai.policy.facts.terms import with_digits
from evennia_ai.policy.retrieval.words import find_words

ACCENTS = re.compile("[\u0300-\u036f]")
LOOSE_WORDS = 4  # other words allowed within a term
NEAR_WORDS = 40  # distance allowed between the terms of one fact


@lru_cache(maxsize=8_192)
def normal_words(text: str) -> tuple[str, ...]:
    """Return the stems of a text's words that carry meaning, in one spelling."""
    text = with_digits(unicodedata.normalize("NFKC", text))
    return tuple(find_words(ACCENTS.sub("", unicodedata.normalize("NFD", text))))


class TextIndex:
    """A text prepared for many look-ups of terms."""

    def __init__(self, text: str) -> None:
        self._places: dict[str, list[int]] = defaultdict(list)
        for place, word in enumerate(normal_words.__wrapped__(text)):
            self._places[word].append(place)

    def says(self, terms: Iterable[str]) -> bool:
        """Return True if the text holds all of these terms near one another."""
        found: list[list[int]] = []
        for words in filter(None, map(normal_words, terms)):
            places = self._places_of(words)
            if not places:
                return False
            found.append(places)
        return len(found) < 2 or _are_near(found, NEAR_WORDS)

    def count(self, words: Iterable[str]) -> int:
        """Return how many of these stems the text holds."""
        return sum(word in self._places for word in words)

    def _places_of(self, term: Sequence[str]) -> list[int]:
        """Return where these words stand together."""
        if any(word not in self._places for word in term):
            return []
        places = [self._places[word] for word in term]
        rarest, reach = min(places, key=len), len(term) + LOOSE_WORDS
        return [at for at in rarest if all(_within(others, at, reach) for others in places)]


def _are_near(found: list[list[int]], reach: int) -> bool:
    first = min(found, key=len)
    return any(all(_within(places, place, reach) for places in found) for place in first)


def _within(places: list[int], place: int, reach: int) -> bool:
    """Return True if a sorted place lies within ``reach`` of ``place``."""
    at = bisect_left(places, place - reach)
    return at < len(places) and places[at] <= place + reach

"""Comparison of texts by normalised words.

Ignores case, punctuation, accents, plural endings and the spelling of numbers. Cyrillic words are
compared without endings, and scripts without spaces by letters.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache

from evennia_ai.policy.facts.terms import WIDE
from evennia_ai.policy.facts.vocabulary import DETERMINERS, NUMBER_WORDS, SCALES
from evennia_ai.policy.token_estimate import MARKS

# A punctuation mark is a word of its own, so "three: hundred" is not a number.
WORD = re.compile(rf"\d+(?:[.:]\d+)*|[^\W\d_](?:[{MARKS}]|[^\W\d_])*|[,;:.!?()\"“”«»„]")
GROUPED = re.compile(r"(?<=\d)[,'’ ](?=\d{3}(?!\d))")
POSSESSIVE = re.compile(r"['’]s\b")
ACCENTS = re.compile("[\u0300-\u036f]")
SLAVIC_ENDING = re.compile("(?<=[\u0400-\u04ff]{3})[аеиоуыэюяйьёіїє]{1,2}$")
CHINESE_NUMBER = re.compile("[一二三四五六七八九十百千万萬两兩零〇]{2,12}")
CHINESE_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {
    "〇": 0, "两": 2, "兩": 2,
}  # fmt: skip
CHINESE_SCALES = {"十": 10, "百": 100, "千": 1000}
MOST = 10**9  # limits "a hundred hundred hundred ..."
LOOSE_WORDS = 4  # other words allowed within a term
NEAR_WORDS = 60  # distance allowed between the terms of one fact


def normal_words(text: str) -> list[str]:
    """Return a text's words in one spelling, numbers as digits, without articles."""
    if not text.isascii():
        text = _plain(text)
    text = GROUPED.sub("", POSSESSIVE.sub("", text.lower()))
    words = _digits(WORD.findall(text))
    return [_stem(word) for word in words if word[0].isalnum() and word not in DETERMINERS]


@lru_cache(maxsize=8_192)
def normal_term(term: str) -> tuple[str, ...]:
    """Return `normal_words` of a term, cached."""
    return tuple(normal_words(term))


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text)
    text = ACCENTS.sub("", unicodedata.normalize("NFD", text))
    text = unicodedata.normalize("NFC", text)
    return CHINESE_NUMBER.sub(lambda found: str(_chinese_number(found[0])), text)


def _stem(word: str) -> str:
    if word.isascii():
        if len(word) > 3 and word[-1] == "s" and word[-2] not in "su":
            return f"{word[:-3]}y" if word.endswith("ies") else word[:-1]
        return word
    return SLAVIC_ENDING.sub("", word)


def _digits(words: Sequence[str]) -> list[str]:
    """Return words with numbers in digits: "three hundred and five" → 305."""
    found: list[str] = []
    index = 0
    while index < len(words):
        if words[index] in NUMBER_WORDS or words[index] in SCALES:
            value, index = _number_at(words, index)
            found.append(str(value))
        else:
            found.append(words[index])
            index += 1
    return found


def _number_at(words: Sequence[str], index: int) -> tuple[int, int]:
    """Return the number in words at ``index``, and the index after it."""
    total, current = 0, 0
    start = index
    while index < len(words) and current < MOST:
        word = words[index]
        unit = 1 if word == "one" and index > start else NUMBER_WORDS.get(word)
        if unit is not None:
            if not _adds(current, unit):
                break
            current += unit
        elif word in SCALES:
            current = max(current, 1) * SCALES[word]
            if SCALES[word] >= 1000:
                total, current = total + current, 0
        elif not (word == "and" and index > start and _is_number_word(words, index + 1)):
            break
        index += 1
    return total + current, index


def _adds(number: int, unit: int) -> bool:
    """Return True for the 2 of "forty-two" and "a hundred and two", not "two two"."""
    if number % 100 == 0:
        return True
    return unit < 10 and number % 10 == 0 and number % 100 >= 20


def _is_number_word(words: Sequence[str], index: int) -> bool:
    return index < len(words) and (words[index] in NUMBER_WORDS or words[index] in SCALES)


def _chinese_number(text: str) -> int:
    total = section = digit = 0
    for char in text:
        if char in CHINESE_DIGITS:
            digit = digit * 10 + CHINESE_DIGITS[char] if digit else CHINESE_DIGITS[char]
        elif char in CHINESE_SCALES:
            section += max(digit, 1) * CHINESE_SCALES[char]
            digit = 0
        else:
            total += (section + digit or 1) * 10_000
            section = digit = 0
    return total + section + digit


class TextIndex:
    """A text prepared for many look-ups of terms."""

    def __init__(self, text: str) -> None:
        self._places: dict[str, list[int]] = defaultdict(list)
        for place, word in enumerate(normal_words(text)):
            self._places[word].append(place)
        self._wide = _squeezed(text) if WIDE.search(text) else ""

    def says(self, terms: Iterable[str]) -> bool:
        """Return True if the text holds all of these terms near one another."""
        found: list[list[int]] = []
        for term in terms:
            if WIDE.search(term):
                if _squeezed(term) not in self._wide:
                    return False
                continue
            places = self._places_of(normal_term(term))
            if not places:
                return False
            found.append(places)
        return len(found) < 2 or _near(found, NEAR_WORDS)

    def _places_of(self, term: Sequence[str]) -> list[int]:
        """Return where these words stand together; [0] for a term without words."""
        words = set(term)
        if not words:
            return [0]
        if any(word not in self._places for word in words):
            return []
        rarest = min((self._places[word] for word in words), key=len)
        reach = len(term) + LOOSE_WORDS
        others = [self._places[word] for word in words]
        return [place for place in rarest if all(_within(at, place, reach) for at in others)]


def _near(found: list[list[int]], reach: int) -> bool:
    first = min(found, key=len)
    return any(all(_within(places, place, reach) for places in found) for place in first)


def _within(places: list[int], place: int, reach: int) -> bool:
    """Return True if a sorted place lies within ``reach`` of ``place``."""
    at = bisect_left(places, place - reach)
    return at < len(places) and places[at] <= place + reach


def _squeezed(text: str) -> str:
    return "".join(re.findall(r"\w+", _plain(text).casefold()))

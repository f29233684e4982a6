"""How alike two lines are, word by word, and whether a reply repeats an earlier line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

CJK = "\u3040-\u30ff\u4e00-\u9fff"  # written without spaces: each character counts as a word
WORD = re.compile(rf"[{CJK}]|[^\W_{CJK}]+(?:['’][^\W_{CJK}]+)*")

FEW_WORDS = 4  # a shorter line, such as "Aye.", may be said again
LATEST = 2  # but not within this many lines
LIKE, LIKE_IF_SHORT = 0.85, 0.9  # "A mug of ale/cider costs a penny" are two lines
SHORT = 10
MOST_OF = 0.5  # a line within a longer one is a repeat if it makes up this much of it


def plain_words(text: str) -> list[str]:
    """Return the words in lower case, without punctuation and accents of quotation."""
    return WORD.findall(text.casefold().replace("’", "'"))


def overlap(words: Sequence[str], others: Sequence[str]) -> float:
    """Return the share of common words, from 0 to 1 (Sørensen–Dice over multisets)."""
    if not words or not others:
        return 0.0
    common = (Counter(words) & Counter(others)).total()
    return 2 * common / (len(words) + len(others))


def difference(words: Sequence[str], others: Sequence[str]) -> set[str]:
    """Return the words that only one of two lines has, or has more often."""
    first, second = Counter(words), Counter(others)
    return set((first - second) + (second - first))


def find_repeat(words: str, earlier: Sequence[str]) -> str:
    """Return the latest earlier line that ``words`` repeats, "" if none; oldest line first."""
    said = plain_words(words)
    if not said:
        return ""
    for age, line in enumerate(reversed(earlier)):
        if is_repeat(said, plain_words(line), age):
            return line
    return ""


def is_repeat(said: Sequence[str], before: Sequence[str], age: int) -> bool:
    """Return True if words repeat those of a line; ``age`` is 0 for the latest line."""
    if min(len(said), len(before)) < FEW_WORDS:
        return said == before and age < LATEST
    if said == before or is_most_of(said, before) or is_most_of(before, said):
        return True
    if any(word.isdigit() for word in difference(said, before)):
        return False
    short = min(len(said), len(before)) < SHORT
    return overlap(said, before) >= (LIKE_IF_SHORT if short else LIKE)


def is_most_of(part: Sequence[str], whole: Sequence[str]) -> bool:
    """Return True if ``part`` stands in ``whole`` and makes up most of it."""
    is_long = len(whole) * MOST_OF <= len(part) < len(whole)
    return is_long and f" {' '.join(part)} " in f" {' '.join(whole)} "

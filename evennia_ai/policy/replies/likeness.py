"""How alike two lines are, word by word."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

CJK = "\u3040-\u30ff\u4e00-\u9fff"  # written without spaces: each character counts as a word
WORD = re.compile(rf"[{CJK}]|[^\W_{CJK}]+(?:['’][^\W_{CJK}]+)*")


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


def contains_run(words: Sequence[str], run: Sequence[str]) -> bool:
    """Return True if all of ``run`` stands in ``words``, in one piece."""
    return f" {' '.join(run)} " in f" {' '.join(words)} "

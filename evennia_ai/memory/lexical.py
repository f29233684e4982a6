"""Which memories hold which words, and how near that makes them: BM25 over postings.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the
usual k1 = 1.2 and b = 0.75. How rare a word is, and how long memories are on average, is asked of
the memories in view only: a hidden one must not be felt in anybody's ranking.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evennia_ai.memory.vectors import Floats, Rows
from evennia_ai.policy.retrieval.relevance import K1, B

MOST = 255  # of one word in one text; more says nothing new


class Posting(NamedTuple):
    """The rows that hold a word, and how often; four bytes and one for each."""

    rows: array[int]
    counts: array[int]


class View(NamedTuple):
    """The rows somebody may know, in their order; ``mask`` says the same of all rows."""

    rows: Rows
    mask: npt.NDArray[np.bool_]


class Lexicon:
    """Rows by the words they hold."""

    def __init__(self) -> None:
        self._postings: dict[str, Posting] = {}

    def add(self, row: int, words: Iterable[str]) -> None:
        """Note the words of a row that has none yet."""
        for word, count in Counter(words).items():
            posting = self._postings.get(word)
            if posting is None:
                posting = self._postings[word] = Posting(array("i"), array("B"))
            posting.rows.append(row)
            posting.counts.append(min(count, MOST))

    def remove(self, row: int, words: Iterable[str]) -> None:
        """Forget a row, of which ``words`` were noted."""
        for word in set(words):
            posting = self._postings[word]
            at = posting.rows.index(row)
            del posting.rows[at], posting.counts[at]
            if not posting.rows:
                del self._postings[word]

    def keep(self, rows: Rows, size: int) -> None:
        """Number the rows anew; those that are left out of ``rows`` hold no words any more."""
        new = np.zeros(size, dtype=np.int32)
        new[rows] = np.arange(len(rows))
        for posting in self._postings.values():
            posting.rows[:] = array("i", new[np.array(posting.rows)].tobytes())

    def scores(self, words: Sequence[str], view: View, lengths: npt.NDArray[np.int32]) -> Floats:
        """How near each row in view is to these words: 0 for none of them, about 1 for all.

        BM25, divided by the sum of the words' rarities, so that a long question counts as a short
        one. ``lengths`` are the words of every row, in view or not.
        """
        found = np.zeros(len(view.mask), dtype=np.float32)
        total = len(view.rows)
        norms = _norms(lengths, view)
        sum_of_rarities = 0.0
        for word in sorted(words):
            posting = self._postings.get(word)
            rows = np.array(posting.rows if posting else (), dtype=np.int64)
            in_view = view.mask[rows]
            rarity = _idf(int(in_view.sum()), total)
            sum_of_rarities += rarity
            if posting and in_view.any():
                rows, counts = rows[in_view], np.array(posting.counts, dtype=np.float32)[in_view]
                found[rows] += np.float32(rarity * (K1 + 1)) * counts / (counts + norms[rows])
        return found[view.rows] / np.float32(sum_of_rarities or 1.0)


def _norms(lengths: npt.NDArray[np.int32], view: View) -> Floats:
    average = int(lengths[view.rows].sum(dtype=np.int64)) / (len(view.rows) or 1) or 1.0
    return np.float32(K1 * (1 - B)) + np.float32(K1 * B / average) * lengths.astype(np.float32)


def _idf(holding: int, total: int) -> float:
    return math.log(1 + (total - holding + 0.5) / (holding + 0.5))

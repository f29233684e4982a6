"""Score memories by the words they share with a query: BM25 over postings.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the
usual k1 = 1.2 and b = 0.75. The rarity of a word and the average length are computed from the
memories in the view only: a hidden memory must not change a ranking.
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

MOST = 255  # occurrences of a word that are counted in one text; a count takes one byte


class Posting(NamedTuple):
    """The rows that contain a word and how often, in five bytes each."""

    rows: array[int]
    counts: array[int]


class View(NamedTuple):
    """The rows that an audience may know: lines in order of place, then notes.

    ``lines`` is the number of lines; ``mask`` covers every row.
    """

    rows: Rows
    lines: int
    mask: npt.NDArray[np.bool_]


class Lexicon:
    """An inverted index: the rows by their words."""

    def __init__(self) -> None:
        self._postings: dict[str, Posting] = {}

    def add(self, row: int, words: Iterable[str]) -> None:
        """Add the words of a row that has none yet."""
        for word, count in Counter(words).items():
            posting = self._postings.get(word)
            if posting is None:
                posting = self._postings[word] = Posting(array("i"), array("B"))
            posting.rows.append(row)
            posting.counts.append(min(count, MOST))

    def remove(self, row: int, words: Iterable[str]) -> None:
        """Remove a row that was added with these words."""
        for word in set(words):
            posting = self._postings[word]
            at = posting.rows.index(row)
            del posting.rows[at], posting.counts[at]
            if not posting.rows:
                del self._postings[word]

    def keep(self, rows: Rows, size: int) -> None:
        """Renumber the rows; those that are not in ``rows`` must have no words left."""
        new = np.zeros(size, dtype=np.int32)
        new[rows] = np.arange(len(rows))
        for posting in self._postings.values():
            posting.rows[:] = array("i", new[np.array(posting.rows)].tobytes())

    def scores(self, words: Sequence[str], view: View, lengths: npt.NDArray[np.int32]) -> Floats:
        """Return a score for each row in the view: 0 for no word, about 1 for all.

        It is BM25 divided by the sum of the words' rarities, so that long and short queries score
        alike. ``lengths`` is the number of words of every row, in the view or not.
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

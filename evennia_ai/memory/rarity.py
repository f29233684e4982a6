"""How rare the words of a memory are: small talk has common words, a fact has words of its own.

It is the mean inverse document frequency of a memory's first words, from 0 to 1. Frequencies are
counted among the memories that everybody may know: a hidden memory must not change a ranking.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

import numpy as np
import numpy.typing as npt

from evennia_ai.memory.vectors import FIRST_ROOM, Floats, Rows

MOST_WORDS = 8  # of a memory that are counted
FEWEST_BUCKETS = 1_024  # words that share a bucket count as one
BUCKETS_PER_ROW = 4  # at least
GROWTH = 1.5
NO_WORD = 0


class Rarity:
    """The first words of each row, and in how many counted rows each word stands."""

    def __init__(self) -> None:
        self._words = np.zeros((FIRST_ROOM, MOST_WORDS), dtype=np.uint32)
        self._counted = np.zeros(FIRST_ROOM, dtype=np.bool_)
        self._count_all()

    @property
    def nbytes(self) -> int:
        """Return the memory that the words and their counts take."""
        return self._words.nbytes + self._counted.nbytes + self._holding.nbytes

    def put(self, row: int, words: Iterable[int], counted: bool) -> None:
        """Set the words of a new row, as numbers, and count them if they are to be."""
        if row >= len(self._words):
            self._resize(int(len(self._words) * GROWTH))
        numbers = list(islice(dict.fromkeys(words), MOST_WORDS))
        self._words[row, : len(numbers)] = numbers
        self._counted[row] = counted
        if counted:
            self._count(numbers, 1)

    def drop(self, row: int) -> None:
        """Take the words of a row out of the counts."""
        if self._counted[row]:
            self._counted[row] = False
            self._count(self._words[row].tolist(), -1)

    def keep(self, rows: Rows) -> None:
        """Keep only these rows, in their order, and renumber them."""
        self._words, self._counted = self._words[rows], self._counted[rows]
        self._resize(max(len(rows), FIRST_ROOM))
        self._count_all()

    def of(self, rows: Rows) -> Floats:
        """Return the rarity of each row."""
        words = self._words.take(rows, axis=0)
        rarity = np.log(self._holding.take(self._bucket(words)) + np.float32(0.5))
        # It is log(1 + (total - held + 0.5) / (held + 0.5)); words that share a bucket may be held
        # by more than all.
        rarity = np.maximum(np.float32(np.log(self._total + 1)) - rarity, 0)
        given = (words != NO_WORD).astype(np.float32)
        ones = np.ones(MOST_WORDS, dtype=np.float32)
        number = np.maximum(given @ ones, 1)
        rarities = (rarity * given) @ ones
        found: Floats = np.minimum(rarities / (number * np.float32(np.log(self._total + 2))), 1)
        return found

    def _count(self, words: Iterable[int], by: int) -> None:
        """Change the counts of the words of one row."""
        last = len(self._holding) - 1
        for word in words:
            if word != NO_WORD:
                self._holding[word & last] += by
        self._total += by
        if buckets_for(self._total) != len(self._holding):
            self._count_all()

    def _count_all(self) -> None:
        """Count all words anew, in as many buckets as the counted rows need."""
        self._total = int(np.count_nonzero(self._counted))
        self._holding = np.zeros(buckets_for(self._total), dtype=np.float32)
        words = self._words[self._counted]
        np.add.at(self._holding, self._bucket(words[words != NO_WORD]), 1)

    def _bucket(self, words: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        return words & np.uint32(len(self._holding) - 1)

    def _resize(self, room: int) -> None:
        """Make room for that many rows, none fewer than there are."""
        missing = room - len(self._words)
        self._words = np.pad(self._words, ((0, missing), (0, 0)))
        self._counted = np.pad(self._counted, (0, missing))


def buckets_for(rows: int) -> int:
    """Return the number of buckets for the words of some rows: a power of two."""
    return max(FEWEST_BUCKETS, 1 << (BUCKETS_PER_ROW * rows - 1).bit_length())

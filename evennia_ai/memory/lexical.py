"""Score memories by the words they share with a query: BM25 over postings.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the
usual k1 = 1.2 and b = 0.75. The rarity of a word and the average length are computed from the
memories in the view only: a hidden memory must not change a ranking.

A posting says that a row has a word, and how often, in nine bytes. The word is its CRC-32, so that
an index holds no dictionary: with 100,000 words, one in 40,000 shares its number with another.
"""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt

from evennia_ai.memory.vectors import Floats, Rows
from evennia_ai.policy.retrieval.relevance import K1, B

# So many words that nothing has: with rarities of a smaller sum, the words of a query count less.
# Without it, the newest of a changed fact is in 73 of 100 brief prompts instead of 78.
ENOUGH = 3.0
MOST = 255  # occurrences of a word that are counted in one text; a count takes one byte
RUN, PART = 2_048, 32_768  # postings that are sorted at once, and with others: 3 ms


class Postings(NamedTuple):
    """Words, their rows and their counts in these, side by side."""

    words: Any
    rows: Any
    counts: Any


class AudienceRows(NamedTuple):
    """The rows that an audience may know: lines in order of place, then notes.

    ``lines`` is the number of lines, ``words`` the average number of words, and ``mask`` covers
    every row.
    """

    rows: Rows
    lines: int
    words: float
    mask: npt.NDArray[np.bool_]


class Lexicon:
    """An inverted index: parts sorted by word, and the newest postings in order of row.

    Parts grow as those of a log-structured merge tree do (O'Neil et al., 1996).
    """

    def __init__(self) -> None:
        self._parts: list[Postings] = []
        self._new = Postings(array("I"), array("i"), array("B"))

    @property
    def nbytes(self) -> int:
        parts = sum(int(column.nbytes) for part in self._parts for column in part)
        return parts + sum(len(column) * int(column.itemsize) for column in self._new)

    def add(self, row: int, words: Iterable[int]) -> None:
        counts: dict[int, int] = {}  # a Counter takes longer for so few
        for word in words:
            count = counts.get(word, 0)
            counts[word] = count + (count < MOST)
        self._new.words.extend(counts)
        self._new.rows.extend([row] * len(counts))
        self._new.counts.extend(counts.values())
        if len(self._new.words) >= RUN:
            part = _sorted([self._new])
            while self._parts and len(self._parts[-1].words) <= min(2 * len(part.words), PART):
                part = _sorted([self._parts.pop(), part])
            self._parts.append(part)
            self._new = Postings(array("I"), array("i"), array("B"))

    def keep(self, rows: Rows, size: int) -> None:
        """Drop the words of all rows but these, and renumber these in their order."""
        new = np.full(size, -1, dtype=np.int32)
        new[rows] = np.arange(len(rows))
        self._parts = [_renumbered(part, new) for part in self._parts]
        for column, kept in zip(self._new, _renumbered(self._new, new), strict=True):
            column[:] = array(column.typecode, kept.tobytes())

    def scores(
        self, words: Mapping[str, float], view: AudienceRows, lengths: npt.NDArray[np.int32]
    ) -> Floats:
        """Return a score for each row in the view: 0 for no word of a query, about 1 for all.

        It is BM25 divided by the sum of the words' rarities, so that long and short queries score
        alike; one of few words says less. ``words`` have weights; ``lengths`` is the number of
        words of every row, in the view or not.
        """
        weights = {number_of(word): weight for word, weight in words.items()}
        if not weights:
            return np.zeros(len(view.rows), dtype=np.float32)
        wanted = np.array(sorted(weights), dtype=np.uint32)
        postings = self._find(wanted)
        in_view = np.flatnonzero(view.mask.take(postings.rows))
        places, rows, counts = (column.take(in_view) for column in postings)
        holding = np.bincount(places, minlength=len(wanted))
        rarity = np.log1p((len(view.rows) - holding + 0.5) / (holding + 0.5))
        rarity *= [weights[number] for number in sorted(weights)]
        norms = K1 * (1 - B) + K1 * B / view.words * lengths.take(rows)
        gains = (rarity * (K1 + 1)).take(places) * counts / (counts + norms)
        total = np.bincount(rows, gains, minlength=len(view.mask))
        most = max(rarity.sum(), ENOUGH * np.log1p(2.0 * len(view.rows) + 1))
        return total.take(view.rows).astype(np.float32) / np.float32(most)

    def _find(self, wanted: npt.NDArray[np.uint32]) -> Postings:
        """Return the postings of words, which are given in order, with the places of these.

        Those of one row stand in the order of the words, whatever else is here.
        """
        new = Postings(*(np.frombuffer(column, column.typecode) for column in self._new))
        nearest = wanted[:-1].searchsorted(new.words)
        here = np.flatnonzero(wanted.take(nearest) == new.words)
        nearest = nearest.take(here)
        order = np.argsort(nearest, kind="stable")
        here = here.take(order)
        rows, counts = [new.rows.take(here)], [new.counts.take(here)]
        places, numbers = nearest.take(order).tolist(), [1] * len(here)
        for part in self._parts:
            firsts = part.words.searchsorted(wanted).tolist()
            lasts = part.words.searchsorted(wanted, "right").tolist()
            for place, (first, last) in enumerate(zip(firsts, lasts, strict=True)):
                if first < last:
                    rows.append(part.rows[first:last])
                    counts.append(part.counts[first:last])
                    places.append(place)
                    numbers.append(last - first)
        numbered = np.repeat(np.array(places, dtype=np.int64), numbers)
        return Postings(numbered, np.concatenate(rows), np.concatenate(counts))


def _sorted(parts: Sequence[Postings]) -> Postings:
    words, rows, counts = map(np.concatenate, zip(*parts, strict=True))
    order = np.argsort(words, kind="stable")
    return Postings(words[order], rows[order], counts[order])


def number_of(word: str) -> int:
    return int(crc32(word.encode("utf-8", "replace")))


def _renumbered(postings: Postings, new: npt.NDArray[np.int32]) -> Postings:
    """Return the postings of the rows that have a new number, with it."""
    words, rows, counts = (np.array(column) for column in postings)
    rows = new[rows]
    kept = rows >= 0
    return Postings(words[kept], rows[kept], counts[kept])

"""The embedding of each memory, and how near they are to a question's.

Of many memories all are looked at coarsely first: a short copy of each vector in small whole
numbers. Their products are whole numbers too, below 2**24, which a float32 holds exactly, so that
no order of summing, and no row beside it, changes a result by a bit. The best are then looked at
in full; in half precision, which is a thousandth of a cosine.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]
COARSE_DIMENSIONS = 64
COARSE_SCALE = 400.0  # a unit vector of 256 numbers has them around 1/16
COARSE_MOST = 127.0
BLOCK = 1_024  # rows; to have room for more never means to copy what is there
FIRST_ROOM = 64
GROWTH = 1.5


class Block(NamedTuple):
    """The vectors of `BLOCK` rows."""

    full: npt.NDArray[np.float16]
    coarse: Floats


class Vectors:
    """Vectors of length 1 by row; a row without one is zeros, near to nothing."""

    def __init__(self) -> None:
        self.dimensions = 0
        self._blocks: list[Block] = []

    def put(self, row: int, vector: Floats | None) -> None:
        """Set the vector of a row, or take it away.

        Raises:
            ValueError: where it is not as long as the others, or not of finite numbers.
        """
        block, place = divmod(row, BLOCK)
        if vector is None:
            if block < len(self._blocks):
                self._blocks[block].full[place] = self._blocks[block].coarse[place] = 0.0
            return
        vector = unit(vector)
        if self.dimensions not in (0, len(vector)):
            raise ValueError(f"A vector of {len(vector)} among others of {self.dimensions}.")
        self.dimensions = len(vector)
        self._make_room(block)
        self._blocks[block].full[place] = vector
        self._blocks[block].coarse[place] = coarse(vector)

    def get(self, row: int) -> Floats | None:
        """The vector of a row; None where it has none."""
        vector = self._gathered(np.array([row]), "full")[0].astype(np.float32)
        return vector if vector.any() else None

    def alike(self, rows: Rows) -> Floats:
        """About the cosines of these rows with each other; 0 where one has no vector."""
        found = self._gathered(rows, "coarse")
        lengths = np.sqrt((found * found).sum(axis=1))
        lengths[lengths == 0] = np.inf
        cosines: Floats = (found @ found.T) / lengths / lengths[:, None]
        return cosines

    def keep(self, rows: Rows) -> None:
        """Leave these rows only, in their order, numbered anew."""
        full, short = self._gathered(rows, "full"), self._gathered(rows, "coarse")
        self._blocks = []
        for first in range(0, len(rows), BLOCK):
            self._make_room(first // BLOCK)
            count = len(rows[first : first + BLOCK])
            self._blocks[-1].full[:count] = full[first : first + BLOCK]
            self._blocks[-1].coarse[:count] = short[first : first + BLOCK]

    def full(self, rows: Rows, query: Floats | None) -> Floats:
        """The cosine of each of these rows with a question, of length 1.

        Each row is summed by itself, so that it comes out the same among whatever others.
        """
        if query is None or len(query) != self.dimensions:
            return np.zeros(len(rows), dtype=np.float32)
        products = self._gathered(rows, "full").astype(np.float32)
        products *= query
        found: Floats = products.sum(axis=1)
        return found

    def roughly(self, size: int, query: Floats | None) -> Floats:
        """About that, for the first ``size`` rows."""
        found = np.zeros(size, dtype=np.float32)
        if query is None or len(query) != self.dimensions:
            return found
        asked = coarse(query)
        for number, block in enumerate(self._blocks):
            part = found[number * BLOCK : (number + 1) * BLOCK]
            np.matmul(block.coarse[: len(part)], asked, out=part)
        # What the dimensions left out would add is not known: taken as in proportion.
        found *= np.float32(len(query) / len(asked) / COARSE_SCALE**2)
        return found

    def _gathered(self, rows: Rows, kind: str) -> npt.NDArray[Any]:
        """The vectors of these rows; zeros for those that never had any."""
        dimensions = self.dimensions if kind == "full" else min(self.dimensions, COARSE_DIMENSIONS)
        found = np.zeros((len(rows), dimensions), np.float16 if kind == "full" else np.float32)
        blocks, places = rows // BLOCK, rows % BLOCK
        for number in np.flatnonzero(np.bincount(blocks)[: len(self._blocks)]).tolist():
            here = blocks == number
            found[here] = getattr(self._blocks[number], kind)[places[here]]
        return found

    def _make_room(self, block: int) -> None:
        short = min(self.dimensions, COARSE_DIMENSIONS)
        while len(self._blocks) <= block:
            self._blocks.append(
                Block(
                    np.zeros((BLOCK, self.dimensions), dtype=np.float16),
                    np.zeros((BLOCK, short), dtype=np.float32),
                )
            )


def unit(vector: npt.ArrayLike) -> Floats:
    """A vector in length 1; zeros stay zeros. Raises ValueError for what is no finite vector."""
    numbers = np.asarray(vector, dtype=np.float32).reshape(-1)
    length = float(np.linalg.norm(numbers))
    if not np.isfinite(length):
        raise ValueError("A vector must be of finite numbers.")
    return numbers / np.float32(length) if length else numbers


def coarse(vector: Floats) -> Floats:
    """The first numbers of a vector, rounded."""
    scaled = np.rint(vector[:COARSE_DIMENSIONS] * np.float32(COARSE_SCALE))
    clipped: Floats = np.clip(scaled, -COARSE_MOST, COARSE_MOST)
    return clipped


def enlarged(old: npt.NDArray[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """The rows of an array, and zeros after them."""
    new = np.zeros(shape, dtype=old.dtype)
    if old.size:
        new[: len(old)] = old
    return new

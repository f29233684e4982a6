"""The embeddings of memories and their cosines with a query's embedding.

A search over many memories first compares a short copy of each vector, made of small integers.
Their products are integers below 2**24, which a float32 holds exactly, so neither the order of
summing nor the other rows change a result. The best rows are then compared in full, in half
precision (about 0.001 of a cosine).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]
COARSE_DIMENSIONS = 64
COARSE_SCALE = 400.0  # the numbers in a unit vector of 256 dimensions are around 1/16
COARSE_MOST = 127.0
BLOCK = 1_024  # rows; growing adds a block and copies nothing


class Block(NamedTuple):
    """The vectors of `BLOCK` rows."""

    full: npt.NDArray[np.float16]
    coarse: Floats


class Vectors:
    """Vectors of length 1 by row; a row without a vector is all zeros."""

    def __init__(self) -> None:
        self.dimensions = 0
        self._blocks: list[Block] = []

    def put(self, row: int, vector: Floats | None) -> None:
        """Set a row's vector, None to remove it; ValueError if its length or a number is bad."""
        block, place = divmod(row, BLOCK)
        if vector is None:
            if block < len(self._blocks):
                self._blocks[block].full[place] = self._blocks[block].coarse[place] = 0.0
            return
        vector = unit(vector)
        if self.dimensions not in (0, len(vector)):
            raise ValueError(
                f"The vector has {len(vector)} dimensions; the others have {self.dimensions}."
            )
        self.dimensions = len(vector)
        self._make_room(block)
        self._blocks[block].full[place] = vector
        self._blocks[block].coarse[place] = coarse(vector)

    def alike(self, rows: Rows) -> Floats:
        """Return the rows' approximate cosines with each other; 0 without a vector."""
        found = self._gathered(rows, "coarse")
        lengths = np.sqrt((found * found).sum(axis=1))
        lengths[lengths == 0] = np.inf
        cosines: Floats = (found @ found.T) / lengths / lengths[:, None]
        return cosines

    def keep(self, rows: Rows) -> None:
        """Keep only these rows, in their order, and renumber them."""
        full, short = self._gathered(rows, "full"), self._gathered(rows, "coarse")
        self._blocks = []
        for first in range(0, len(rows), BLOCK):
            self._make_room(first // BLOCK)
            count = len(rows[first : first + BLOCK])
            self._blocks[-1].full[:count] = full[first : first + BLOCK]
            self._blocks[-1].coarse[:count] = short[first : first + BLOCK]

    def full(self, rows: Rows, query: Floats | None) -> Floats:
        """Return the rows' cosines with a unit query; no row's result depends on the others."""
        if query is None or len(query) != self.dimensions:
            return np.zeros(len(rows), dtype=np.float32)
        products = self._gathered(rows, "full").astype(np.float32)
        products *= query
        found: Floats = products.sum(axis=1)
        return found

    def roughly(self, size: int, query: Floats | None) -> Floats:
        """Return the approximate cosines of the first ``size`` rows with a query."""
        found = np.zeros(size, dtype=np.float32)
        if query is None or len(query) != self.dimensions:
            return found
        asked = coarse(query)
        for number, block in enumerate(self._blocks):
            part = found[number * BLOCK : (number + 1) * BLOCK]
            np.matmul(block.coarse[: len(part)], asked, out=part)
        # The dimensions that were left out are assumed to add in proportion.
        found *= np.float32(len(query) / len(asked) / COARSE_SCALE**2)
        return found

    def _gathered(self, rows: Rows, kind: str) -> npt.NDArray[Any]:
        """Return the vectors of these rows, zeros for those without one."""
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
            full = np.zeros((BLOCK, self.dimensions), dtype=np.float16)
            self._blocks.append(Block(full, np.zeros((BLOCK, short), dtype=np.float32)))


def unit(vector: npt.ArrayLike) -> Floats:
    """Return a vector scaled to length 1, zeros as zeros; ValueError if not finite."""
    numbers = np.asarray(vector, dtype=np.float32).reshape(-1)
    length = float(np.linalg.norm(numbers))
    if not np.isfinite(length):
        raise ValueError("A vector must consist of finite numbers.")
    return numbers / np.float32(length) if length else numbers


def coarse(vector: Floats) -> Floats:
    """Return the first numbers of a vector, scaled and rounded to integers."""
    scaled = np.rint(vector[:COARSE_DIMENSIONS] * np.float32(COARSE_SCALE))
    clipped: Floats = np.clip(scaled, -COARSE_MOST, COARSE_MOST)
    return clipped

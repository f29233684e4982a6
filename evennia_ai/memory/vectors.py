"""The embedding of each memory, and how near they are to a question's.

Of many memories all are looked at coarsely first: a short copy of each vector in small whole
numbers. Their products are whole numbers too, below 2**24, which a float32 holds exactly, so that
no order of summing, and no row beside it, changes a result by a bit. The best are then looked at
in full.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
COARSE_DIMENSIONS = 64
COARSE_SCALE = 400.0  # a unit vector of 256 numbers has them around 1/16
COARSE_MOST = 127.0
FIRST_ROOM = 64
GROWTH = 1.5


class Vectors:
    """Vectors of length 1 by row; a row without one is zeros, near to nothing."""

    def __init__(self) -> None:
        self._full = np.zeros((0, 0), dtype=np.float32)
        self._coarse = np.zeros((0, 0), dtype=np.float32)

    @property
    def dimensions(self) -> int:
        """The length of the vectors, 0 before there are any."""
        return int(self._full.shape[1])

    def put(self, row: int, vector: Floats | None) -> None:
        """Set the vector of a row, or take it away.

        Raises:
            ValueError: where it is not as long as the others, or not of finite numbers.
        """
        if vector is None:
            if row < len(self._full):
                self._full[row] = self._coarse[row] = 0.0
            return
        vector = unit(vector)
        if self.dimensions not in (0, len(vector)):
            raise ValueError(f"A vector of {len(vector)} among others of {self.dimensions}.")
        self._grow(row + 1, len(vector))
        self._full[row] = vector
        self._coarse[row] = coarse(vector)

    def get(self, row: int) -> Floats | None:
        """The vector of a row; None where it has none."""
        vector = self._full[row] if row < len(self._full) else None
        return vector if vector is not None and vector.any() else None

    def full(self, rows: npt.NDArray[np.int64], query: Floats | None) -> Floats:
        """The cosine of each of these rows with a question, of length 1.

        Each row is summed by itself, so that it comes out the same among whatever others.
        """
        if query is None or len(query) != self.dimensions or not len(self._full):
            return np.zeros(len(rows), dtype=np.float32)
        found = np.zeros(len(rows), dtype=np.float32)
        held = rows < len(self._full)
        found[held] = (self._full[rows[held]] * query).sum(axis=1)
        return found

    def roughly(self, size: int, query: Floats | None) -> Floats:
        """About that, for the first ``size`` rows."""
        found = np.zeros(size, dtype=np.float32)
        if query is not None and len(query) == self.dimensions:
            held = min(size, len(self._coarse))
            found[:held] = self._coarse[:held] @ coarse(query)
            # What the dimensions left out would add is not known: taken as in proportion.
            share = len(query) / self._coarse.shape[1]
            found *= np.float32(share / COARSE_SCALE**2)
        return found

    def _grow(self, rows: int, dimensions: int) -> None:
        if rows <= len(self._full):
            return
        room = max(FIRST_ROOM, rows, int(len(self._full) * GROWTH))
        self._full = _enlarged(self._full, room, dimensions)
        self._coarse = _enlarged(self._coarse, room, min(dimensions, COARSE_DIMENSIONS))


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


def _enlarged(old: Floats, rows: int, dimensions: int) -> Floats:
    new = np.zeros((rows, dimensions), dtype=np.float32)
    if old.size:
        new[: len(old)] = old
    return new

"""The embeddings of memories and their cosines with a query's embedding.

A vector is kept as signed bytes; its length as bytes scales it back to 1. This changes a cosine by
about 0.001. Products of these bytes with a query of whole numbers are whole numbers below 2**24,
which a float32 holds exactly, so neither the order of summing nor the other rows change a result.

A search over many memories first compares the signs of the numbers only, one bit each (Charikar,
"Similarity Estimation Techniques from Rounding Algorithms", 2002).
"""

import math
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from evennia_ai.policy.retrieval.relevance import LONGEST_TEXT
from evennia_ai.ports import Embedder, RemoteEmbedder

Bytes = npt.NDArray[np.int8]
Signs = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]
MOST = 127.0  # the largest number in a byte
LENGTH = 4_000.0  # of a query, and the most of a row: their product is below 2**24
BLOCK = 2_048  # rows; growing adds a block and copies no vector
FIRST_ROOM = 64  # rows
GROWTH = 1.25
SAMPLE = 256  # vectors at least that a mean is taken of, if there are as many
PRIOR = 10  # zero vectors in each mean, so that the mean of a few vectors is short
UNSHARED = 1 << 18  # multiplications in one product
ONES = np.array([byte.bit_count() for byte in range(256)], dtype=np.uint8)


class Vectors:
    """Vectors of length 1 by row."""

    def __init__(self) -> None:
        self.dimensions = 0
        self._rows = 0
        self._blocks: list[Bytes] = []
        self._scale = np.zeros(0, dtype=np.float32)  # each vector to length 1; 0 without one
        self._signs = np.zeros((0, 0), dtype=np.uint64)

    @property
    def nbytes(self) -> int:
        return self._rows * (self.dimensions + 4 + 8 * len(self._signs))  # the rest is not used yet

    def check(self, vector: Bytes | None) -> None:
        """Raise ValueError if a vector does not have as many dimensions as the others."""
        if vector is not None and self.dimensions not in (0, len(vector)):
            raise ValueError(
                f"The vector has {len(vector)} dimensions; the others have {self.dimensions}."
            )

    def put(self, row: int, vector: Bytes | None) -> None:
        """Set the vector of a row, None for none; raises as `check` does."""
        self.check(vector)
        self._rows = max(self._rows, row + 1)
        if row >= len(self._scale):
            self._resize(max(FIRST_ROOM, int(row * GROWTH)))
        if vector is not None:
            if not self.dimensions:
                self.dimensions = len(vector)
                self._resize(len(self._scale))
            number, place = divmod(row, BLOCK)
            while len(self._blocks) <= number:
                self._blocks.append(np.zeros((BLOCK, self.dimensions), dtype=np.int8))
            self._blocks[number][place] = vector
            wide = vector.astype(np.float64)
            length = math.sqrt(wide @ wide)
            self._scale[row] = 1 / length if length else 0.0
            self._signs[:, row] = signs_of(vector)

    def has(self, rows: Rows) -> npt.NDArray[np.bool_]:
        """Return which rows have a vector."""
        known: npt.NDArray[np.bool_] = self._scale.take(rows) > 0
        return known

    def alike(self, rows: Rows) -> Floats:
        """Return the rows' cosines with each other; 0 without a vector."""
        return self.between(rows, rows)

    def between(self, rows: Rows, others: Rows) -> Floats:
        """Return the cosines of rows with others, which are the columns; 0 without a vector."""
        units = (vectors * scale[:, None] for vectors, scale in map(self._gathered, (rows, others)))
        left, right = units
        return product(left, right.T)

    def keep(self, rows: Rows) -> None:
        """Keep only these rows, in their order, and renumber them."""
        some = rows if self.dimensions else rows[:0]  # blocks need the number of dimensions
        parts = [self._bytes(some[n : n + BLOCK]) for n in range(0, len(some), BLOCK)]
        self._blocks = [np.zeros((BLOCK, self.dimensions), dtype=np.int8) for _part in parts]
        for block, part in zip(self._blocks, parts, strict=True):
            block[: len(part)] = part
        self._scale, self._signs = self._scale[rows], self._signs[:, rows]
        self._rows = len(rows)

    def mean(self, rows: Rows) -> Floats:
        return mean_of(*self._gathered(rows[:: step_in(len(rows))]))

    def full(self, rows: Rows, query: Floats | None, mean: Floats | None = None) -> Floats:
        """Return the rows' cosines with a query, as seen from the mean of all.

        That is, unless it is given, the mean of these rows. No row's result depends on the other
        rows beside that.
        """
        if query is None or len(query) != self.dimensions:
            return np.zeros(len(rows), dtype=np.float32)
        rows_found, scale = self._gathered(rows)
        if mean is None:
            step = step_in(len(rows))
            mean = mean_of(rows_found[::step], scale[::step])
        query = query - mean
        query_vector, unscaled = whole(query)
        middle, middle_unscaled = whole(mean)
        by_query, by_mean = product(rows_found, np.stack([query_vector, middle], axis=1)).T
        products = by_query * scale * unscaled - (mean * query).sum()
        squares = 1 - 2 * by_mean * scale * middle_unscaled + (mean * mean).sum()
        lengths = np.sqrt(squares * (query * query).sum())
        cosines: Floats = np.divide(
            products, lengths, out=np.zeros_like(products), where=(scale > 0) & (lengths > 0)
        )
        return cosines

    def roughly(self, size: int, query: Floats | None, mean: Floats) -> Floats:
        """Return for the first ``size`` rows about how near a query they are, 0 for no nearer."""
        if query is None or len(query) != self.dimensions:
            return np.zeros(size, dtype=np.float32)
        different = np.zeros(size, dtype=np.uint16)
        for signs, query_signs in zip(self._signs[:, :size], signs_of(query - mean), strict=True):
            different += ones_in(signs ^ query_signs)
        # The share of different signs is the angle (Charikar, 2002); its cosine is nearly straight
        # where most memories are.
        return np.float32(np.pi / 2) - different * np.float32(np.pi / self.dimensions)

    def _gathered(self, rows: Rows) -> tuple[Floats, Floats]:
        return self._bytes(rows).astype(np.float32), self._scale.take(rows)

    def _bytes(self, rows: Rows) -> Bytes:
        if len(self._blocks) == 1 and self._rows <= BLOCK:
            return self._blocks[0].take(rows, axis=0)
        numbers = np.zeros((len(rows), self.dimensions), dtype=np.int8)
        order = np.argsort(rows, kind="stable")
        bounds = np.arange(len(self._blocks) + 1) * BLOCK
        places = np.searchsorted(rows, bounds, sorter=order).tolist()
        for block, first, last in zip(self._blocks, places, places[1:], strict=False):
            here = order[first:last]
            numbers[here] = block.take(rows.take(here) % BLOCK, axis=0)
        return numbers

    def _resize(self, room: int) -> None:
        """Make room for that many rows, none fewer than there are, of `dimensions`."""
        missing = room - len(self._scale)
        higher = -(-self.dimensions // 64) - len(self._signs)
        self._scale = np.pad(self._scale, (0, missing))
        self._signs = np.pad(self._signs, ((0, higher), (0, missing)))


def signs_of(vector: Bytes | Floats) -> Signs:
    """Return which numbers of a vector are above 0, a bit each."""
    bits = np.packbits(vector > 0).tobytes()
    return np.frombuffer(bits + bytes(-len(bits) % 8), dtype=np.uint64)


def ones_in(words: Signs) -> npt.NDArray[np.uint8]:
    counts: npt.NDArray[np.uint8]
    if hasattr(np, "bitwise_count"):  # since NumPy 2.0
        counts = np.bitwise_count(words)
    else:
        counts = ONES[words.view(np.uint8)].reshape(len(words), 8).sum(axis=1, dtype=np.uint8)
    return counts


def product(left: Floats, other: Floats) -> Floats:
    """Return the product of two matrices, taken in pieces."""
    # A library shares a large product among threads, and waits for them on a busy machine: 20 ms.
    rows = max(1, UNSHARED // (other.size or 1))
    if len(left) <= rows:
        return left @ other
    return np.concatenate([left[n : n + rows] @ other for n in range(0, len(left), rows)])


def step_in(rows: int) -> int:
    """Return which of some rows are in a sample: every first, every second and so on."""
    return 1 + rows // (2 * SAMPLE)


def mean_of(numbers: Floats, scale: Floats) -> Floats:
    return product(numbers.T, scale[:, None])[:, 0] / np.float32(len(numbers) + PRIOR)


def pack(vector: Any) -> bytes:
    """Return a vector as bytes, one a number; ValueError if a number is not finite."""
    return to_bytes(vector).tobytes()


def to_bytes(vector: Any) -> Bytes:
    """Return a vector, or what `pack` made of it, as signed bytes; raises as `pack` does."""
    if isinstance(vector, bytes | bytearray | memoryview):
        return np.frombuffer(vector, dtype=np.int8)
    numbers = unit(vector)
    highest = float(np.abs(numbers).max(initial=0.0)) or 1.0
    packed: Bytes = np.rint(numbers * np.float32(min(MOST / highest, LENGTH))).astype(np.int8)
    return packed


def whole(query: Floats) -> tuple[Floats, np.float32]:
    """Return a query as whole numbers, and what scales their products back."""
    length = math.sqrt(query @ query) or 1.0
    return np.rint(query * np.float32(LENGTH / length)), np.float32(length / LENGTH)


def unit(vector: npt.ArrayLike) -> Floats:
    """Return a vector scaled to length 1, zeros as zeros; ValueError if not finite."""
    numbers = np.asarray(vector, dtype=np.float32).reshape(-1)
    length = math.sqrt(numbers @ numbers)
    if not math.isfinite(length):
        raise ValueError("A vector must consist of finite numbers.")
    return numbers / np.float32(length) if length else numbers


def answers_at_once(embedder: Embedder | RemoteEmbedder | None) -> TypeGuard[Embedder]:
    """True for a local embedder, False for a remote one and for None."""
    return hasattr(embedder, "embed")


def readable(text: str) -> str:
    """Return the part of a text that is ranked, as far as it can be encoded."""
    return text[:LONGEST_TEXT].encode("utf-8", "replace").decode()

"""The embeddings of memories and their cosines with a query's embedding.

A vector is kept as signed bytes; its length as bytes scales it back to 1. This changes a cosine by
about 0.001. Products of these bytes with a query of whole numbers are whole numbers below 2**24,
which a float32 holds exactly, so neither the order of summing nor the other rows change a result.

A search over many memories first compares the first numbers of each vector only.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeGuard

import numpy as np
import numpy.typing as npt

from evennia_ai.policy.retrieval.weights import LONGEST_TEXT
from evennia_ai.ports import Embedder, RemoteEmbedder

Bytes = npt.NDArray[np.int8]
Floats = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]
MOST = 127.0  # the largest number in a byte
LENGTH = 4_000.0  # of a query, and the most of a row: their product is below 2**24
SHORT = 64  # dimensions in the first comparison of many rows
BLOCK = 4_096  # rows; growing adds a block and copies nothing
SAMPLE = 256  # vectors at least that a mean is taken of, if there are as many
PRIOR = 10  # zero vectors in each mean, so that the mean of a few vectors is short


class Block(NamedTuple):
    """The vectors of `BLOCK` rows, and what scales each to length 1: 0 for a row without one."""

    numbers: Bytes
    scale: Floats


class Vectors:
    """Vectors of length 1 by row."""

    def __init__(self) -> None:
        self.dimensions = 0
        self._rows = 0  # up to the last that ever had a vector
        self._blocks: list[Block] = []
        self._short: list[Floats] = []  # of the blocks that a first comparison has read

    @property
    def nbytes(self) -> int:
        """Return the memory that the vectors take."""
        short = sum(block.nbytes for block in self._short)
        return short + self._rows * (self.dimensions + 4)  # a block's rest is not in memory yet

    def check(self, vector: Bytes | None) -> None:
        """Raise ValueError if a vector does not have as many dimensions as the others."""
        if vector is not None and self.dimensions not in (0, len(vector)):
            raise ValueError(
                f"The vector has {len(vector)} dimensions; the others have {self.dimensions}."
            )

    def put(self, row: int, vector: Bytes | None) -> None:
        """Set a row's vector, None to remove it; raises as `check` does."""
        self.check(vector)
        number, place = divmod(row, BLOCK)
        if vector is None:
            if number < len(self._blocks):
                self._blocks[number].scale[place] = 0.0
            return
        self.dimensions = len(vector)
        self._rows = max(self._rows, row + 1)
        self._make_room(number + 1)
        self._blocks[number].numbers[place] = vector
        self._blocks[number].scale[place] = scale_of(vector)
        if number < len(self._short):
            self._short[number][place] = vector[:SHORT]

    def alike(self, rows: Rows) -> Floats:
        """Return the rows' cosines with each other; 0 without a vector."""
        found, scale = self._gathered(rows)
        found *= scale[:, None]
        cosines: Floats = found @ found.T
        return cosines

    def keep(self, rows: Rows) -> None:
        """Keep only these rows, in their order, and renumber them."""
        self._rows = min(self._rows, len(rows))
        blocks, self._blocks, self._short = self._blocks, [], []
        self._make_room(-(-len(rows) // BLOCK))
        for new, row in enumerate(rows.tolist()):
            old, place = divmod(row, BLOCK)
            if old < len(blocks):
                self._blocks[new // BLOCK].numbers[new % BLOCK] = blocks[old].numbers[place]
                self._blocks[new // BLOCK].scale[new % BLOCK] = blocks[old].scale[place]

    def mean(self, rows: Rows) -> Floats:
        """Return the mean vector of a sample of these rows."""
        found, scale = self._gathered(rows[:: 1 + len(rows) // (2 * SAMPLE)])
        found *= scale[:, None]
        mean: Floats = found.sum(axis=0) / np.float32(len(found) + PRIOR)
        return mean

    def full(self, rows: Rows, query: Floats | None, mean: Floats) -> Floats:
        """Return the rows' cosines with a query, as seen from the mean of all.

        No row's result depends on the other rows.
        """
        if query is None or len(query) != self.dimensions:
            return np.zeros(len(rows), dtype=np.float32)
        query = query - mean
        asked, unscaled = whole(query)
        middle, middle_unscaled = whole(mean)
        found, scale = self._gathered(rows)
        by_query, by_mean = (found @ np.stack([asked, middle], axis=1)).T
        products = by_query * scale * unscaled - (mean * query).sum()
        squares = 1 - 2 * by_mean * scale * middle_unscaled + (mean * mean).sum()
        lengths = np.sqrt(squares * (query * query).sum())
        cosines: Floats = np.divide(
            products, lengths, out=np.zeros_like(products), where=(scale > 0) & (lengths > 0)
        )
        return cosines

    def roughly(self, size: int, query: Floats | None, mean: Floats) -> Floats:
        """Return the approximate cosines of the first ``size`` rows with a query."""
        found = np.zeros(size, dtype=np.float32)
        if query is None or len(query) != self.dimensions:
            return found
        query = unit(query - mean)
        asked, unscaled = whole(query[:SHORT])
        for block in self._blocks[len(self._short) :]:
            self._short.append(block.numbers[:, :SHORT].astype(np.float32))
        for number, short in enumerate(self._short):
            part = found[number * BLOCK : (number + 1) * BLOCK]
            np.matmul(short[: len(part)], asked, out=part)
            part *= self._blocks[number].scale[: len(part)]
        # The dimensions that were left out are assumed to add in proportion.
        found *= unscaled * np.float32(len(query) / len(asked))
        found -= (mean * query).sum()
        return found

    def _gathered(self, rows: Rows) -> tuple[Floats, Floats]:
        """Return the numbers of these rows and their scales, zeros for those without a vector."""
        if len(self._blocks) == 1:
            return self._blocks[0].numbers[rows].astype(np.float32), self._blocks[0].scale[rows]
        found = np.zeros((len(rows), self.dimensions), dtype=np.float32)
        scale = np.zeros(len(rows), dtype=np.float32)
        order = np.argsort(rows, kind="stable")
        blocks = np.arange(len(self._blocks) + 1)
        bounds = np.searchsorted(rows, blocks * BLOCK, sorter=order).tolist()
        for block, first, last in zip(self._blocks, bounds, bounds[1:], strict=False):
            if first < last:
                here = order[first:last]
                places = rows[here] % BLOCK
                found[here] = block.numbers[places]
                scale[here] = block.scale[places]
        return found, scale

    def _make_room(self, blocks: int) -> None:
        while len(self._blocks) < blocks:
            numbers = np.zeros((BLOCK, self.dimensions), dtype=np.int8)
            self._blocks.append(Block(numbers, np.zeros(BLOCK, dtype=np.float32)))


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


def scale_of(numbers: Bytes) -> float:
    """Return what scales a vector to length 1; 0 if all its numbers are 0."""
    wide = numbers.astype(np.int64)
    length = math.sqrt(int(wide @ wide))
    return 1 / length if length else 0.0


def whole(query: Floats) -> tuple[Floats, np.float32]:
    """Return a query as whole numbers, and what scales their products back."""
    length = float(np.linalg.norm(query)) or 1.0
    return np.rint(query * np.float32(LENGTH / length)), np.float32(length / LENGTH)


def unit(vector: npt.ArrayLike) -> Floats:
    """Return a vector scaled to length 1, zeros as zeros; ValueError if not finite."""
    numbers = np.asarray(vector, dtype=np.float32).reshape(-1)
    length = float(np.linalg.norm(numbers))
    if not np.isfinite(length):
        raise ValueError("A vector must consist of finite numbers.")
    return numbers / np.float32(length) if length else numbers


def answers_at_once(embedder: Embedder | RemoteEmbedder | None) -> TypeGuard[Embedder]:
    """True for a local embedder, False for a remote one and for None."""
    return hasattr(embedder, "embed")


def readable(text: str) -> str:
    """Return the part of a text that is ranked, as far as it can be encoded."""
    return text[:LONGEST_TEXT].encode("utf-8", "replace").decode()

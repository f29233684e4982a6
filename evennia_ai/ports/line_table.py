"""What the search over the older lines of a long log needs from a database."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, Protocol


class OldLine(NamedTuple):
    """A line as it is stored: ``words`` are numbers, ``signs`` the rest of what its text shows."""

    seq: int
    at: float  # in unix seconds
    speaker: str
    audience: list[str] | None
    words: Sequence[int]
    signs: int
    packed: bytes


class LineQuery(NamedTuple):
    """What is searched: words as numbers, the weights of meaning and words, and for whom."""

    vector: Sequence[float]
    words: Collection[int]
    weights: tuple[float, float]
    audience: Collection[str]  # empty: public lines only
    upto: int | None  # the last message


class TableState(NamedTuple):
    """How far the table goes, by message; 0 is nothing.

    ``wanted`` is the last message that should be in it, ``stored`` the last that is, ``searched``
    the same once it can be searched. ``gaps`` are amended messages that are not in it.
    """

    wanted: int = 0
    stored: int = 0
    searched: int = 0
    gaps: tuple[int, ...] = ()


class LineTable(Protocol):
    """The older lines of one log, for one embedder; all but the first belong into a thread.

    Each raises StoreUnavailable.
    """

    def may_be_long(self, most: int) -> bool: ...  # more messages than that
    def open(self, most: int, newest: int) -> TableState: ...
    def store(self, lines: Iterable[OldLine]) -> None: ...
    def build(self) -> None: ...
    def find(self, query: LineQuery) -> list[OldLine]: ...

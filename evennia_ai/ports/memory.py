"""Long-term memory, embedders, and what a search over memories finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from twisted.internet.defer import Deferred

from evennia_ai.policy.records.long_term import MemoryItem, MemoryRow
from evennia_ai.policy.records.provenance import Record


class SemanticMemory(Protocol):
    """Long-term memory: a copy of the journal for other programs. ``agent`` is a character.

    The package never searches it: recall asks `Memories`.
    Every Deferred fails with `MemoryUnavailable` if the store is down or too slow, and with
    `TurnAborted` if the server stops. The journal is the truth.
    """

    @property
    def trouble(self) -> str: ...  # the current problem in words for an admin, or empty
    @property
    def is_off(self) -> bool: ...  # True if the game runs without it, so that waiting is useless
    @property
    def was_used(self) -> bool: ...  # False if nothing was ever stored, as far as is known

    def put(self, agent: str, items: Sequence[MemoryItem]) -> Deferred[Mapping[str, str]]:
        """Add items; fires with their memories' ids by entry id, without items that failed."""

    def delete(self, ids: Sequence[str]) -> Deferred[None]: ...  # ignores missing ones
    def delete_all(self, agent: str) -> Deferred[None]: ...
    def rows(self, agent: str) -> Deferred[Sequence[MemoryRow]]: ...  # every memory of a character


class Embedder(Protocol):
    """Turns texts into vectors; texts of similar meaning get similar vectors.

    If it treats questions in another way, it also has ``embed_query``, with the form of ``embed``.
    """

    name: str
    dimensions: int

    def embed(self, texts: Sequence[str]) -> Any:
        """Return a float32 array of shape (texts, dimensions) with rows of length 1."""


class RemoteEmbedder(Protocol):
    """An embedder that answers later: an endpoint, or a thread of its own."""

    name: str
    dimensions: int

    def embed_later(self, texts: Sequence[str], query: bool = False) -> Deferred[Any]:
        """Fire with what `Embedder.embed` returns, or `embed_query`; fails with a ProviderError."""


class Related(NamedTuple):
    """What belongs to lines, by their ids: other lines in order of time, or the best first."""

    beside: Mapping[str, Sequence[Record]]
    later: Mapping[str, Sequence[Record]]


class Found(Protocol):
    """A record that a search found; scores compare only within one search."""

    @property
    def record(self) -> Record: ...
    @property
    def score(self) -> float: ...

"""What is remembered beside the log, and how it is searched."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from twisted.internet.defer import Deferred

from evennia_ai.messages import Audience
from evennia_ai.policy.records.long_term import MemoryItem, MemoryRow, Stored
from evennia_ai.policy.records.provenance import Record

if TYPE_CHECKING:
    from evennia_ai.ports.services import Services


class SemanticMemory(Protocol):
    """Long-term memory: what journals hold, found by its meaning. ``agent`` names a character.

    Every Deferred fails with `MemoryUnavailable` where the store is down or too slow, and with
    `TurnAborted` where the server stops. Nothing here is the truth: the journal is.
    """

    @property
    def trouble(self) -> str:
        """What is wrong with it now, in words for an admin; empty where nothing is."""

    @property
    def is_off(self) -> bool:
        """True where the game does without it: nothing will come of waiting."""

    @property
    def was_used(self) -> bool:
        """Return False if nothing was ever stored, as far as this machine knows."""

    def put(self, agent: str, items: Sequence[MemoryItem]) -> Deferred[Mapping[str, Stored]]:
        """Store items; what is there already is not stored again.

        Fires with where they are, by their entries' ids; one that could not be stored is missing.
        """

    def search(
        self, agent: str, query: str, limit: int, keys: Sequence[str] | None
    ) -> Deferred[Sequence[MemoryRow]]:
        """Look for what is nearest in meaning, among memories of these audiences' keys alone; None
        is all. Fires with at most ``limit`` rows, best first."""

    def delete(self, agent: str, ids: Sequence[str]) -> Deferred[None]:
        """Delete memories; one that is gone already is passed over."""

    def delete_all(self, agent: str) -> Deferred[None]:
        """Delete every memory of a character."""

    def rows(self, agent: str) -> Deferred[Sequence[MemoryRow]]:
        """Fires with every memory of a character."""


class Embedder(Protocol):
    """Turns texts into vectors, so that texts of like meaning are near each other."""

    name: str
    dimensions: int

    def embed(self, texts: Sequence[str]) -> Any:
        """One row for each text: a float32 array of (texts, dimensions), rows of length 1."""


class RemoteEmbedder(Protocol):
    """An embedder that cannot answer at once."""

    name: str
    dimensions: int

    def embed_later(self, texts: Sequence[str]) -> Deferred[Any]:
        """Fires with what `Embedder.embed` returns; fails with a `ProviderError`."""


class Found(Protocol):
    """A record that a search found; scores compare only within one search."""

    @property
    def record(self) -> Record:
        """Return the record."""

    @property
    def score(self) -> float:
        """Return how well it fits."""


class Memories(Protocol):
    """What a character wrote down and takes to be so, as it can be searched."""

    def prepare(self, services: Services, queries: Sequence[str] = ()) -> Deferred[None]:
        """Take in what has changed, and what will be asked. Fires when a search is quick; fails
        with StoreUnavailable."""

    def search(
        self,
        query: str,
        limit: int,
        audience: Audience | None,
        now: datetime,
        discretion: str = "strict",
        keep: Callable[[Record], bool] | None = None,
    ) -> Sequence[Found]:
        """The records nearest to what is asked, best first, each with its ``record`` and its
        ``score``, as far as all of an audience may know them."""

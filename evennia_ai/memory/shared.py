"""Memory with what others told: one's own first, beside it what each of one's scopes knows."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from twisted.internet.defer import Deferred, DeferredList, inlineCallbacks, succeed

from evennia_ai.memory.episodic_index import EpisodicIndex, Found
from evennia_ai.memory.index_cache import IndexCache
from evennia_ai.messages import Audience
from evennia_ai.policy.records.journal_entry import normalised
from evennia_ai.policy.records.provenance import Record
from evennia_ai.policy.records.shared_memory import HEARSAY, mix
from evennia_ai.ports import Embedder, RemoteEmbedder, Services

# A thousand entries take about 2 MB with their vectors (measured), however many know them.
MOST_SCOPES = 200


def nobody(_dbref: str) -> str:
    """What a scope calls somebody: nothing. Names stand in what was told."""
    return ""


class NothingKnown:
    """A shelf that stays empty: of scopes there are no profiles."""

    def watch(self, watcher: Any) -> None:
        """There is nothing to tell of."""

    def unwatch(self, watcher: Any) -> None:
        """There was nothing to tell of."""

    def load(self, put: Any) -> Deferred[None]:
        """Fires at once."""
        return succeed(None)

    def get(self, id: str) -> None:
        """There is nothing."""


class SharedMemories:
    """What each scope was told, ready to be searched: one index for all who belong to it, made when
    one of them first needs it.

    Args:
        shelf_of: gives what a scope was told, by its name.
        still_told: gives those of some records, by their ids, that nobody has taken back.
        embedder: gives what turns texts into vectors, asked with the first index.
    """

    def __init__(
        self,
        shelf_of: Callable[[str], Any],
        still_told: Callable[[Iterable[str]], frozenset[str]],
        embedder: Callable[[], Embedder | RemoteEmbedder | None],
    ) -> None:
        self.still_told = still_told
        self._shelf_of = shelf_of
        self._embedder = embedder
        self._in_use = IndexCache[str](MOST_SCOPES)

    def of(self, scope: str) -> EpisodicIndex:
        """What one scope was told."""

        def make() -> EpisodicIndex:
            return EpisodicIndex(self._shelf_of(scope), NothingKnown(), self._embedder(), nobody)

        return self._in_use.get(scope, make)

    def note(self, scopes: frozenset[str] | None, gone: Sequence[int]) -> None:
        """Something was told to some scopes, None for any, or taken back."""
        for scope, index in self._in_use.items():
            if scopes is None or scope in scopes:
                index.journal.note(gone)


class WithHearsay:
    """The memories of one character that shares: its own, and what others told it.

    Args:
        own: what it knows itself.
        shared: what scopes were told.
        scopes: those it belongs to now.
        me: its dbref: it is told nothing of its own.
    """

    def __init__(
        self, own: EpisodicIndex, shared: SharedMemories, scopes: Sequence[str], me: str
    ) -> None:
        self.own, self._shared, self._me = own, shared, me
        self._heard = [shared.of(scope) for scope in scopes]

    def __len__(self) -> int:
        """How many memories can be found, hearsay not counted."""
        return len(self.own)

    @inlineCallbacks
    def prepare(
        self, services: Services, queries: Sequence[str] = ()
    ) -> Generator[Deferred[Any], Any, None]:
        """Take in what has changed, as `EpisodicIndex.prepare` does: all at the same time, so that
        an endpoint that does not answer is waited for once."""
        waits = [index.prepare(services, queries) for index in (self.own, *self._heard)]
        for is_done, result in (yield DeferredList(waits, consumeErrors=True)):
            if not is_done:
                result.raiseException()

    def records(self) -> list[Record]:
        """Everything that others told it, as far as it is loaded."""
        told = (record for index in self._heard for record in index.journal.held())
        return [record for record in told if record["teller"] != self._me]

    def search(
        self,
        query: str,
        limit: int,
        audience: Audience | None,
        now: datetime,
        discretion: str = "strict",
        keep: Callable[[Record], bool] | None = None,
    ) -> list[Found]:
        """The records nearest to what is asked, as `EpisodicIndex.search` gives them. Those of
        others have the kind ``hearsay`` and name their ``teller``."""
        own = self.own.search(query, limit, audience, now, discretion, keep)
        known = {normalised(str(found.record.get("content", ""))) for found in own}
        return mix(own, self._told(query, limit, now, keep, known), limit)

    # --- within ---------------------------------------------------------------------------------

    def _told(
        self,
        query: str,
        limit: int,
        now: datetime,
        keep: Callable[[Record], bool] | None,
        known: set[str],
    ) -> list[Found]:
        """What others told, best first; each thing once, and nothing it knows itself."""

        def is_news(record: Record) -> bool:
            return record["teller"] != self._me and (keep is None or keep(record))

        # Of everybody's and nobody's ears: what is told is public, whatever the discretion.
        found = [
            hit
            for index in self._heard
            for hit in index.search(query, limit, None, now, keep=is_news)
        ]
        told = self._shared.still_told(hit.record["id"] for hit in found)
        news: list[Found] = []
        for hit in sorted(found, key=lambda hit: -hit.score):
            words = normalised(hit.record["content"])
            if hit.record["id"] in told and words not in known:
                known.add(words)
                news.append(replace(hit, record={**hit.record, "kind": HEARSAY}))
        return news

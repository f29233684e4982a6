"""What a character wrote down and takes to be so, ready to be searched.

One `MemoryIndex` over its journal and over the values that hold in its profiles. Both tell of every
change; a change is taken in before the next search, many of them in slices. Nothing is stored here:
a restart makes it anew, when it is needed for the first time.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from twisted.internet import defer
from twisted.internet.defer import Deferred, inlineCallbacks, succeed
from twisted.logger import Logger

from evennia_ai.errors import ProviderError
from evennia_ai.memory.index import MemoryIndex, answers_at_once
from evennia_ai.messages import Audience
from evennia_ai.policy.records.entity_profiles import ATTRIBUTE
from evennia_ai.policy.records.provenance import Record, is_known_to
from evennia_ai.policy.retrieval.rerank import newest_first
from evennia_ai.ports import Embedder, RemoteEmbedder, Services
from evennia_ai.scheduling import Clock, pause

log = Logger()

AT_ONCE = 20  # changes taken in at a stretch: 4 ms at most (measured)
REMOTE_BATCH = 64  # texts sent to an endpoint in one request
REMOTE_TIME_S = 5.0
REMOTE_PAUSE_S = 60.0  # for which an endpoint that failed is left alone
SPARE = 2  # times as many are asked for as are wanted: some may not be true any more
VALUE_IMPORTANCE = 6


@dataclass(frozen=True)
class Found:
    """A record that fits, as it is now. ``score`` means something only beside others of the same
    search."""

    record: Record
    score: float


class EpisodicIndex:
    """The searchable side of one character's memory."""

    def __init__(
        self,
        journal: Any,
        profiles: Any,
        embedder: Embedder | RemoteEmbedder | None,
        name_of: Callable[[str], str],
    ) -> None:
        """Watch a journal and profiles from now on.

        Args:
            journal: the character's.
            profiles: the character's.
            embedder: turns texts into vectors; None leaves the ranking to words.
            name_of: what the character calls somebody, by dbref.
        """
        self.journal, self.profiles = journal, profiles
        self._name_of = name_of
        self._remote = None if answers_at_once(embedder) else embedder
        self._index = MemoryIndex(embedder)
        self._due: dict[str, Record | None] = {}
        self._asked: dict[str, Any] = {}
        self._bare: set[str] = set()
        self._ask_again_at = 0.0
        self._stores = [store for store in (journal, profiles) if store is not None]
        for store in self._stores:
            store.watch(self._notice)

    def __len__(self) -> int:
        """How many memories can be found."""
        return len(self._index)

    def close(self) -> None:
        """Hear of no change any more."""
        for store in self._stores:
            store.unwatch(self._notice)

    @inlineCallbacks
    def prepare(
        self, services: Services, queries: Sequence[str] = ()
    ) -> Generator[Deferred[Any], Any, None]:
        """Take in what has changed, in slices, and where vectors come from an endpoint have those
        of what will be asked at hand. An endpoint that fails leaves the ranking to words, and is
        asked again a minute later.

        Args:
            services: the clock, and the slices of time.
            queries: what will be searched for.

        Fires when it is done; fails with StoreUnavailable.
        """
        put: Callable[..., None] = services.slices.put
        for store in self._stores:
            yield store.load(put)
        if self._remote is not None and services.clock.seconds() >= self._ask_again_at:
            yield self._prepare_remotely(services.clock, queries)
        while self._due:
            yield pause(put)
            self._take_in(AT_ONCE)

    def search(
        self,
        query: str,
        limit: int,
        audience: Audience | None,
        now: datetime,
        discretion: str = "strict",
        keep: Callable[[Record], bool] | None = None,
    ) -> list[Found]:
        """The records nearest to what is asked; of those that say the same thing, such as how much
        somebody owes, the newest first.

        Args:
            query: what is asked or said.
            limit: how many at most.
            audience: dbrefs of everybody who will hear what comes of it: only what all of them may
                know takes part (P9). None finds what is public.
            now: the game's time for stores.
            discretion: "trusting" lets everything take part.
            keep: called with a record, False where that is not wanted.
        """
        self._take_in(AT_ONCE)
        ranked = self._index.search(
            query,
            limit * SPARE,
            audience,
            now.timestamp(),
            everything=discretion == "trusting",
            vector=self._asked.get(query),
        )
        found = []
        for name, score in ranked:
            record = self._record(name)
            # The index may lag behind by a moment; who may know is asked of the record itself.
            if not record or not is_known_to(record, audience, discretion):
                continue
            if keep is None or keep(record):
                found.append(Found(record, score))
        ordered = newest_first(query, [hit.record for hit in found], now)[:limit]
        return [Found(record, hit.score) for record, hit in zip(ordered, found, strict=False)]

    # --- within ----------------------------------------------------------------------------------

    def _notice(self, old: Record | None, new: Record | None) -> None:
        if new and not is_searchable(new):
            new = None
        if old and (new is None or new["id"] != old["id"]):
            self._due[old["id"]] = None
        if new:
            self._due[new["id"]] = new

    def _take_in(self, most: int) -> None:
        for name in list(islice(self._due, most)):
            self._put(name, self._due.pop(name))

    def _put(self, name: str, record: Record | None, vector: Any = None) -> None:
        if vector is None and record and self._remote is not None:
            self._bare.add(name)
        else:
            self._bare.discard(name)
        if record is None:
            self._index.remove(name)
            return
        self._index.add(
            name,
            self._text_of(record),
            self._name_of(record["source_entity"]) or None,
            when(record).timestamp(),
            record.get("importance", VALUE_IMPORTANCE),
            record["audience"],
            sources_of(record),
            vector=vector,
        )

    def _text_of(self, record: Record) -> str:
        if record.get("kind") == ATTRIBUTE:
            return value_line(record, self._name_of(record["subject"]))
        return str(record["content"])

    def _record(self, name: str) -> Record | None:
        for store in self._stores:
            record: Record | None = store.get(name)
            if record:
                return record if is_searchable(record) else None
        return None

    @inlineCallbacks
    def _prepare_remotely(
        self, clock: Clock, queries: Sequence[str]
    ) -> Generator[Deferred[Any], Any, None]:
        """Ask the endpoint for the vectors of what is due and of what will be asked."""
        embedder: Any = self._remote
        reactor: Any = clock  # Twisted types it as IReactorTime
        self._due = {name: self._record(name) for name in sorted(self._bare)} | self._due

        def embed(texts: Sequence[str]) -> Deferred[Any]:
            if not texts:
                return succeed(())
            asked: Deferred[Any] = embedder.embed_later(texts)
            return asked.addTimeout(REMOTE_TIME_S, reactor)

        try:
            while self._due:
                batch = dict(islice(self._due.items(), REMOTE_BATCH))
                vectors = iter((yield embed([self._text_of(r) for r in batch.values() if r])))
                for name, record in batch.items():
                    self._put(name, record, next(vectors) if record else None)
                    if self._due.get(name) is record:  # else it has changed meanwhile
                        del self._due[name]
            new = [query for query in dict.fromkeys(queries) if query not in self._asked]
            if new:
                self._asked = dict(zip(new, (yield embed(new)), strict=True))
        except (ProviderError, defer.TimeoutError) as error:
            self._ask_again_at = clock.seconds() + REMOTE_PAUSE_S
            log.warn("memories are ranked by words alone for a while: {error!r}", error=error)


def is_searchable(record: Record) -> bool:
    """True for a journal entry, and for a profile's value that is held to be true now.

    Observations are in the journal too, or become values.
    """
    if "kind" not in record:
        return True
    return record["kind"] == ATTRIBUTE and record["valid_to"] is None


def value_line(record: Record, name: str) -> str:
    """A value in words: "Ann: home town: Riverton"."""
    return f"{name}: {record['attribute']}: {record['value']}"


def when(record: Record) -> datetime:
    """When a record was written, or last learnt to be so."""
    return datetime.fromisoformat(record.get("timestamp") or record["confirmed_at"])


def sources_of(record: Record) -> list[str]:
    """Ids of the records that it was made from."""
    return [*record.get("links", ()), *record.get("sources", ())]

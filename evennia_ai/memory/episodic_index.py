"""The search index over a character's journal and entity profiles.

Journal and profiles report every change, and the index takes it in before the next search, many
changes in slices. Nothing is stored: after a restart, the first use builds the index again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, cast

from twisted.internet import defer
from twisted.internet.defer import Deferred, inlineCallbacks, succeed
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from evennia_ai.errors import ProviderError
from evennia_ai.memory.index import MemoryIndex, answers_at_once
from evennia_ai.messages import Audience
from evennia_ai.policy.records.entity_profiles import ATTRIBUTE
from evennia_ai.policy.records.provenance import Record, is_known_to
from evennia_ai.policy.retrieval.rerank import newest_first
from evennia_ai.ports import Embedder, RemoteEmbedder, Services
from evennia_ai.scheduling import Clock, Steps, pause

log = Logger()

AT_ONCE = 20  # changes taken in without a pause: 4 ms at most (measured)
REMOTE_BATCH = 64  # texts sent to an endpoint in one request
REMOTE_TIME_S = 5.0
REMOTE_PAUSE_S = 60.0  # pause after an endpoint failed
SPARE = 2  # ask for more records than are wanted: some may have been corrected meanwhile
VALUE_IMPORTANCE = 6

Keep = Callable[[Record], bool]


@dataclass(frozen=True)
class Found:
    """A record that a search found; scores are only comparable within one search."""

    record: Record
    score: float


class EpisodicIndex:
    """The search index of one character or, without profiles, of one sharing scope."""

    def __init__(
        self,
        journal: Any,
        profiles: Any,
        embedder: Embedder | RemoteEmbedder | None,
        name_of: Callable[[str], str],
    ) -> None:
        """Watch a journal (or what a scope was told) and profiles (None for a scope) from now on.

        Without an embedder, words alone rank. ``name_of`` returns what the character calls
        somebody, by dbref.
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
        """Return the number of memories that a search can find."""
        return len(self._index)

    def close(self) -> None:
        """Stop watching the journal and the profiles."""
        for store in self._stores:
            store.unwatch(self._notice)

    @inlineCallbacks
    def prepare(self, services: Services, queries: Sequence[str] = ()) -> Steps[None]:
        """Take in all changes in slices, and fetch queries' vectors if needed.

        If the embedder's endpoint fails, words alone rank, and it is asked again a minute later.
        Fires when a search is ready; fails with StoreUnavailable.
        """
        put: Callable[..., None] = services.slices.put
        for store in self._stores:
            yield store.load(put)
        if self._remote is not None and services.clock.seconds() >= self._ask_again_at:
            yield self._prepare_remotely(services.clock, queries)
        while self._due:
            yield pause(put)
            self._take_in()

    def search(
        self,
        query: str,
        limit: int,
        audience: Audience | None,
        now: datetime,
        discretion: str = "strict",
        keep: Keep | None = None,
    ) -> list[Found]:
        """Return at most ``limit`` records that fit a query best.

        Of records that say the same thing, such as a debt, the newest comes first.

        Args:
            query: what was asked or said.
            audience: dbrefs of everybody who will hear the result; only records that all of them
                may know are searched (P9). None searches public records.
            discretion: "trusting" searches all records.
            keep: called with each record; False leaves it out.
        """
        self._take_in()
        everything, vector = discretion == "trusting", self._asked.get(query)
        ranked = self._index.search(
            query, limit * SPARE, audience, now.timestamp(), everything=everything, vector=vector
        )
        found = []
        for name, score in ranked:
            record = self._record(name)
            # The index may lag behind a change; the record itself says who may know it.
            known = record and is_known_to(record, audience, discretion)
            if record and known and (keep is None or keep(record)):
                found.append(Found(record, score))
        ordered = newest_first(query, [hit.record for hit in found], now)[:limit]
        return [Found(record, hit.score) for record, hit in zip(ordered, found, strict=False)]

    def _notice(self, old: Record | None, new: Record | None) -> None:
        if new and not is_searchable(new):
            new = None
        if old and (new is None or new["id"] != old["id"]):
            self._due[old["id"]] = None
        if new:
            self._due[new["id"]] = new

    def _take_in(self) -> None:
        for name in list(islice(self._due, AT_ONCE)):
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
            name = self._name_of(record["subject"])
            return f"{name}: {record['attribute']}: {record['value']}"
        return str(record["content"])

    def _record(self, name: str) -> Record | None:
        for store in self._stores:
            record: Record | None = store.get(name)
            if record:
                return record if is_searchable(record) else None
        return None

    @inlineCallbacks
    def _prepare_remotely(self, clock: Clock, queries: Sequence[str]) -> Steps[None]:
        """Fetch the vectors of changed records and of queries from the endpoint."""
        embedder: Any = self._remote
        self._due = {name: self._record(name) for name in sorted(self._bare)} | self._due

        def embed(texts: Sequence[str], **kind: bool) -> Deferred[Any]:
            if not texts:
                return succeed(())
            asked: Deferred[Any] = embedder.embed_later(texts, **kind)
            return asked.addTimeout(REMOTE_TIME_S, cast(IReactorTime, clock))

        try:
            while self._due:
                batch = dict(islice(self._due.items(), REMOTE_BATCH))
                vectors = iter((yield embed([self._text_of(r) for r in batch.values() if r])))
                for name, record in batch.items():
                    self._put(name, record, next(vectors) if record else None)
                    if self._due.get(name) is record:  # otherwise it changed meanwhile
                        del self._due[name]
            new = [query for query in dict.fromkeys(queries) if query not in self._asked]
            if new:
                self._asked = dict(zip(new, (yield embed(new, query=True)), strict=True))
        except (ProviderError, defer.TimeoutError) as error:
            self._ask_again_at = clock.seconds() + REMOTE_PAUSE_S
            log.warn(
                "evennia_ai: embeddings unavailable ({error!r}); ranking memories by words for "
                "{seconds:.0f} s",
                error=error,
                seconds=REMOTE_PAUSE_S,
            )


def is_searchable(record: Record) -> bool:
    """True for a journal entry or a current value; observations are entries or become values."""
    if "kind" not in record:
        return True
    return record["kind"] == ATTRIBUTE and record["valid_to"] is None


def when(record: Record) -> datetime:
    """Return when a record was written or last confirmed."""
    return datetime.fromisoformat(record.get("timestamp") or record["confirmed_at"])


def sources_of(record: Record) -> list[str]:
    """Return the ids of the records that a record was made from."""
    return [*record.get("links", ()), *record.get("sources", ())]

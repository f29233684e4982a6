"""The search index over a character's log, journal and entity profiles.

Journal and profiles report every change; new lines of the log are read before a turn. The index
takes both in, in slices. The vectors of lines are stored, so that a restart loads most of them; the
index itself is built again at its first use.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any, cast

from twisted.internet.defer import inlineCallbacks
from twisted.logger import Logger

from evennia_ai.errors import StoreUnavailable
from evennia_ai.memory.columns import ALONE
from evennia_ai.memory.index import MemoryIndex
from evennia_ai.memory.logged_lines import LoggedLines
from evennia_ai.memory.remote_vectors import RemoteVectors
from evennia_ai.memory.vectors import answers_at_once, pack
from evennia_ai.messages import Audience
from evennia_ai.policy.recallable_lines import LINE, line_id, seq_of
from evennia_ai.policy.records.entity_profiles import ATTRIBUTE
from evennia_ai.policy.records.record import Record, is_known_to, time_of
from evennia_ai.policy.retrieval.relevance import NO_CONTEXT, QueryContext
from evennia_ai.ports import Embedder, Lines, MemoryMatch, RemoteEmbedder, Services
from evennia_ai.scheduling import Coroutine, yield_to_reactor

log = Logger()

AT_ONCE = 20  # changes or lines taken in without a pause: 4 ms at most (measured)
SPARE = 8  # more records than are wanted: some may have been corrected meanwhile
IMPORTANCE = {LINE: 5, ATTRIBUTE: 6}  # of records that have none of their own

Keep = Callable[[Record], bool]


class RecallIndex:
    """The search index of one character or, without profiles and lines, of one sharing scope."""

    def __init__(  # what it is over
        self,
        journal: Any,
        profiles: Any,
        embedder: Embedder | RemoteEmbedder | None,
        name_of: Callable[[str], str],
        lines: Lines | None = None,
        own_name: str = "",
    ) -> None:
        """Watch a journal (or what a scope was told) and profiles from now on.

        Without an embedder, words alone rank. ``name_of`` returns what the character calls
        somebody, by dbref; ``own_name`` is the speaker of its own lines.
        """
        self.journal, self.profiles = journal, profiles
        self._name_of = name_of
        self._log = LoggedLines(lines, own_name, embedder) if lines is not None else None
        self._remote: RemoteVectors | None = None
        if embedder is not None and not answers_at_once(embedder):
            far = cast("RemoteEmbedder", embedder)
            self._remote = RemoteVectors(far, self._texts_of, self._take_vectors)
        self._index = MemoryIndex(embedder)
        self._due: dict[str, Record | None] = {}
        self._is_open, self._is_filling = True, False
        self._stores = [store for store in (journal, profiles) if store is not None]
        for store in self._stores:
            store.watch(self._notice)

    def __len__(self) -> int:
        return len(self._index)

    @property
    def waiting(self) -> int:
        """Return how many memories are ranked by words alone until their vectors are made."""
        return len(self._remote.waiting) if self._remote is not None else 0

    @property
    def nbytes(self) -> int:
        return self._index.nbytes + (self._log.nbytes if self._log is not None else 0)

    def reads(self, journal: Any, profiles: Any, lines: Lines) -> bool:
        own_lines = self._log.lines if self._log is not None else None
        return self.journal is journal and self.profiles is profiles and own_lines is lines

    def close(self) -> None:
        """Stop watching the journal and the profiles, and store the vectors of lines."""
        self._is_open = False
        for store in self._stores:
            store.unwatch(self._notice)
        if self._log is not None:
            self._log.store_vectors()
        if self._remote is not None:
            self._remote.waiting.clear()

    @inlineCallbacks
    def prepare(
        self,
        services: Services,
        queries: Sequence[str] = (),
        upto: int | None = None,
        whole: bool = True,
    ) -> Coroutine[None]:
        """Take in all changes and new lines in slices, and fetch the vectors of queries.

        Lines after the message ``upto`` are left for later; None reads all. Unless the ``whole``
        log is needed, a search begins with its newest lines, and the others join them in the
        background.
        If the embedder's endpoint fails, words alone rank, and it is asked again a minute later.
        Fires when a search is ready; fails with StoreUnavailable.
        """
        put: Callable[..., None] = services.slices.put
        self._index.on_clock = services.world_clock.days_at  # "yesterday" is the world's
        for store in self._stores:
            yield store.load(put)
        while self._due:
            yield yield_to_reactor(put)
            self._take_in()
        if self._log is not None:
            yield self._take_in_log(self._log, services.slices.put, upto, whole)
        if self._remote is not None:
            # A name that only hidden lines have stays in the query (P9), so both are made.
            bare = (self._index.embedded_text(query, everything=True) for query in queries)
            yield self._remote.prepare(services, list(dict.fromkeys([*queries, *bare])))

    def search(  # all but four have defaults
        self,
        query: str,
        limit: int,
        audience: Audience | None,
        now: datetime,
        keep: Keep | None = None,
        upto: int | None = None,
        everything: bool = False,
        context: QueryContext = NO_CONTEXT,
        among: Iterable[str] | None = None,
    ) -> list[MemoryMatch]:
        """Return at most ``limit`` records that fit a query best.

        ``audience``, ``upto`` (a message), ``everything``, ``context`` and ``among`` are those of
        `MemoryIndex.find` (P9); ``keep`` is called with each record, and False leaves it out.
        """
        self._take_in()
        vector = None
        if self._remote is not None:
            bare = self._index.embedded_text(query, audience, upto, everything)
            vector = self._remote.query_vectors.get(bare, self._remote.query_vectors.get(query))
        ranked = self._index.find(
            query,
            limit + SPARE,
            audience,
            now.timestamp(),
            everything=everything,
            vector=vector,
            upto=upto,
            context=context,
            among=among,
        )
        # The index may lag behind a change; the record itself says who may know it.
        records = self._records([hit.id for hit in ranked])
        matches = [
            MemoryMatch(records[hit.id], hit.score, hit.fit)
            for hit in ranked
            if hit.id in records
            and (everything or is_known_to(records[hit.id], audience))
            and (keep is None or keep(records[hit.id]))
        ]
        return matches[:limit]

    def forget(self, seqs: Iterable[int]) -> None:
        for seq in seqs:
            if self._log is not None:
                self._log.forget(seq)
            if self._index.remove(line_id(seq)) and self._remote is not None:
                self._remote.note(line_id(seq), False)

    def renew(self, seqs: Sequence[int]) -> None:
        """Read lines again whose words changed, or which are recalled no more or anew."""
        self.forget(seqs)
        for line in self._log.again(seqs) if self._log is not None else ():
            self._put(line["id"], line)

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

    @inlineCallbacks
    def _take_in_log(
        self, logged: LoggedLines, put: Callable[..., None], upto: int | None, whole: bool
    ) -> Coroutine[None]:
        """Take in the new lines of the log, and its older ones now or in the background."""
        logged.refresh()
        logged.newest_first()
        while self._take_in_lines(logged.take(upto)):
            yield yield_to_reactor(put)
        if whole:
            while logged.has_older and self._take_in_lines(logged.take_older(upto)):
                yield yield_to_reactor(put)
        elif logged.has_older and not self._is_filling:
            self._fill(logged, put).addErrback(partial(log.failure, "a log is not read to its end"))

    @inlineCallbacks
    def _fill(self, logged: LoggedLines, put: Callable[..., None]) -> Coroutine[None]:
        """Take in all older lines, unless the index is closed before."""
        self._is_filling = True
        try:
            with suppress(StoreUnavailable):  # the next turn goes on
                yield yield_to_reactor(put)
                while self._is_open and logged.has_older:
                    self._take_in_lines(logged.take_older(None))
                    yield yield_to_reactor(put)
        finally:
            self._is_filling = False

    def _take_in_lines(self, taken: tuple[Iterable[tuple[Record, bytes | None]], bool]) -> bool:
        lines, more = taken
        for line, packed in lines:
            self._put(line["id"], line, packed)
        return more

    def _put(self, name: str, record: Record | None, vector: bytes | None = None) -> None:
        if self._remote is not None:
            self._remote.note(name, record is not None and vector is None)
        if record is None:
            self._index.remove(name)
            return
        is_line = record.get("kind") == LINE
        speaker = record["speaker_name"] if is_line else self._name_of(record["source_entity"])
        self._index.add(
            name,
            self._text_of(record),
            speaker or None,
            time_of(record).timestamp(),
            record.get("importance") or IMPORTANCE[record["kind"]],
            record["audience"],
            sources_of(record),
            vector=vector,
            place=record["seq"] if is_line else ALONE,
        )

    def _text_of(self, record: Record) -> str:
        if record.get("kind") == ATTRIBUTE:
            name = self._name_of(record["subject"])
            return f"{name}: {record['attribute']}: {record['value']}"
        return str(record.get("words") or record["content"])

    def _records(self, names: Iterable[str]) -> dict[str, Record]:
        """Return the records with these ids as they are now; drop lines that are gone."""
        seqs = {name: seq_of(name) for name in names}
        notes = {name: self._note(name) for name, seq in seqs.items() if seq is None}
        known_records = {name: record for name, record in notes.items() if record is not None}
        wanted = [seq for seq in seqs.values() if seq is not None]
        lines = self._log.found(wanted) if self._log is not None and wanted else {}
        self.forget(seq for seq in wanted if seq not in lines)
        return known_records | {line["id"]: line for line in lines.values()}

    def _note(self, name: str) -> Record | None:
        """Return a record of the journal or the profiles if a search may find it."""
        for store in self._stores:
            record: Record | None = store.get(name)
            if record:
                return record if is_searchable(record) and not store.withholds(record) else None
        return None

    def _texts_of(self, names: Iterable[str]) -> dict[str, str]:
        """Return the texts of memories that still exist, by id; no line is kept for it."""
        names = list(names)
        seqs = [seq for seq in map(seq_of, names) if seq is not None]
        lines = self._log.words_of(seqs) if self._log is not None and seqs else {}
        texts = {line_id(seq): words for seq, words in lines.items()}
        notes = {name: self._note(name) for name in names if seq_of(name) is None}
        return texts | {name: self._text_of(note) for name, note in notes.items() if note}

    def _take_vectors(self, vectors: Mapping[str, Any]) -> None:
        """Take in the vectors that the embedder made, by id."""
        packed = {name: pack(vectors[name]) for name in vectors if name in self._index}
        for name, vector in packed.items():
            self._index.set_vector(name, vector)
        lines = {seq: packed[name] for name in packed if (seq := seq_of(name)) is not None}
        if self._log is not None:
            self._log.keep_vectors(lines)


def is_searchable(record: Record) -> bool:
    """True for a journal entry or a current value; observations are entries or become values."""
    return "kind" not in record or (record["kind"] == ATTRIBUTE and record["valid_to"] is None)


def sources_of(record: Record) -> list[str]:
    """Return the ids of the records and lines that a record was made from."""
    lines = map(line_id, record.get("source_seqs", ()))
    return [*record.get("links", ()), *record.get("sources", ()), *lines]

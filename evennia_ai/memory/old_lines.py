"""The older lines of a long log, which the database searches; see `store.old_lines`.

The index in memory holds the newest lines. Before a search the database gives the older ones that
may fit, with their neighbours; they join the index, which ranks all of them, and leave it before
the next search. So a long log takes no more memory than a short one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger

from evennia_ai.errors import MemoryUnavailable, StoreUnavailable
from evennia_ai.memory.index import MemoryIndex
from evennia_ai.memory.lexical import number_of, numbered
from evennia_ai.memory.logged_lines import LoggedLines
from evennia_ai.memory.vectors import answers_at_once, pack, readable
from evennia_ai.messages import Audience
from evennia_ai.policy.lines import line_id, read_line
from evennia_ai.policy.records.provenance import Record
from evennia_ai.policy.retrieval.weights import Offered
from evennia_ai.ports import (
    Embedder,
    LineQuery,
    Lines,
    LineTable,
    OldLine,
    RemoteEmbedder,
    Services,
    TableState,
)
from evennia_ai.scheduling import Steps, pause

log = Logger()

MOST_IN_MEMORY = 100_000  # messages of a log that is searched in memory
NEWEST = 5_000  # messages of a longer log that stay in memory
AT_ONCE = 20  # lines that join the index without a pause
SEARCH_S, STORE_S, BUILD_S = 3.0, 30.0, 7_200.0
TIME, NUMBER, QUESTION = 256, 512, 1_024  # beside the signs of an exchange, in one number
FAILED = (StoreUnavailable, MemoryUnavailable)
NOT_SEARCHED = (
    "evennia_ai: the database cannot search the long log of {name} ({error}); it is searched in "
    "memory. It needs the extension pgvector: a superuser of PostgreSQL runs 'CREATE EXTENSION "
    "vector' in the game's database"
)

# Runs a call in a thread, for some seconds at most; fires with what it returns.
Run = Callable[[Callable[[], Any], float], Deferred[Any]]


class OldLines:
    """The older lines of one log; ``search`` and ``build`` run calls in two threads.

    Attributes:
        upto: the last message whose line the database searches, 0 for none; None before `open`.
        is_outdated: True once the database searches many more.
    """

    def __init__(  # noqa: PLR0913  # what one log is
        self,
        table: LineTable,
        lines: Lines,
        own_name: str,
        embedder: Embedder | RemoteEmbedder,
        search: Run,
        build: Run,
        most: int = MOST_IN_MEMORY,
        newest: int = NEWEST,
    ) -> None:
        self.upto: int | None = None
        self.is_outdated = False
        self._table = table
        self._sizes = most, newest
        self._name = own_name
        self._embedder = embedder
        self._reader = LoggedLines(lines, own_name, embedder)
        self._search, self._build = search, build
        self._brought: set[str] = set()
        self._asked: LineQuery | None = None  # what the brought lines fit

    @inlineCallbacks
    def open(self, services: Services) -> Steps[int]:
        """Fire with `upto`; older lines that are missing in the table are added from now on."""
        self.upto = 0
        try:
            if not self._table.may_be_long(self._sizes[0]):
                return 0
            state = yield self._search(lambda: self._table.open(*self._sizes), STORE_S)
        except FAILED as error:
            log.warn(NOT_SEARCHED, name=self._name, error=str(error).strip().split("\n")[0])
            state = TableState()
        self.upto = state.searched
        if state.wanted > state.searched or state.gaps:
            adding = self._add_missing(services, state)
            adding.addErrback(lambda failure: log.failure("older lines stay out", failure))
        return self.upto

    @inlineCallbacks
    def bring(
        self,
        services: Services,
        index: MemoryIndex,
        query: str,
        audience: Audience | None,
        upto: int | None,
        vector: Any,
    ) -> Steps[None]:
        """Let older lines that may fit a query join the index, and those of before leave it."""
        wanted, vector, _now = index.understand(query, audience, vector, upto)
        if vector is None:
            return
        asked = LineQuery(
            vector.tolist(),
            [signed(number_of(word)) for word in wanted.words],
            (index.weights.meaning, index.weights.words),
            audience or frozenset(),
            upto,
        )
        if asked == self._asked:
            return
        try:
            found = yield self._search(lambda: self._table.find(asked), SEARCH_S)
        except FAILED as error:
            log.warn("{name}: cannot search older lines ({error})", name=self._name, error=error)
            return
        yield self._join(services, index, {line_id(line.seq): line for line in found})
        self._asked = asked

    @inlineCallbacks
    def _join(
        self, services: Services, index: MemoryIndex, lines: Mapping[str, OldLine]
    ) -> Steps[None]:
        """Let these lines, and no other older ones, stand in the index."""
        for name in self._brought - lines.keys():
            index.remove(name)
        self._brought &= lines.keys()
        for number, (name, line) in enumerate(lines.items(), 1):
            if name not in index:
                self._brought.add(name)
                index.add(
                    name,
                    offered(line),
                    line.speaker or None,
                    line.at,
                    audience=line.audience,
                    vector=line.packed,
                    place=line.seq,
                    counted=False,
                )
            if number % AT_ONCE == 0:
                yield pause(services.slices.put)

    def note_removed(self, name: str) -> None:
        """Leave alone what the index holds under this id from now on."""
        self._brought.discard(name)

    @inlineCallbacks
    def _add_missing(self, services: Services, state: TableState) -> Steps[None]:
        """Add lines to the table in the order of the log, then build its indices."""
        reader = self._reader
        gaps = [line for m in reader.lines.read(state.gaps) if (line := read_line(m, self._name))]
        try:
            yield self._store([(line, None) for line in gaps])
            reader.skip(state.stored)
            more = state.wanted > state.stored
            while more:
                lines, more = reader.take(state.wanted)
                yield self._store(lines)
                yield pause(services.slices.put)
            yield self._build(self._table.build, BUILD_S)
        except FAILED as error:
            log.warn("{name}: cannot store older lines ({error})", name=self._name, error=error)
            return
        self.is_outdated = state.wanted > state.searched + self._sizes[1] or not state.searched

    @inlineCallbacks
    def _store(self, lines: Sequence[tuple[Record, bytes | None]]) -> Steps[None]:
        vectors = {line["seq"]: packed for line, packed in lines if packed is not None}
        bare = [line for line, packed in lines if packed is None]
        if bare:
            texts = [readable(line["words"]) for line in bare]
            made = (
                self._embedder.embed(texts)
                if answers_at_once(self._embedder)
                else (yield self._embedder.embed_later(texts))  # type: ignore[union-attr]
            )
            new = {line["seq"]: pack(row) for line, row in zip(bare, made, strict=True)}
            self._reader.keep_vectors(new)
            vectors |= new
        self._reader.store_vectors()
        rows = [as_row(line, vectors[line["seq"]]) for line, _packed in lines]
        yield self._build(lambda: self._table.store(rows), STORE_S)


def as_row(line: Record, packed: bytes) -> OldLine:
    """Return a line as the table has it."""
    found = numbered(line["words"])
    signs = found.signs | TIME * found.time | NUMBER * found.number | QUESTION * found.question
    words, audience = [signed(word) for word in found.words], line["audience"]
    return OldLine(line["seq"], 0.0, line["speaker_name"] or "", audience, words, signs, packed)


def offered(line: OldLine) -> Offered:
    """Return the signs of a line's text from its row."""
    words, signs = [word & 0xFFFFFFFF for word in line.words], line.signs
    kinds = (bool(signs & TIME), bool(signs & NUMBER), bool(signs & QUESTION))
    return Offered(words, *kinds, signs & 0xFF)


def signed(number: int) -> int:
    """Return a word's number as the database has it: an integer of four bytes."""
    return number - (1 << 32) if number >> 31 else number

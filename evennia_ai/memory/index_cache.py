"""The search indices in memory, and the search over several."""

from collections.abc import Callable, Hashable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from twisted.internet.defer import DeferredList, inlineCallbacks, maybeDeferred
from twisted.logger import Logger

from evennia_ai.errors import StoreUnavailable, TurnAborted
from evennia_ai.memory.recall_index import Keep, RecallIndex
from evennia_ai.messages import Audience
from evennia_ai.policy.audience import of_record
from evennia_ai.policy.records.journal_entry import normalised
from evennia_ai.policy.records.record import is_known_to, time_of
from evennia_ai.ports import (
    Embedder,
    Identity,
    Lines,
    MemoryMatch,
    MemorySource,
    RemoteEmbedder,
    Services,
)
from evennia_ai.ports.records import WatchedRecords
from evennia_ai.scheduling import Coroutine, loggable
from evennia_ai.store.mind_cache import MindCache

log = Logger()
T = TypeVar("T")

OWN_TO_ONE = 2  # own memories for each of others


class SharedIndex(RecallIndex):
    """An index over records that several characters search; it can be let go at any time."""

    is_busy = False

    def __init__(
        self, records: Any, embedder: Embedder | RemoteEmbedder | None, let_go: Callable[[], None]
    ) -> None:
        # The records contain the names already, so `name_of` returns nothing.
        super().__init__(records, None, embedder, lambda _id: "")
        self.let_go = let_go


class IndexCache:
    """Makes an index when it is first needed.

    ``embedder`` is called when an index is made. ``loaded`` lets indices go that no single
    assistant has; assistants drop their own.
    """

    def __init__(
        self, embedder: Callable[[], Embedder | RemoteEmbedder | None], loaded: MindCache
    ) -> None:
        self._embedder = embedder
        self._loaded = loaded
        self._of_characters: dict[int, RecallIndex] = {}
        self._shared: dict[Hashable, SharedIndex] = {}

    def of_character(
        self, who: Identity, lines: Lines, name_of: Callable[[str], str]
    ) -> RecallIndex:
        """Return an assistant's index, the same until it or the character's records are dropped."""
        character, index = who.character, self._of_characters.get(who.id)
        if index is None or not index.reads(character.journal, character.ai_profiles, lines):
            self.drop(who.id)
            index = self._of_characters[who.id] = RecallIndex(
                character.journal, character.ai_profiles, self._embedder(), name_of, lines, who.name
            )
        return index

    def shared(self, key: Hashable, make: Callable[[], WatchedRecords]) -> RecallIndex:
        """Return the index over an extension's records, which several characters may search.

        ``make`` returns the records when the index is first needed, or again after it was let go.
        """
        index = self._shared.get(key)
        if index is None:
            records, embedder = make(), self._embedder()
            index = SharedIndex(records, embedder, lambda: self._shared.pop(key).close())
            self._shared[key] = index
        self._loaded.note(index)
        return index

    @property
    def waiting(self) -> int:
        """Return how many memories wait for their vectors, over all indices."""
        return sum(
            index.waiting for index in (*self._of_characters.values(), *self._shared.values())
        )

    def bytes_of(self, assistant_id: int) -> int:
        index = self._of_characters.get(assistant_id)
        return index.nbytes if index else 0

    def drop(self, assistant_id: int) -> None:
        """Free the memory of an assistant's index; the next use makes it again."""
        index = self._of_characters.pop(assistant_id, None)
        if index is not None:
            index.close()

    def renew(self, assistant_id: int, seqs: Sequence[int]) -> None:
        index = self._of_characters.get(assistant_id)
        if index is not None:
            index.renew(seqs)

    def forget_lines(self, ids: Sequence[int], **_signal: Any) -> None:
        for index in self._of_characters.values():
            index.forget(ids)


class MixedSearch:
    """The memories of a character: its own, and those of sources that extensions add."""

    def __init__(self, own: RecallIndex, sources: Sequence[MemorySource]) -> None:
        self.own = own
        self._sources = sources

    def __len__(self) -> int:
        """Return the number of its own memories."""
        return len(self.own)

    @inlineCallbacks
    def prepare(
        self, services: Services, queries: Sequence[str] = (), *args: Any, **kwargs: Any
    ) -> Coroutine[None]:
        """Prepare all at once: a silent endpoint delays the turn only once."""
        waits = [self.own.prepare(services, queries, *args, **kwargs)]
        waits += [maybeDeferred(lambda it: it.prepare(queries), source) for source in self._sources]
        for number, (is_done, result) in enumerate((yield DeferredList(waits, consumeErrors=True))):
            if is_done:
                continue
            if number == 0 or result.check(StoreUnavailable, TurnAborted):
                result.raiseException()
            log.error("evennia_ai: a source of memories failed: {kind}", kind=result.type)

    def search(
        self,
        query: str,
        limit: int,
        audience: Audience | None,
        now: datetime,
        keep: Keep | None = None,
        **own_only: Any,
    ) -> list[MemoryMatch]:
        """Return the records nearest to a query, best first; see `RecallIndex.search`.

        Of the sources the audience may know each record (P9), whatever they return.
        """
        own = self.own.search(query, limit, audience, now, keep, **own_only)
        matches: list[MemoryMatch] = []
        for source in self._sources:
            try:
                matches += tellable(source.search(query, limit, audience, now, keep), audience)
            except Exception:  # noqa: BLE001  # an extension's error must not stop an assistant
                log.failure("evennia_ai: a source of memories failed", loggable(True))
        known = {normalised(str(match.record.get("content", ""))) for match in own}
        news: list[MemoryMatch] = []
        for match in sorted(matches, key=lambda match: -match.score):
            words = normalised(match.record["content"])
            if words not in known:
                known.add(words)
                news.append(match)
        return mix(own, news, limit)


def tellable(matches: Sequence[MemoryMatch], audience: Audience | None) -> list[MemoryMatch]:
    """Return those that an audience may know; raises if one lacks words, time or authors."""
    known = [match for match in matches if is_known_to(match.record, audience)]
    for match in known:
        _needed = match.record["content"], time_of(match.record), of_record(match.record)
    return known


def mix(own: Sequence[T], foreign: Sequence[T], limit: int) -> list[T]:
    """Return own and other memories, best first, every third another's, up to ``limit``."""
    # Their scores are not comparable, because word rarity differs between the two collections.
    left, others = list(own), list(foreign)
    mixed: list[T] = []
    while (left or others) and len(mixed) < limit:
        turn = others if (len(mixed) + 1) % (OWN_TO_ONE + 1) == 0 else left
        mixed.append((turn or left or others).pop(0))
    return mixed

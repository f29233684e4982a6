"""The search indices in memory, one a character or sharing scope."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from twisted.internet.defer import DeferredList, inlineCallbacks

from evennia_ai.memory.recall_index import Keep, RecallIndex
from evennia_ai.messages import Audience
from evennia_ai.policy.records.journal_entry import normalised
from evennia_ai.policy.records.record import Record
from evennia_ai.policy.records.shared_memory import HEARSAY, mix
from evennia_ai.ports import Embedder, Identity, Lines, MemoryMatch, RelatedLines, RemoteEmbedder
from evennia_ai.scheduling import Coroutine
from evennia_ai.store.mind_cache import MindCache


class ScopeIndex(RecallIndex):
    """The index over what one sharing scope was told; it can be let go at any time."""

    is_busy = False

    def __init__(
        self, entries: Any, embedder: Embedder | RemoteEmbedder | None, let_go: Callable[[], None]
    ) -> None:
        # Shared entries contain the names already, so `name_of` returns nothing.
        super().__init__(entries, None, embedder, lambda _id: "")
        self.let_go = let_go


class IndexCache:
    """Makes an index when it is first needed.

    ``embedder`` is called when an index is made; ``entries_of`` returns what a scope was told, by
    the scope's name. ``loaded`` lets indices of scopes go; assistants drop their own.
    """

    def __init__(
        self,
        embedder: Callable[[], Embedder | RemoteEmbedder | None],
        entries_of: Callable[[str], Any],
        loaded: MindCache,
    ) -> None:
        self._embedder = embedder
        self._entries_of = entries_of
        self._loaded = loaded
        self._of_characters: dict[int, RecallIndex] = {}
        self._of_scopes: dict[str, ScopeIndex] = {}

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

    def of_scope(self, scope: str) -> RecallIndex:
        """Return the index over what one scope was told, for all who belong to it."""
        index = self._of_scopes.get(scope)
        if index is None:
            index = ScopeIndex(
                self._entries_of(scope),
                self._embedder(),
                lambda: self._of_scopes.pop(scope).close(),
            )
            self._of_scopes[scope] = index
        self._loaded.note(index)
        return index

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

    def note(self, scopes: frozenset[str] | None, gone: Sequence[int], **_signal: Any) -> None:
        """Update scopes (None: all) after rows came; ``gone`` has the ids of deleted rows."""
        for scope, index in self._of_scopes.items():
            if scopes is None or scope in scopes:
                index.journal.note(gone)

    def forget_lines(self, seqs: Sequence[int], **_signal: Any) -> None:
        for index in self._of_characters.values():
            index.forget(seqs)


class SharedSearch:
    """The memories of a character that shares: its own and what its scopes were told.

    ``still_told`` returns the ids of those records that nobody has taken back; ``me`` is the
    character's dbref: what it told others is not hearsay to it.
    """

    def __init__(
        self,
        own: RecallIndex,
        shared_indices: Sequence[RecallIndex],
        still_told: Callable[[Iterable[str]], frozenset[str]],
        me: str,
    ) -> None:
        self.own = own
        self._told = shared_indices
        self._still_told = still_told
        self._me = me

    def __len__(self) -> int:
        """Return the number of its own memories, without hearsay."""
        return len(self.own)

    @inlineCallbacks
    def prepare(self, *args: Any, **kwargs: Any) -> Coroutine[None]:
        """Prepare all indices at once: a silent endpoint delays the turn only once."""
        waits = [index.prepare(*args, **kwargs) for index in (self.own, *self._told)]
        for is_done, result in (yield DeferredList(waits, consumeErrors=True)):
            if not is_done:
                result.raiseException()

    def records(self) -> list[Record]:
        """Return everything that others told the character, as far as it is loaded."""
        shared_records = (record for index in self._told for record in index.journal.held())
        return [record for record in shared_records if record["teller"] != self._me]

    def search(  # see `RecallIndex.search`
        self,
        query: str,
        limit: int,
        audience: Audience | None,
        now: datetime,
        keep: Keep | None = None,
        upto: int | None = None,
        everything: bool = False,
    ) -> list[MemoryMatch]:
        """Return the records nearest to a query, best first; see `RecallIndex.search`.

        A record that others told has the kind ``hearsay`` and names its ``teller``.
        """
        own = self.own.search(query, limit, audience, now, keep, upto, everything)
        known = {normalised(str(hit.record.get("content", ""))) for hit in own}
        return mix(own, self._search_told(query, limit, now, keep, known), limit)

    def related(self, *args: Any, **kwargs: Any) -> RelatedLines:
        """Return what belongs to its own lines; see `RecallIndex.related`."""
        return self.own.related(*args, **kwargs)

    def _search_told(
        self, query: str, limit: int, now: datetime, keep: Keep | None, known: set[str]
    ) -> list[MemoryMatch]:
        """Return what others told, best first, without repetitions of what it knows."""

        def is_news(record: Record) -> bool:
            return record["teller"] != self._me and (keep is None or keep(record))

        # Shared entries are public, so the search has no audience.
        hits = [
            hit
            for index in self._told
            for hit in index.search(query, limit, None, now, keep=is_news)
        ]
        still_shared = self._still_told(hit.record["id"] for hit in hits)
        news: list[MemoryMatch] = []
        for hit in sorted(hits, key=lambda hit: -hit.score):
            words = normalised(hit.record["content"])
            if hit.record["id"] in still_shared and words not in known:
                known.add(words)
                news.append(replace(hit, record={**hit.record, "kind": HEARSAY}))
        return news

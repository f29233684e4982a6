"""Search over a character's own memories and over what others shared with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from twisted.internet.defer import DeferredList, inlineCallbacks

from evennia_ai.memory.recall_index import Found, Keep, RecallIndex
from evennia_ai.messages import Audience
from evennia_ai.policy.records.journal_entry import normalised
from evennia_ai.policy.records.provenance import Record
from evennia_ai.policy.records.shared_memory import HEARSAY, mix
from evennia_ai.ports import Related, Services
from evennia_ai.scheduling import Steps


class SharedSearch:
    """The memories of a character that shares: its own and what its scopes were told.

    ``still_told`` returns the ids of those records that nobody has taken back; ``me`` is the
    character's dbref: what it told others is not hearsay to it.
    """

    def __init__(
        self,
        own: RecallIndex,
        told: Sequence[RecallIndex],
        still_told: Callable[[Iterable[str]], frozenset[str]],
        me: str,
    ) -> None:
        self.own = own
        self._told = told
        self._still_told = still_told
        self._me = me

    def __len__(self) -> int:
        """Return the number of its own memories, without hearsay."""
        return len(self.own)

    @inlineCallbacks
    def prepare(
        self,
        services: Services,
        queries: Sequence[str] = (),
        upto: int | None = None,
        audience: Audience | None = None,
        whole: bool = True,
    ) -> Steps[None]:
        """Prepare all indices at once: a silent endpoint delays the turn only once."""
        waits = [
            index.prepare(services, queries, upto, audience, whole)
            for index in (self.own, *self._told)
        ]
        for is_done, result in (yield DeferredList(waits, consumeErrors=True)):
            if not is_done:
                result.raiseException()

    def records(self) -> list[Record]:
        """Return everything that others told the character, as far as it is loaded."""
        told = (record for index in self._told for record in index.journal.held())
        return [record for record in told if record["teller"] != self._me]

    def search(  # see `RecallIndex.search`
        self,
        query: str,
        limit: int,
        audience: Audience | None,
        now: datetime,
        keep: Keep | None = None,
        upto: int | None = None,
        everything: bool = False,
    ) -> list[Found]:
        """Return the records nearest to a query, best first; see `RecallIndex.search`.

        A record that others told has the kind ``hearsay`` and names its ``teller``.
        """
        own = self.own.search(query, limit, audience, now, keep, upto, everything)
        known = {normalised(str(found.record.get("content", ""))) for found in own}
        return mix(own, self._search_told(query, limit, now, keep, known), limit)

    def related(self, *args: Any, **kwargs: Any) -> Related:
        """Return what belongs to its own lines; see `RecallIndex.related`."""
        return self.own.related(*args, **kwargs)

    def _search_told(
        self, query: str, limit: int, now: datetime, keep: Keep | None, known: set[str]
    ) -> list[Found]:
        """Return what others told, best first, without repetitions of what it knows."""

        def is_news(record: Record) -> bool:
            return record["teller"] != self._me and (keep is None or keep(record))

        # Shared entries are public, so the search has no audience.
        found = [
            hit
            for index in self._told
            for hit in index.search(query, limit, None, now, keep=is_news)
        ]
        told = self._still_told(hit.record["id"] for hit in found)
        news: list[Found] = []
        for hit in sorted(found, key=lambda hit: -hit.score):
            words = normalised(hit.record["content"])
            if hit.record["id"] in told and words not in known:
                known.add(words)
                news.append(replace(hit, record={**hit.record, "kind": HEARSAY}))
        return news

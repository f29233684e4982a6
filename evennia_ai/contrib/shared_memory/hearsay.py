"""What others told a character, as a source of its memories."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from twisted.internet.defer import DeferredList, inlineCallbacks

from evennia_ai.contrib.shared_memory.entries import still_told
from evennia_ai.contrib.shared_memory.telling import HEARSAY
from evennia_ai.messages import Audience
from evennia_ai.policy.records.record import Record
from evennia_ai.ports import MemoryMatch, MindContext
from evennia_ai.scheduling import Coroutine


@dataclass(frozen=True, eq=False)
class Hearsay:
    """The search over what the scopes of a character were told, a `ports.MemorySource`.

    ``indices`` are those of the scopes. What the character told others is not hearsay to it.
    """

    _mind: MindContext
    _indices: Sequence[Any]

    @inlineCallbacks
    def prepare(self, queries: Sequence[str]) -> Coroutine[None]:
        """Prepare all scopes at once: a silent endpoint delays the turn only once."""
        waits = [index.prepare(self._mind.services, queries) for index in self._indices]
        for is_done, result in (yield DeferredList(waits, consumeErrors=True)):
            if not is_done:
                result.raiseException()

    @inlineCallbacks
    def all(self) -> Coroutine[list[Record]]:
        """Fire with everything that others told the character."""
        yield self.prepare([])
        return self.held()

    def held(self) -> list[Record]:
        """Return everything that others told the character, as far as memory has it."""
        me = self._mind.character.dbref
        records = (record for index in self._indices for record in index.journal.held())
        return [record for record in records if record["teller"] != me]

    def search(
        self,
        query: str,
        limit: int,
        audience: Audience | None,  # shared entries are public
        now: datetime,
        keep: Callable[[Record], bool] | None = None,
    ) -> list[MemoryMatch]:
        """Return what others told and nobody has taken back, with its teller."""
        character, world = self._mind.character, self._mind.world

        def is_news(record: Record) -> bool:
            return record["teller"] != character.dbref and (keep is None or keep(record))

        matches: list[MemoryMatch] = [
            match
            for index in self._indices
            for match in index.search(query, limit, None, now, keep=is_news)
        ]
        still_shared = still_told(match.record["id"] for match in matches)
        news: list[MemoryMatch] = []
        for match in matches:
            if match.record["id"] in still_shared:
                teller = world.name_of(character, match.record["teller"]) or "somebody"
                record = {**match.record, "kind": HEARSAY, "label": f", {teller} told you"}
                news.append(replace(match, record=record))
        return news

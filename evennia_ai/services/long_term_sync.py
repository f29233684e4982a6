"""Long-term memory within the service: made from the game's settings, and rid of what is forgotten,
soon, even where it could not be reached at that moment."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from evennia.objects.models import ObjectDB
from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger

from evennia_ai.errors import MemoryUnavailable, StoreUnavailable, TurnAborted
from evennia_ai.memory.semantic import LongTermMemory
from evennia_ai.policy.records.long_term import agent_of
from evennia_ai.scheduling import Clock
from evennia_ai.sleep.consolidation import prune_orphaned_memory_links
from evennia_ai.store.deleted_characters import deletion_marks, marked, note_deleted

log = Logger()

SOON_S = 1.0
AGAIN_AFTER_S = 60.0


class LongTermSync:
    """Brings in step what was marked (`evennia_ai.store.deleted_characters`), and tries again where
    it must.

    Args:
        clock: for the pauses.
        memory: what is to be tidied.
    """

    def __init__(self, clock: Clock, memory: LongTermMemory) -> None:
        self._clock = clock
        self._memory = memory
        self._planned: Any = None
        self._tidying = False
        self._running = False

    def start(self) -> None:
        """From now on whatever is marked is tidied, what was marked earlier too. Calling it twice
        is fine."""
        self._running = True
        marked.connect(self.tidy_soon, dispatch_uid="evennia_ai.tidying")
        if deletion_marks():
            self.tidy_soon()

    def stop(self) -> None:
        """Begin nothing any more. Marks stay."""
        self._running = False
        marked.disconnect(dispatch_uid="evennia_ai.tidying")
        if self._planned and self._planned.active():
            self._planned.cancel()

    def tidy_soon(self, after_s: float = SOON_S, **kwargs: Any) -> None:
        """Plan to tidy, unless that is planned."""
        if self._running and not (self._planned and self._planned.active()):
            self._planned = self._clock.callLater(after_s, self._tidy)

    def _tidy(self) -> None:
        if self._tidying:
            self.tidy_soon(AGAIN_AFTER_S)
            return
        self._tidying = True
        tidied = self.tidy()
        tidied.addErrback(lambda failure: log.failure("tidying long-term memory", failure))
        tidied.addBoth(self._tidied)

    def _tidied(self, _result: Any) -> None:
        self._tidying = False

    @inlineCallbacks
    def tidy(self) -> Generator[Deferred[Any], Any, None]:
        """Bring in step all that are marked. Fires when that was tried; what did not succeed is
        tried again later."""
        for character_id, number in deletion_marks().items():
            if self._memory.is_off or not self._running:
                return
            try:
                if self._memory.was_used:
                    yield self._tidy_one(character_id)
                note_deleted(character_id, number)
            except TurnAborted:
                return
            except (MemoryUnavailable, StoreUnavailable) as error:
                log.warn("evennia_ai: long-term memory keeps forgotten words: {e}", e=error)
                self.tidy_soon(AGAIN_AFTER_S)
                return

    @inlineCallbacks
    def _tidy_one(self, character_id: int) -> Generator[Deferred[Any], Any, None]:
        """Bring one character's in step with its journal; without a mind it has none. Fails with
        MemoryUnavailable, StoreUnavailable and TurnAborted."""
        for character in ObjectDB.objects.filter(id=character_id):
            script = getattr(character, "assistant", None)
            if script:
                result = yield prune_orphaned_memory_links(script, character)
                if not result.get("success"):
                    raise MemoryUnavailable(str(result.get("error", "")))
                return
        yield self._memory.delete_all(agent_of(character_id))

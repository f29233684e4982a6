"""Delete from long-term memory what characters forgot, with retries."""

from __future__ import annotations

from functools import partial
from typing import Any

from evennia.objects.models import ObjectDB
from twisted.internet.defer import DeferredLock, inlineCallbacks
from twisted.logger import Logger

from evennia_ai.errors import MemoryUnavailable, StoreUnavailable, TurnAborted
from evennia_ai.memory.semantic import LongTermMemory
from evennia_ai.policy.records.journal_entry import agent_of
from evennia_ai.scheduling import Clock, Steps
from evennia_ai.sleep.consolidation import prune_orphaned_memory_links
from evennia_ai.store.server_settings import deletion_marks, marked, note_deleted

log = Logger()

SOON_S = 1.0
AGAIN_AFTER_S = 60.0
CANNOT_DELETE = (
    "evennia_ai: cannot delete forgotten words from long-term memory ({error}); "
    "retrying in {seconds:.0f} s"
)


class LongTermSync:
    """Updates the long-term memory of characters that `store.server_settings` marks."""

    def __init__(self, clock: Clock, memory: LongTermMemory) -> None:
        self._clock = clock
        self._memory = memory
        self._planned: Any = None
        self._one_at_a_time = DeferredLock()

    def start(self) -> None:
        """Update marked characters from now on, and those marked earlier; may be called again."""
        marked.connect(self.update_soon, dispatch_uid="evennia_ai.long_term_sync")
        if deletion_marks():
            self.update_soon()

    def stop(self) -> None:
        """Start no more updates. The marks stay."""
        marked.disconnect(dispatch_uid="evennia_ai.long_term_sync")
        if self._planned and self._planned.active():
            self._planned.cancel()

    def update_soon(self, after_s: float = SOON_S, **kwargs: Any) -> None:
        """Schedule an update in ``after_s`` seconds unless one is scheduled."""
        if not (self._planned and self._planned.active()):
            self._planned = self._clock.callLater(after_s, self._update)

    def _update(self) -> None:
        updating = self._one_at_a_time.run(self.update)
        updating.addErrback(partial(log.failure, "updating long-term memory failed"))

    @inlineCallbacks
    def update(self) -> Steps[None]:
        """Update all marked characters. Fires after one try and schedules the rest."""
        for character_id, number in deletion_marks().items():
            if self._memory.is_off:
                return
            try:
                if self._memory.was_used:
                    yield self._update_one(character_id)
                note_deleted(character_id, number)
            except TurnAborted:
                return
            except (MemoryUnavailable, StoreUnavailable) as error:
                log.warn(CANNOT_DELETE, error=error, seconds=AGAIN_AFTER_S)
                self.update_soon(AGAIN_AFTER_S)
                return

    @inlineCallbacks
    def _update_one(self, character_id: int) -> Steps[None]:
        """Make one character's long-term memory agree with its journal, or delete all of it.

        It is deleted without an assistant. Fails with MemoryUnavailable, StoreUnavailable and
        TurnAborted.
        """
        for character in ObjectDB.objects.filter(id=character_id):
            script = getattr(character, "assistant", None)
            if script:
                result = yield prune_orphaned_memory_links(script, character)
                if not result.get("success"):
                    raise MemoryUnavailable(str(result.get("error", "")))
                return
        yield self._memory.delete_all(agent_of(character_id))

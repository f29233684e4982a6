"""Journal the summary of each compaction, so that it can be searched for good.

The compaction's record is stored first, the journal entries after it. What a crash leaves undone
between the two is done at the next start or before the next compaction. An undo removes the
entries.
"""

from __future__ import annotations

from functools import partial

from twisted.internet.defer import inlineCallbacks
from twisted.logger import Logger

from evennia_ai.errors import BadRecord, StoreUnavailable
from evennia_ai.policy.compaction.journal_summary import synthesis_entries, synthesis_ids
from evennia_ai.policy.context.projection import CompactionRecord
from evennia_ai.ports import Conversation, Identity, Slices
from evennia_ai.scheduling import Clock, Steps, persist

logger = Logger()


class SummaryArchive:
    """Keeps the summaries of compactions in the journal."""

    def __init__(self, who: Identity, log: Conversation, clock: Clock, slices: Slices) -> None:
        self._who, self._log, self._clock, self._put = who, log, clock, slices.put

    @inlineCallbacks
    def archive(self) -> Steps[int]:
        """Make the journal agree with the compactions in force.

        Fires with how many compactions needed entries written or removed. Never fails, since the
        conversation must go on; what was not done is done later.
        """
        try:
            due = self._log.to_archive()
            if not due:
                return 0
            yield self._who.character.journal.load(self._put)
            for record, in_force in due:
                yield persist(self._clock, partial(self._update_entries, record, in_force))
        except StoreUnavailable as error:
            message = "{name}: summaries not journalled: {error}; retrying at the next compaction"
            logger.warn(message, name=self._who.name, error=error)
            return 0
        except Exception:  # noqa: BLE001  # a broken journal must not stop the assistant from answering
            logger.failure("{name}: summaries not journalled", name=self._who.name)
            return 0
        return len(due)

    def _update_entries(self, record: CompactionRecord, in_force: bool) -> None:
        """Write or remove one compaction's entries, and note that. Raises StoreUnavailable."""
        journal = self._who.character.journal
        if in_force:
            for entry_id, fields in synthesis_entries(record).items():
                try:
                    journal.add(id=entry_id, **fields)
                except BadRecord as error:  # a retry would not make it better
                    message = "{name}: summary {id} cannot be journalled and is dropped: {error}"
                    logger.warn(message, name=self._who.name, id=entry_id, error=error)
        else:
            journal.remove(*synthesis_ids(record).values())
        self._log.note_archived(record.id, in_force)

    def undo(self) -> CompactionRecord | None:
        """Undo the last compaction and remove its entries; returns it. Raises StoreUnavailable."""
        undone = self._log.undo()
        if undone is not None:
            self.archive().addErrback(
                lambda failure: logger.failure(
                    "removing a summary's entries failed", failure=failure
                )
            )
        return undone

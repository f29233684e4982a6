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
from evennia_ai.ports import Script
from evennia_ai.scheduling import Steps, persist

log = Logger()


@inlineCallbacks
def archive_summaries(script: Script) -> Steps[int]:
    """Make the journal agree with the compactions in force.

    Fires with how many compactions needed entries written or removed. Never fails, since the
    conversation must go on; what was not done is done later.
    """
    try:
        due = script.conversation.to_archive()
        if not due:
            return 0
        yield script.character.journal.load(script.services.slices.put)
        for record, in_force in due:
            yield persist(script.services.clock, partial(update_entries, script, record, in_force))
    except StoreUnavailable as error:
        message = "{name}: summaries not journalled: {error}; retrying at the next compaction"
        log.warn(message, name=script.character_name, error=error)
        return 0
    except Exception:  # noqa: BLE001  # a broken journal must not stop the assistant from answering
        log.failure("{name}: summaries not journalled", name=script.character_name)
        return 0
    return len(due)


def update_entries(script: Script, record: CompactionRecord, in_force: bool) -> None:
    """Write or remove one compaction's entries, and note that. Raises StoreUnavailable."""
    journal = script.character.journal
    if in_force:
        for entry_id, fields in synthesis_entries(record).items():
            try:
                journal.add(id=entry_id, **fields)
            except BadRecord as error:  # a retry would not make it better
                message = "{name}: summary {id} cannot be journalled and is dropped: {error}"
                log.warn(message, name=script.character_name, id=entry_id, error=error)
    else:
        journal.remove(*synthesis_ids(record).values())
    script.conversation.note_archived(record.id, in_force)


def undo_compaction(script: Script) -> CompactionRecord | None:
    """Undo the last compaction and remove its entries; returns it. Raises StoreUnavailable."""
    undone = script.conversation.undo()
    if undone is not None:
        archive_summaries(script).addErrback(
            lambda failure: log.failure("removing a summary's entries failed", failure=failure)
        )
    return undone

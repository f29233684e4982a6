"""After a compaction its summary goes into the journal, too, where it can be looked up for good.

The record is committed first, the entries after it. What a crash left between the two is made good
at the next start, or before the next compaction; an undo takes the entries back.
"""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger

from evennia_ai.errors import BadRecord, StoreUnavailable
from evennia_ai.policy.compaction.journal_summary import synthesis_entries, synthesis_ids
from evennia_ai.policy.context.projection import CompactionRecord
from evennia_ai.scheduling import persist

log = Logger()


@inlineCallbacks
def archive_summaries(script: Any) -> Generator[Deferred[Any], Any, int]:
    """Make the journal agree with the compactions in force.

    Fires with how many compactions had entries to be written or taken back. Whatever goes wrong
    with it, it never fails, since talk must go on; what was not done stays to be done.
    """
    clock = script.services.clock
    try:
        due: list[tuple[CompactionRecord, bool]] = script.conversation.to_archive()
        if not due:
            return 0
        yield script.character.journal.load(script.services.slices.put)
        for record, in_force in due:
            yield persist(clock, partial(bring_up_to_date, script, record, in_force))
    except StoreUnavailable as error:
        log.warn("{name}: {error}; later", name=script.character_name, error=error)
        return 0
    except Exception:  # noqa: BLE001  # a journal that is broken must not cost the voice
        log.failure("{name}: no synthesis in the journal", name=script.character_name)
        return 0
    return len(due)


def bring_up_to_date(script: Any, record: CompactionRecord, in_force: bool) -> None:
    """Write one compaction's entries, or take them back where it was undone; then note that it is
    done. May be done again. Raises StoreUnavailable."""
    journal = script.character.journal
    if in_force:
        for entry_id, fields in synthesis_entries(record).items():
            try:
                journal.add(id=entry_id, **fields)
            except BadRecord as error:  # it would be none the next time, either
                log.warn("{id} is no entry: {error}", id=entry_id, error=error)
    else:
        journal.remove(*synthesis_ids(record).values())
    script.conversation.note_archived(record.id, in_force)


def undo_compaction(script: Any) -> CompactionRecord | None:
    """Take the last compaction back, and what the journal has of it; returns it, None where there
    is none. Raises StoreUnavailable."""
    undone: CompactionRecord | None = script.conversation.undo()
    if undone is not None:
        archive_summaries(script).addErrback(
            lambda failure: log.failure("taking back a synthesis failed", failure=failure)
        )
    return undone

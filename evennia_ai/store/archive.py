"""The archive of pruned journal entries: `character.journal.archive`."""

from __future__ import annotations

from datetime import datetime

from evennia_ai.policy.records.journal_entry import ArchivedEntry, archived, brought_back, is_over
from evennia_ai.policy.records.provenance import Record
from evennia_ai.store.record_store import RecordStore


class JournalArchive(RecordStore):
    """Pruned journal entries. No search, prompt or index uses them; "forget me" removes them."""

    kind = "ai_archive"
    prefix = "a"
    model = ArchivedEntry

    def put_away(self, journal: RecordStore, *ids: str) -> int:
        """Move entries from a journal into the archive; returns how many existed.

        Two transactions: after a crash in between, a second call completes the move.
        """
        entries = [entry for entry in map(journal.get, ids) if entry]
        new = [
            archived(entry, self.now()) for entry in entries if not self.segments.get(entry["id"])
        ]
        if new:
            self.segments.change({}, *new)
        return journal.remove(*ids)

    def bring_back(self, journal: RecordStore, id: str) -> Record:
        """Move an entry back into its journal; returns it. Raises KeyError.

        Its importance counts as given by hand, so that pruning does not archive it again.
        """
        back = brought_back(self.require(id))
        if journal.get(id) is None:
            journal.segments.change({}, back)
        self.remove(id)
        return back

    def over(self, now: datetime, days: float) -> list[str]:
        """Return the ids of loaded entries that were archived at least ``days`` ago."""
        return [entry["id"] for entry in self.segments.held() if is_over(entry, now, days)]

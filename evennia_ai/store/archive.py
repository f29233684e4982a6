"""Where journal entries go that faded, and where they can be brought back from for a while:
`character.journal.archive`."""

from __future__ import annotations

from datetime import datetime

from evennia_ai.policy.records.journal_entry import (
    ArchivedEntry,
    archived,
    brought_back,
    is_over,
)
from evennia_ai.policy.records.provenance import Record
from evennia_ai.store.record_store import RecordStore


class JournalArchive(RecordStore):
    """Entries as they were, with when they were put away. They are in no search, no prompt and no
    index; "forget me" reaches them as it does the journal."""

    kind = "ai_archive"
    prefix = "a"
    model = ArchivedEntry

    def put_away(self, journal: RecordStore, *ids: str) -> int:
        """Move entries out of a journal; returns how many of these there were. First there, then
        gone here: what is interrupted between the two is made good by doing it again. Raises
        StoreUnavailable."""
        entries = [entry for entry in map(journal.get, ids) if entry]
        new = [
            archived(entry, self.now()) for entry in entries if not self.segments.get(entry["id"])
        ]
        if new:
            self.segments.change({}, *new)
        return journal.remove(*ids)

    def bring_back(self, journal: RecordStore, id: str) -> Record:
        """Move an entry back into its journal, as one that was weighed by hand: nothing automatic
        puts it away again. Returns it. Raises KeyError where there is none of that id, and
        StoreUnavailable."""
        back = brought_back(self.require(id))
        if journal.get(id) is None:
            journal.segments.change({}, back)
        self.remove(id)
        return back

    def over(self, now: datetime, days: float) -> list[str]:
        """Ids of what has been here for so many days, as far as is loaded."""
        return [entry["id"] for entry in self.segments.held() if is_over(entry, now, days)]

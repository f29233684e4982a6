"""What a journal entry is that was put away."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from evennia_ai.policy.journal import GIVEN, JournalEntry
from evennia_ai.policy.long_term import LINK
from evennia_ai.policy.provenance import Record, Time, changed_record, iso_utc, read_record


class ArchivedEntry(JournalEntry):
    """An entry as it was; ``archived_at`` is when it was put away, ISO-8601 UTC."""

    archived_at: Time


def archived(entry: Record, at: datetime) -> Record:
    """An entry that is put away now."""
    return {**entry, "archived_at": iso_utc(at)}


def brought_back(entry: Record) -> Record:
    """An entry as it goes back into its journal. Somebody wanted it, so that its weight counts as
    given; long-term memory does not have it any more."""
    plain = {name: value for name, value in entry.items() if name != "archived_at"}
    links = [link for link in plain["links"] if not link.startswith(LINK)]
    return {**plain, "links": links, "consolidated": False, "importance_by": GIVEN}


def read_archived(raw: Any) -> Record:
    """A stored entry; raises BadRecord."""
    return read_record(ArchivedEntry, raw)


def change_archived(entry: Record, fields: Mapping[str, Any]) -> Record:
    """An entry with some fields changed; raises BadRecord."""
    return changed_record(ArchivedEntry, entry, fields)


def is_over(entry: Record, now: datetime, days: float) -> bool:
    """True where an entry has been away for so many days."""
    return now - datetime.fromisoformat(entry["archived_at"]) >= timedelta(days=days)

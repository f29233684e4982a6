"""What a character knows, in memory: a journal that works, and profiles, goals and a plan that stay
empty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from twisted.internet.defer import Deferred, succeed

from evennia_ai import ports
from evennia_ai.messages import Audience
from evennia_ai.policy.consolidation.attribute_synthesis import Finding
from evennia_ai.policy.records.day_plan import Planned
from evennia_ai.policy.records.entity_profiles import new_relationship
from evennia_ai.policy.records.journal_entry import (
    archived,
    brought_back,
    change_entry,
    is_over,
    make_entry,
    merge_entries,
    sameness,
)
from evennia_ai.policy.records.provenance import Record, copy_of, select_known
from evennia_ai.policy.retrieval.relevance import score_documents
from evennia_ai.policy.retrieval.words import find_words

Now = Callable[[], datetime]


class MemoryRecords:
    """Records in a dict; ``entries`` are the stored ones, by id."""

    is_loaded = True

    def __init__(self, entries: dict[str, Record] | None = None) -> None:
        self.entries: dict[str, Record] = {} if entries is None else entries
        self._watchers: list[ports.Watcher] = []

    def load(self, put: Callable[..., object]) -> Deferred[None]:
        """Fire at once, since everything is in memory."""
        return succeed(None)

    def get(self, id: str) -> Record | None:
        """Return one record, None if there is none with this id."""
        return copy_of(self.entries[id]) if id in self.entries else None

    def ids(self) -> list[str]:
        """Return the ids of all records, oldest first."""
        return list(self.entries)

    def all(self) -> list[Record]:
        """Return every record, oldest first."""
        return [copy_of(entry) for entry in self.entries.values()]

    def update(self, id: str, **fields: Any) -> Record:
        """Change fields of a record and return it; raises KeyError."""
        self.store(change_entry(self.entries[id], fields))
        return copy_of(self.entries[id])

    def update_all(self, changes: Mapping[str, Mapping[str, Any]]) -> int:
        """Change fields of several records; return how many differ."""
        before = {known: self.entries[known] for known in changes if known in self.entries}
        return sum(self.update(known, **changes[known]) != old for known, old in before.items())

    def remove(self, *ids: str) -> int:
        """Remove records; return how many existed."""
        removed = [self.entries.pop(known, None) for known in ids]
        for old in filter(None, removed):
            self._notify(old, None)
        return sum(old is not None for old in removed)

    def watch(self, watcher: ports.Watcher) -> None:
        """Call a watcher for every record and every change."""
        for record in self.entries.values():
            watcher(None, record)
        self._watchers.append(watcher)

    def unwatch(self, watcher: ports.Watcher) -> None:
        """Stop calling a watcher."""
        self._watchers.remove(watcher)

    def store(self, record: Record) -> None:
        """Store a record; replace the one with its id."""
        old = self.entries.get(record["id"])
        self.entries[record["id"]] = record
        self._notify(old, record)

    def _notify(self, old: Record | None, new: Record | None) -> None:
        for watcher in self._watchers:
            watcher(old, new)


class MemoryArchive(MemoryRecords):
    """`ports.JournalArchive`."""

    def __init__(self, now: Now) -> None:
        super().__init__()
        self.now = now

    def put_away(self, journal: MemoryJournal, *ids: str) -> int:
        """Move entries from the journal into the archive; return how many existed."""
        for entry in filter(None, map(journal.get, ids)):
            self.store(archived(entry, self.now()))
        return journal.remove(*ids)

    def bring_back(self, journal: MemoryJournal, id: str) -> Record:
        """Move an entry back into the journal and return it; raises KeyError."""
        back = brought_back(self.entries[id])
        journal.store(back)
        self.remove(id)
        return back

    def over(self, now: datetime, days: float) -> list[str]:
        """Return the ids of entries that were archived at least ``days`` ago."""
        return [entry["id"] for entry in self.entries.values() if is_over(entry, now, days)]


class MemoryJournal(MemoryRecords):
    """`ports.Journal`; ``entries`` are the stored ones, by id."""

    def __init__(self, now: Now, entries: dict[str, Record] | None = None) -> None:
        super().__init__(entries)
        self.now = now
        self.archive = MemoryArchive(now)
        self.recalls: Counter[str] = Counter()
        self.asked_about: set[str] = set()
        self.reflected_upto = ""

    def add(
        self, content: str, *, named: bool = False, first_meeting: bool = False, **fields: Any
    ) -> str:
        """Store an entry once for each audience; return its id."""
        own_id = fields.pop("id", None)
        if own_id in self.entries:
            return str(own_id)
        new_id = own_id or f"j{len(self.entries) + 1}"
        entry = make_entry(
            new_id, content, self.now(), fields, named=named, first_meeting=first_meeting
        )
        known = self._find_same(entry)
        self.store(merge_entries(known, entry) if known else entry)
        return str(known["id"] if known else new_id)

    def add_all(self, entries: Iterable[Mapping[str, Any]]) -> int:
        """Store several entries; return how many are new."""
        before = len(self.entries)
        for fields in entries:
            self.add(**fields)
        return len(self.entries) - before

    def has(self, content: str, audience: Audience | None = None) -> bool:
        """Return True if an entry with this content and audience exists."""
        fields = {"audience": None if audience is None else sorted(audience)}
        return self._find_same(make_entry("new", content, self.now(), fields)) is not None

    def search(
        self,
        words: str,
        audience: Audience | None = None,
        limit: int = 10,
        discretion: str = "strict",
    ) -> list[Record]:
        """Return the best matching entries, best first."""
        known = select_known(self.all(), audience, discretion)
        scores = score_documents(words, [tuple(find_words(e["content"])) for e in known])
        ranked = sorted(zip(scores, known, strict=True), key=lambda pair: -pair[0])
        return [entry for score, entry in ranked[:limit] if score > 0]

    def pinned(self, audience: Audience | None = None, discretion: str = "strict") -> list[Record]:
        """Return the pinned entries that all of an audience may know."""
        return [e for e in select_known(self.all(), audience, discretion) if e["pinned"]]

    def newest(
        self, limit: int, audience: Audience | None = None, discretion: str = "strict"
    ) -> list[Record]:
        """Return those of the newest entries that all of an audience may know."""
        return list(select_known(self.all()[-limit:], audience, discretion))

    def count_recalls(self, ids: Iterable[str]) -> None:
        """Count look-ups of entries."""
        self.recalls.update(ids)

    def store_recalls(self, ids: Sequence[str]) -> int:
        """Store the counted look-ups; return how many entries still exist."""
        entries = [self.entries[known] for known in ids if known in self.entries]
        grown = {e["id"]: {"recalls": e["recalls"] + self.recalls[e["id"]]} for e in entries}
        self.update_all(grown)
        for known in ids:
            del self.recalls[known]
        return len(grown)

    @property
    def waiting_count(self) -> int:
        """Return how many entries are not in long-term memory."""
        return len(self.waiting(len(self.entries)))

    def waiting(self, limit: int, but: Container[str] = ()) -> list[Record]:
        """Return entries that are not in long-term memory, except the ids in ``but``."""
        waiting = [e for e in self.all() if not e["consolidated"] and e["id"] not in but]
        return waiting[:limit]

    def _find_same(self, entry: Record) -> Record | None:
        same = sameness(entry)
        return next((known for known in self.entries.values() if sameness(known) == same), None)


class EmptyProfiles(MemoryRecords):
    """`ports.EntityProfiles` of a character that knows nobody, whatever happens."""

    is_loaded = False

    def observe(self, entity: str, content: str, **fields: Any) -> str:
        """Store nothing."""
        return ""

    def observations(
        self, entity: str, audience: Audience | None = None, discretion: str = "strict"
    ) -> list[Record]:
        """Return none."""
        return []

    def new_observations(self, most: int) -> list[Record]:
        """Return none."""
        return []

    def count_new(self) -> int:
        """Return 0."""
        return 0

    def consolidate(
        self,
        ids: Iterable[str],
        findings: Sequence[Finding],
        *,
        inferred: bool = False,
        sentiment: float | None = None,
    ) -> int:
        """Store nothing."""
        return 0

    def attributes(
        self, subject: str, audience: Audience | None = None, discretion: str = "strict"
    ) -> list[Record]:
        """Return none."""
        return []

    def relationship(self, entity: str) -> Record:
        """Return the relationship with a stranger."""
        return new_relationship("stranger", entity)

    def note_contact(
        self, entity: str, sentiment: float | None = None, at: datetime | None = None
    ) -> Record:
        """Return the relationship with a stranger."""
        return self.relationship(entity)

    def about(self, entity: str) -> list[Record]:
        """Return none."""
        return []

    def entities(self) -> list[str]:
        """Return nobody."""
        return []

    def live_sources(self) -> frozenset[str]:
        """Return none."""
        return frozenset()


class EmptyGoals(MemoryRecords):
    """`ports.Goals` of a character that wants nothing, whatever happens."""

    def add(self, content: str, **fields: Any) -> str:
        """Store nothing."""
        return ""

    def add_steps(self, goal_id: str, contents: Iterable[str]) -> int:
        """Store nothing."""
        return 0

    def touch(self, id: str, **fields: Any) -> Record:
        """Raise KeyError, since there is no goal."""
        raise KeyError(id)

    def close(self, id: str, state: str) -> int:
        """Raise KeyError, since there is no goal."""
        raise KeyError(id)

    def reopen(self, id: str) -> int:
        """Raise KeyError, since there is no goal."""
        raise KeyError(id)

    def open(self, audience: Audience | None = None, discretion: str = "strict") -> list[Record]:
        """Return none."""
        return []

    def known(self, audience: Audience | None = None, discretion: str = "strict") -> list[Record]:
        """Return none."""
        return []

    def over(self, days: float) -> list[str]:
        """Return none."""
        return []


class EmptyPlan(MemoryRecords):
    """`ports.DayPlan` of a character whose days are never planned."""

    is_stale = False

    def give_up(self) -> None:
        """Change nothing."""

    def replace(self, planned: Sequence[Planned], speakers: Sequence[str]) -> int:
        """Store nothing."""
        return 0

    def at(self, minute: int) -> Record | None:
        """Return no part."""
        return None

"""What a character knows, in memory: a journal that works, and profiles, goals and a plan that stay
empty."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import count
from typing import Any

from evennia_ai.policy.records.provenance import Record
from evennia_ai.store.goal_records import DayPlan, Goals
from evennia_ai.store.journal import Journal, JournalArchive
from evennia_ai.store.profiles import EntityProfiles
from evennia_ai.store.record_store import RecordStore

Now = Callable[[], datetime]
Noticed = Callable[[Record | None, Record | None], None]


class MemorySegments:
    """`store.segments.Segments` in a dict of records by id."""

    is_loaded = True

    def __init__(self, entries: dict[str, Record], prefix: str, noticed: Noticed) -> None:
        self._entries = entries
        self._prefix = prefix
        self._noticed = noticed
        self._given_out = len(entries)

    def load_steps(self) -> Iterator[None]:
        return iter(())

    def load_all(self) -> None:
        """Do nothing."""

    def held(self) -> Iterator[Record]:
        return iter(list(self._entries.values()))

    all = held

    def get(self, id: str) -> Record | None:
        return self._entries.get(id)

    def select(self, ids: Iterable[str]) -> list[Record]:
        wanted = set(ids)
        return [record for record in self._entries.values() if record["id"] in wanted]

    def next_ids(self) -> Iterator[str]:
        return (f"{self._prefix}{number}" for number in count(self._given_out + 1))

    def reset(self) -> None:
        """Do nothing."""

    def change(self, records: Mapping[str, Record | None], *added: Record) -> None:
        changes = {known: new for known, new in records.items() if known in self._entries}
        self._given_out += len(added)
        for known, new in [*changes.items(), *((one["id"], one) for one in added)]:
            old = self._entries.pop(known, None) if new is None else self._entries.get(known)
            if new is not None:
                self._entries[known] = new
            self._noticed(old, new)


class NoSegments(MemorySegments):
    """Segments that drop every change."""

    def change(self, records: Mapping[str, Record | None], *added: Record) -> None:
        """Store nothing."""


class InMemory(RecordStore):
    """A store without a database; ``entries`` are its records by id."""

    segments_type: type[MemorySegments] = MemorySegments

    def __init__(self, now: Now | None = None, entries: dict[str, Record] | None = None) -> None:
        self.entries: dict[str, Record] = {} if entries is None else entries
        self._now = now
        super().__init__(None)
        for record in self.entries.values():
            self.noticed(None, record)

    def open_segments(self) -> Any:
        return self.segments_type(self.entries, self.prefix, self._follow)

    def now(self) -> datetime:
        return self._now() if self._now else super().now()


class MemoryArchive(InMemory, JournalArchive):
    """`ports.JournalArchive`."""


class MemoryJournal(InMemory, Journal):
    """`ports.Journal`."""

    archive: Any = None

    def __init__(self, now: Now, entries: dict[str, Record] | None = None) -> None:
        super().__init__(now, entries)
        self.archive = MemoryArchive(now)


class EmptyProfiles(InMemory, EntityProfiles):
    """`ports.EntityProfiles` of a character that knows nobody, whatever happens."""

    segments_type = NoSegments
    is_loaded = False


class EmptyGoals(InMemory, Goals):
    """`ports.Goals` of a character that wants nothing, whatever happens."""

    segments_type = NoSegments


class EmptyPlan(InMemory, DayPlan):
    """`ports.DayPlan` of a character whose days are never planned."""

    segments_type = NoSegments
    is_stale = False

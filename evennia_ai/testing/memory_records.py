"""What a character knows, in memory: a journal that works, and profiles, goals and a plan that stay
empty."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import count
from typing import Any

from evennia_ai.policy.records.provenance import Record
from evennia_ai.ports import DayPlan, EntityProfiles, Goals, Journal, JournalArchive, RecordStore
from evennia_ai.ports.records import Watcher

Now = Callable[[], datetime]


class MemorySegments:
    """`store.segments.Segments` in the dict ``entries`` of a store, by id."""

    is_loaded = True

    def __init__(self, store: InMemory, noticed: Watcher) -> None:
        self._entries = store.entries
        self._prefix = store.prefix
        self._noticed = noticed
        self._given_out = len(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def load_steps(self) -> Iterator[None]:
        return iter(())

    def held(self) -> Iterator[Record]:
        return iter(list(self._entries.values()))

    all = held

    def load_all(self) -> None:
        """Do nothing."""

    reset = load_all

    def get(self, id: str) -> Record | None:
        return self._entries.get(id)

    def select(self, ids: Iterable[str]) -> list[Record]:
        wanted = set(ids)
        return [record for record in self._entries.values() if record["id"] in wanted]

    def next_ids(self) -> Iterator[str]:
        return (f"{self._prefix}{number}" for number in count(self._given_out + 1))

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

    stored_in = MemorySegments

    def __init__(self, now: Now | None = None, entries: dict[str, Record] | None = None) -> None:
        self.entries: dict[str, Record] = {} if entries is None else entries
        self._now = now
        super().__init__(None)
        for record in self.entries.values():
            self.noticed(None, record)

    def now(self) -> datetime:
        return self._now() if self._now else super().now()


class MemoryArchive(InMemory, JournalArchive):
    """A `JournalArchive`."""


class MemoryJournal(InMemory, Journal):
    """A `Journal`."""

    archive: Any = None

    def __init__(self, now: Now, entries: dict[str, Record] | None = None) -> None:
        super().__init__(now, entries)
        self.archive = MemoryArchive(now)


class EmptyProfiles(InMemory, EntityProfiles):
    """The profiles of a character that knows nobody, whatever happens."""

    stored_in = NoSegments
    is_loaded = False


class EmptyGoals(InMemory, Goals):
    """The goals of a character that wants nothing, whatever happens."""

    stored_in = NoSegments


class EmptyPlan(InMemory, DayPlan):
    """The plan of a character whose days are never planned."""

    stored_in = NoSegments
    is_stale = False

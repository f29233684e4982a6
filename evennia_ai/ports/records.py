"""What a character knows: its journal, profiles, goals and day plan.

`store.record_store`, `store.journal`, `store.profiles`, `store.goal_records` and `store.plans`
implement and describe the protocols. Records are plain dicts. ``audience`` always holds dbrefs;
None selects public records. A method that writes does so in one transaction and raises
`StoreUnavailable` if the database is busy; then nothing has changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from twisted.internet.defer import Deferred

from evennia_ai.messages import Audience
from evennia_ai.policy.consolidation.attribute_synthesis import Finding
from evennia_ai.policy.records.day_plan import Planned
from evennia_ai.policy.records.provenance import Record

# Called with a record before and after a change; None if it did not exist or was removed.
Watcher = Callable[[Record | None, Record | None], None]


class Records(Protocol):
    """Records of one kind that belong to one character, oldest first."""

    @property
    def is_loaded(self) -> bool: ...  # True once every record is in memory
    def load(self, put: Callable[..., object]) -> Deferred[None]: ...  # in slices; `Slices.put`
    def get(self, id: str) -> Record | None: ...
    def ids(self) -> list[str]: ...  # of all loaded records
    def held(self) -> Iterable[Record]: ...  # the loaded ones; callers must not change them
    def all(self) -> list[Record]: ...
    def update(self, id: str, **fields: Any) -> Record: ...  # raises KeyError and BadRecord
    def update_all(self, changes: Mapping[str, Mapping[str, Any]]) -> int: ...  # skips unknown ids
    def remove(self, *ids: str) -> int: ...
    def withholds(self, record: Record) -> bool: ...  # True if its lines are hidden by a builder
    def watch(self, watcher: Watcher) -> None: ...  # for every loaded record now, then each change
    def unwatch(self, watcher: Watcher) -> None: ...


class JournalArchive(Records, Protocol):
    """Journal entries that pruning took out of the journal."""

    def put_away(self, journal: Any, /, *ids: str) -> int: ...
    def bring_back(self, journal: Any, id: str) -> Record: ...  # raises KeyError
    def over(self, now: datetime, days: float) -> list[str]: ...  # archived ``days`` ago or more


class Journal(Records, Protocol):
    """A character's journal entries.

    ``recalls`` counts look-ups that are not stored yet, by entry id. ``asked_about`` holds ids of
    entries whose importance a model was asked for. ``reflected_upto`` is the ISO time up to which a
    reflection has read the journal. Entries wait until they are in long-term memory.
    """

    recalls: Counter[str]
    asked_about: set[str]
    reflected_upto: str

    @property
    def archive(self) -> JournalArchive: ...
    @property
    def waiting_count(self) -> int: ...
    def add(
        self, content: str, *, named: bool = False, first_meeting: bool = False, **fields: Any
    ) -> str: ...
    def add_all(self, entries: Iterable[Mapping[str, Any]]) -> int: ...
    def has(self, content: str, audience: Audience | None = None) -> bool: ...
    def search(
        self, words: str, audience: Audience | None = None, limit: int = 10
    ) -> list[Record]: ...
    def pinned(
        self, audience: Audience | None = None, everything: bool = False
    ) -> list[Record]: ...
    def newest(
        self, limit: int, audience: Audience | None = None, everything: bool = False
    ) -> list[Record]: ...
    def count_recalls(self, ids: Iterable[str]) -> None: ...
    def store_recalls(self, ids: Sequence[str]) -> int: ...
    def waiting(self, limit: int, but: Container[str] = ()) -> list[Record]: ...


class EntityProfiles(Records, Protocol):
    """What a character knows about others, by their dbrefs."""

    def observe(self, entity: str, content: str, **fields: Any) -> str: ...  # raises BadRecord
    def newest(self, limit: int) -> list[Record]: ...  # observations about anybody
    def observations(self, entity: str, audience: Audience | None = None) -> list[Record]: ...
    def new_observations(self, most: int) -> list[Record]: ...
    def count_new(self) -> int: ...
    def consolidate(
        self,
        ids: Iterable[str],
        findings: Sequence[Finding],
        *,
        inferred: bool = False,
        sentiment: float | None = None,
    ) -> int: ...
    def attributes(self, subject: str, audience: Audience | None = None) -> list[Record]: ...
    def relationship(self, entity: str) -> Record: ...  # with anybody, a stranger too
    def note_contact(self, entity: str, sentiment: float | None = None) -> Record: ...
    def about(self, entity: str) -> list[Record]: ...  # of any audience
    def entities(self) -> list[str]: ...
    def live_sources(self) -> frozenset[str]: ...


class Goals(Records, Protocol):
    """A character's goals and their steps."""

    def add(self, content: str, **fields: Any) -> str: ...  # raises BadRecord
    def add_steps(self, goal_id: str, contents: Iterable[str]) -> int: ...
    def touch(self, id: str, **fields: Any) -> Record: ...  # as `update`, and counts as progress
    def close(self, id: str, state: str) -> int: ...
    def reopen(self, id: str) -> int: ...
    def open(self, audience: Audience | None = None) -> list[Record]: ...
    def known(self, audience: Audience | None = None) -> list[Record]: ...  # with closed steps
    def over(self, days: float) -> list[str]: ...


class DayPlan(Records, Protocol):
    """A character's day plan, in parts."""

    @property
    def is_stale(self) -> bool: ...  # True if today needs a plan
    def give_up(self) -> None: ...
    def at(self, minute: int) -> Record | None: ...  # the part of the day at a minute
    def replace(self, planned: Sequence[Planned], speakers: Sequence[str]) -> int: ...

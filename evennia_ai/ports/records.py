"""What a character knows: its journal, profiles, goals and day plan.

Records are plain dicts. ``audience`` always holds dbrefs; None selects public records. A method
that writes does so in one transaction and raises `StoreUnavailable` if the database is busy; then
nothing has changed.
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
    """Records of one kind that belong to one character."""

    @property
    def is_loaded(self) -> bool:
        """Return True once every record is in memory."""

    def load(self, put: Callable[..., object]) -> Deferred[None]:
        """Load every record in slices.

        Args:
            put: `Slices.put`.

        Fires when all are loaded; fails with StoreUnavailable.
        """

    def get(self, id: str) -> Record | None:
        """Return one record, None if there is none with this id."""

    def ids(self) -> list[str]:
        """Return the ids of all loaded records, oldest first."""

    def all(self) -> list[Record]:
        """Return every record of any audience, oldest first."""

    def update(self, id: str, **fields: Any) -> Record:
        """Change fields of a record and return it; raises KeyError and BadRecord."""

    def update_all(self, changes: Mapping[str, Mapping[str, Any]]) -> int:
        """Change fields of several records by id; return how many differ. Skip unknown ids."""

    def remove(self, *ids: str) -> int:
        """Remove records; return how many existed."""

    def watch(self, watcher: Watcher) -> None:
        """Call a watcher for every loaded record now and for every change from now on."""

    def unwatch(self, watcher: Watcher) -> None:
        """Stop calling a watcher."""


class JournalArchive(Records, Protocol):
    """Journal entries that pruning took out of the journal."""

    def put_away(self, journal: Any, /, *ids: str) -> int:
        """Move entries from the journal into the archive; return how many existed."""

    def bring_back(self, journal: Any, id: str) -> Record:
        """Move an entry back into the journal and return it; raises KeyError."""

    def over(self, now: datetime, days: float) -> list[str]:
        """Return the ids of loaded entries that were archived at least ``days`` ago."""


class Journal(Records, Protocol):
    """A character's journal entries.

    ``recalls`` counts look-ups that are not stored yet, by entry id. ``asked_about`` holds ids of
    entries whose importance a model was asked for. ``reflected_upto`` is the ISO time up to which a
    reflection has read the journal.
    """

    recalls: Counter[str]
    asked_about: set[str]
    reflected_upto: str

    @property
    def archive(self) -> JournalArchive:
        """Return the archive of pruned entries."""

    @property
    def waiting_count(self) -> int:
        """Return how many loaded entries are not in long-term memory."""

    def add(
        self, content: str, *, named: bool = False, first_meeting: bool = False, **fields: Any
    ) -> str:
        """Store an entry once and return its id; raises BadRecord.

        Args:
            content: one fact.
            named: whether the speaker used the character's name; raises the importance.
            first_meeting: whether the entry is about somebody new; raises the importance.
            **fields: other fields of a journal entry.
        """

    def add_all(self, entries: Iterable[Mapping[str, Any]]) -> int:
        """Store several entries, each with its own ``id``; return how many are new."""

    def has(self, content: str, audience: Audience | None = None) -> bool:
        """Return True if an entry with this content and audience exists."""

    def search(
        self,
        words: str,
        audience: Audience | None = None,
        limit: int = 10,
        discretion: str = "strict",
    ) -> list[Record]:
        """Return the best matching entries that all of an audience may know, best first."""

    def pinned(self, audience: Audience | None = None, discretion: str = "strict") -> list[Record]:
        """Return the loaded pinned entries that all of an audience may know."""

    def newest(
        self, limit: int, audience: Audience | None = None, discretion: str = "strict"
    ) -> list[Record]:
        """Return those of the newest ``limit`` entries that all of an audience may know."""

    def count_recalls(self, ids: Iterable[str]) -> None:
        """Count look-ups of entries in memory."""

    def store_recalls(self, ids: Sequence[str]) -> int:
        """Store the counted look-ups of some entries; return how many entries still exist."""

    def waiting(self, limit: int, but: Container[str] = ()) -> list[Record]:
        """Return loaded entries that are not in long-term memory, except the ids in ``but``."""

    def audiences(self) -> list[Audience | None]:
        """Return every audience that a loaded entry has, once; None is public."""


class EntityProfiles(Records, Protocol):
    """What a character knows about others, by their dbrefs."""

    def observe(self, entity: str, content: str, **fields: Any) -> str:
        """Store an observation about somebody once and return its id; raises BadRecord."""

    def observations(
        self, entity: str, audience: Audience | None = None, discretion: str = "strict"
    ) -> list[Record]:
        """Return the observations that an audience may know, oldest first."""

    def new_observations(self, most: int) -> list[Record]:
        """Return the oldest loaded observations that are not consolidated yet."""

    def count_new(self) -> int:
        """Return how many loaded observations are not consolidated yet."""

    def consolidate(
        self,
        ids: Iterable[str],
        findings: Sequence[Finding],
        *,
        inferred: bool = False,
        sentiment: float | None = None,
    ) -> int:
        """Store attributes made from observations; return how many values are new.

        Args:
            ids: observations of one entity and one audience.
            findings: the attributes.
            inferred: whether a model inferred them.
            sentiment: how the entity's words sounded, -1 to 1; None if unknown.
        """

    def set_attribute(self, subject: str, attribute: str, value: str, **fields: Any) -> str:
        """Store a value that replaces older ones and return its id; raises BadRecord."""

    def attributes(
        self, subject: str, audience: Audience | None = None, discretion: str = "strict"
    ) -> list[Record]:
        """Return the newest value of each attribute that an audience may know."""

    def history(self, subject: str, attribute: str) -> list[Record]:
        """Return every value of an attribute, whatever its audience, oldest first."""

    def relationship(self, entity: str) -> Record:
        """Return the relationship with somebody; that with a stranger if they never met."""

    def note_contact(
        self, entity: str, sentiment: float | None = None, at: datetime | None = None
    ) -> Record:
        """Update the relationship after a meeting and return it."""

    def about(self, entity: str) -> list[Record]:
        """Return every record about somebody, whatever its audience, oldest first."""

    def entities(self) -> list[str]:
        """Return the dbrefs of everybody who has a record."""

    def live_sources(self) -> frozenset[str]:
        """Return the ids of the entries and observations behind the loaded valid values."""


class Goals(Records, Protocol):
    """A character's goals and their steps."""

    def add(self, content: str, **fields: Any) -> str:
        """Store or reopen a goal and return its id; raises BadRecord."""

    def add_steps(self, goal_id: str, contents: Iterable[str]) -> int:
        """Store the steps of a goal once; return how many are new."""

    def touch(self, id: str, **fields: Any) -> Record:
        """Change a goal, note the time as its last progress, and return it."""

    def close(self, id: str, state: str) -> int:
        """Close a goal and its open steps as done or dropped; return how many closed."""

    def reopen(self, id: str) -> int:
        """Reopen a goal; return how many goals and steps are open again."""

    def open(self, audience: Audience | None = None, discretion: str = "strict") -> list[Record]:
        """Return the loaded open goals that all of an audience may know, oldest first."""

    def known(self, audience: Audience | None = None, discretion: str = "strict") -> list[Record]:
        """Return the loaded open and closed goals that all of an audience may know."""

    def over(self, days: float) -> list[str]:
        """Return the ids of goals that closed at least ``days`` ago."""


class DayPlan(Records, Protocol):
    """A character's day plan, in parts."""

    @property
    def is_stale(self) -> bool:
        """Return True if today has no loaded plan and none was given up today."""

    def give_up(self) -> None:
        """Note that today gets no plan, until the process ends."""

    def replace(self, planned: Sequence[Planned], speakers: Sequence[str]) -> int:
        """Replace the plan; return how many parts it has. ``speakers`` are its authors."""

    def at(self, minute: int) -> Record | None:
        """Return the loaded part of the plan at a minute of the day, None if there is none."""

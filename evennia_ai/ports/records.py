"""The store of a character's records; each kind is a thin class over it.

The kinds are the journal, its archive, the entity profiles, the goals, the day plan and the undo
steps. Each declares where it is stored and which fields its records have; the models of
`policy.records` say what these may hold, and which of them hold words. `store.segments` stores
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from typing import Any, ClassVar, Protocol, Self

from twisted.internet.defer import inlineCallbacks

from evennia_ai.errors import BadRecord
from evennia_ai.messages import Audience
from evennia_ai.policy.log_lines import Amended, is_withheld
from evennia_ai.policy.records.provenance import (
    Record,
    Remembered,
    copy_of,
    read_record,
    select_known,
)
from evennia_ai.scheduling import Put, Steps, pause

STEPS_AT_ONCE = 4
RECORD_BYTES = 2_000  # of one record in memory, with what is derived from it (measured)
# Called with a record before and after a change; None if it did not exist or was removed.
Watcher = Callable[[Record | None, Record | None], None]


class Segments(Protocol):
    """What holds a store's records and stores them: `store.segments` on an object."""

    @property
    def is_loaded(self) -> bool: ...
    def __len__(self) -> int: ...
    def load_steps(self) -> Iterator[None]: ...
    def load_all(self) -> None: ...
    def reset(self) -> None: ...
    def held(self) -> Iterator[Record]: ...
    def all(self) -> Iterator[Record]: ...
    def get(self, id: str) -> Record | None: ...
    def select(self, ids: Iterable[str]) -> list[Record]: ...
    def next_ids(self) -> Iterator[str]: ...
    def change(self, records: Mapping[str, Record | None], *added: Record) -> None: ...
    def rewrite_row(self, key: str, left_of: Callable[[Record], Record | None]) -> list[str]: ...


class WatchedRecords:
    """Records in memory, and the watchers that are told of each change to them."""

    def __init__(self) -> None:
        self._watchers: list[Watcher] = []

    def held(self) -> Iterable[Record]:
        """Return the records that memory holds. Callers must not change them."""
        raise NotImplementedError

    def withholds(self, record: Record) -> bool:
        """Return True for a record of lines that a builder hid or edited (`policy.log_lines`)."""
        return False

    def watch(self, watcher: Watcher) -> None:
        """Call a watcher with each record in memory, and with each change from now on."""
        for record in self.held():
            watcher(None, record)
        self._watchers.append(watcher)

    def unwatch(self, watcher: Watcher) -> None:
        """Stop calling a watcher."""
        self._watchers.remove(watcher)

    def tell_watchers(self, old: Record | None, new: Record | None) -> None:
        """Call every watcher with one change."""
        for watcher in self._watchers:
            watcher(old, new)


class RecordStore(WatchedRecords):
    """Records of one kind on one object: plain data in, plain data out.

    Each object has one store of each kind, kept in its ``ndb`` under the name of the kind. A method
    that writes does so in one transaction and raises StoreUnavailable if the database is busy; then
    nothing has changed. An ``audience`` holds dbrefs; None selects public records.
    """

    kind: ClassVar[str]  # the attribute type, at most 16 characters
    prefix: ClassVar[str]  # the first letter of the ids that the store gives out
    model: ClassVar[type[Remembered]]  # the fields of a record

    # The class of `Segments`, made of the store and a `Watcher`. `store.segments` sets it, since
    # nothing here loads Evennia.
    stored_in: ClassVar[type[Any]]

    def __init__(self, obj: Any) -> None:
        super().__init__()
        self.obj = obj
        self.segments: Segments = self.stored_in(self, self._follow)

    @classmethod
    def of(cls, obj: Any) -> Self:
        """Return the store of an object, the same one at every call."""
        store: Self | None = obj.nattributes.get(cls.kind)
        if store is None:
            store = cls(obj)
            obj.nattributes.add(cls.kind, store)
        return store

    @classmethod
    def drop(cls, obj: Any) -> None:
        """Remove the store of an object from memory."""
        obj.nattributes.remove(cls.kind)

    def model_of(self, raw: Any) -> type[Remembered]:
        """Return the model of a record, which need not be valid."""
        return self.model

    def noticed(self, old: Record | None, new: Record | None) -> None:
        """Update what this store derives from its records, such as an index."""

    @property
    def is_loaded(self) -> bool:
        """Return True once every record is in memory."""
        return self.segments.is_loaded

    @inlineCallbacks
    def load(self, put: Put) -> Steps[None]:
        """Load all records in slices. Fires when memory has them; fails with StoreUnavailable."""
        while True:
            for _ in islice(self.segments.load_steps(), STEPS_AT_ONCE):
                pass
            if self.segments.is_loaded:
                return
            yield pause(put)

    def unload(self) -> None:
        """Free the memory of the records; the next use reads them again."""
        self.segments.reset()

    @property
    def nbytes(self) -> int:
        """Return about how much memory the records take."""
        return len(self.segments) * RECORD_BYTES

    def _follow(self, old: Record | None, new: Record | None) -> None:
        if new and self._services:
            self._services.loaded.note(self.obj.ai_mind)
        self.noticed(old, new)
        self.tell_watchers(old, new)

    def read(self, raw: Any) -> Record:
        """Return a stored value as a record; raises BadRecord."""
        return read_record(self.model_of(raw), raw)

    def held(self) -> Iterator[Record]:
        """Return the records that are loaded, oldest first. Callers must not change them."""
        return self.segments.held()

    def ids(self) -> list[str]:
        """Return the ids of the records that are loaded, oldest first."""
        return [record["id"] for record in self.held()]

    def all(self) -> list[Record]:
        """Return every record, oldest first, whatever its audience."""
        return [copy_of(record) for record in self.segments.all()]

    def get(self, id: str) -> Record | None:
        """Return one record, None if no record has this id."""
        record = self.segments.get(id)
        return copy_of(record) if record else None

    def require(self, id: str) -> Record:
        """Return one record; raises KeyError if no record has this id."""
        record = self.get(id)
        if record is None:
            raise KeyError(id)
        return record

    @property
    def next_id(self) -> str:
        """Return the id of the next record, unless that has its own."""
        return next(self.segments.next_ids())

    def keep(self, new: Record, same: Record | None = None) -> str:
        """Store a new record, or merge it into one that says the same; returns the id.

        Raises BadRecord if the id of a new one exists, or will be given out later.
        """
        if same is not None:
            merged = self.model_of(same).merged(same, new)
            if merged != same:
                self.segments.change({same["id"]: merged})
            return str(same["id"])
        own, given = str(new["id"]), self.next_id
        if own != given and own.removeprefix(self.prefix).isdecimal():
            raise BadRecord(
                f"id: '{own}' is reserved: '{self.prefix}' and a number are ids of the store. "
                "Use another id."
            )
        if self.segments.get(own):
            raise BadRecord(f"id: '{own}' exists already. Use another id.")
        self.segments.change({}, new)
        return own

    def update(self, id: str, **fields: Any) -> Record:
        """Change some fields of a record; returns it. Raises KeyError and BadRecord."""
        self.require(id)
        self.update_all({id: fields})
        return self.require(id)

    def update_all(self, changes: Mapping[str, Mapping[str, Any]]) -> int:
        """Change existing records in one transaction; returns how many differ. Raises BadRecord."""
        before = {known: record for known in changes if (record := self.segments.get(known))}
        after = {
            known: self.model_of(one).changed(one, changes[known]) for known, one in before.items()
        }
        differing = {known: record for known, record in after.items() if record != before[known]}
        if differing:
            self.segments.change(differing)
        return len(differing)

    def remove(self, *ids: str) -> int:
        """Remove records; returns how many of them existed."""
        existing = [known for known in ids if self.segments.get(known)]
        if existing:
            self.segments.change(dict.fromkeys(existing))
        return len(existing)

    @property
    def _services(self) -> Any:
        return getattr(getattr(self.obj, "assistant", None), "services", None)

    def now(self) -> datetime:
        """Return the time in UTC, by the game's clock for stores."""
        at: datetime = self._services.now() if self._services else datetime.now(UTC)
        return at

    @property
    def amendments(self) -> Any:
        """Return the amendments of the character's log, None without an assistant."""
        conversation = getattr(getattr(self.obj, "assistant", None), "conversation", None)
        return getattr(conversation, "amendments", None)

    @property
    def _amended(self) -> Amended:
        shown: Amended = self.amendments.shown if self.amendments else {}
        return shown

    def withholds(self, record: Record) -> bool:
        """Return True for a record of lines that a builder hid or edited (`policy.log_lines`)."""
        return is_withheld(record, self._amended)

    def told(self, records: Iterable[Record]) -> Iterable[Record]:
        """Return records without those that are withheld."""
        amended = self._amended
        return (r for r in records if not is_withheld(r, amended)) if amended else records

    def copies_known(
        self, records: Iterable[Record], audience: Audience | None, everything: bool = False
    ) -> list[Record]:
        """Return copies of the records that an audience may know, or of all; no withheld ones."""
        chosen = self.told(records)
        return [copy_of(r) for r in (chosen if everything else select_known(chosen, audience))]

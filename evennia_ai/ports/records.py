"""The store of a character's records; each kind is a thin class over it.

Records are plain dicts with the fields of a model of `policy.records`. They are stored 32 to a
segment, so that a change costs the same at any length (with one list in one Attribute, an append
takes 45 ms at 3,000 entries, measured).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import wraps
from itertools import count, islice
from typing import Any, ClassVar, Protocol, Self, TypeVar, cast

from twisted.internet.defer import inlineCallbacks

from evennia_ai.errors import BadRecord, Overwritten
from evennia_ai.messages import Audience
from evennia_ai.policy.recallable_lines import Amended, is_withheld
from evennia_ai.policy.records.record import (
    SIZE,
    BaseRecord,
    Record,
    RecordSegment,
    copy_of,
    place_in,
    read_record,
    segment_of,
    select_known,
)
from evennia_ai.scheduling import Coroutine, Enqueue, yield_to_reactor

STEPS_AT_ONCE = 4
RECORD_BYTES = 2_000  # of one record in memory, with what is derived from it (measured)
NONE = RecordSegment()
SegmentsByNumber = Mapping[int, RecordSegment]
SegmentChanges = Mapping[int, RecordSegment | None]
Write = TypeVar("Write", bound=Callable[..., Any])


class Segments(Protocol):
    """Where segments are kept (`store.segments`). All but `numbers` may raise Overwritten."""

    def numbers(self) -> Iterable[int]: ...  # of the segments that exist
    def read(self, number: int) -> RecordSegment: ...
    # One transaction, in which None deletes; may raise StoreUnavailable, too.
    def write(self, before: SegmentsByNumber, after: SegmentChanges) -> None: ...


def anew(write: Write) -> Write:
    """Let a method that writes run once more on what is stored now, if that had changed."""

    @wraps(write)
    def run(store: RecordStore, *args: Any, **kwargs: Any) -> Any:
        try:
            return write(store, *args, **kwargs)
        except Overwritten:
            store.load_all()
            return write(store, *args, **kwargs)

    return cast(Write, run)


# Called with a record before and after a change; None if it did not exist or was removed.
Watcher = Callable[[Record | None, Record | None], None]


class WatchedRecords:
    """Records in memory, and the watchers that are told of each change to them."""

    def __init__(self) -> None:
        self._watchers: list[Watcher] = []

    def held(self) -> Iterable[Record]:
        """Return the records that memory holds. Callers must not change them."""
        raise NotImplementedError

    def withholds(self, record: Record) -> bool:
        """Return True for a record of lines that a builder hid or edited."""
        return False

    def watch(self, watcher: Watcher) -> None:
        """Call a watcher with each record in memory, and with each change from now on."""
        for record in self.held():
            watcher(None, record)
        self._watchers.append(watcher)

    def unwatch(self, watcher: Watcher) -> None:
        self._watchers.remove(watcher)

    def tell_watchers(self, old: Record | None, new: Record | None) -> None:
        for watcher in self._watchers:
            watcher(old, new)


class RecordStore(WatchedRecords):
    """Records of one kind on one object, which keeps the store in its ``ndb``.

    Ids are never reused. A method that writes does so in one transaction and raises
    StoreUnavailable if the database is busy; then nothing has changed, in memory neither. A caller
    that rolls back a transaction of its own must call `unload`. An ``audience`` holds dbrefs; None
    selects public records.
    """

    kind: ClassVar[str]  # the attribute type, at most 16 characters
    prefix: ClassVar[str]  # the first letter of the ids that the store gives out
    model: ClassVar[type[BaseRecord]]  # the fields of a record

    # The class of `Segments`; `store.segments` sets it, since nothing here loads Evennia.
    stored_in: ClassVar[type[Any]]

    def __init__(self, obj: Any) -> None:
        super().__init__()
        self.obj = obj
        self.segments: Segments = self.stored_in(self)
        self._known: dict[int, RecordSegment | None] | None = None  # by number; None: not loaded
        self._numbers: dict[str, int] = {}  # of loaded records, by id

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
        obj.nattributes.remove(cls.kind)

    @classmethod
    def model_of(cls, raw: Any) -> type[BaseRecord]:
        """Return the model of a record, which need not be valid."""
        return cls.model

    def noticed(self, old: Record | None, new: Record | None) -> None:
        """Update what this store derives from its records, such as an index."""

    @property
    def _segments(self) -> dict[int, RecordSegment | None]:
        if self._known is None:
            self._known = dict.fromkeys(sorted(self.segments.numbers()))
        return self._known

    @property
    def is_loaded(self) -> bool:
        """Return True once every record is in memory."""
        return None not in self._segments.values()

    def load_steps(self) -> Iterator[None]:
        """Load all records, one segment (about 1 ms) a step; other work can run in between."""
        for number in list(self._segments):
            if self._segments.get(number, NONE) is None:
                self._load(number)
                yield

    @inlineCallbacks
    def load(self, put: Enqueue) -> Coroutine[None]:
        """Load all records in slices. Fires when memory has them; fails with StoreUnavailable."""
        while not self.is_loaded:
            deque(islice(self.load_steps(), STEPS_AT_ONCE), 0)
            if not self.is_loaded:
                yield yield_to_reactor(put)

    def load_all(self) -> None:
        deque(self.load_steps(), 0)

    def unload(self) -> None:
        """Free the memory of the records; the next use reads them again."""
        for number in list(self._known or ()):
            self._take(number, NONE)
        self._known = None

    @property
    def nbytes(self) -> int:
        """Return about how much memory the records take."""
        return len(self._numbers) * RECORD_BYTES

    def _load(self, number: int) -> RecordSegment:
        segment = self._segments.get(number)
        if segment is None:
            try:
                segment = self.segments.read(number)
            except Overwritten:
                self.unload()
                raise
            self._take(number, segment)
        return segment

    def _take(self, number: int, content: RecordSegment) -> None:
        """Put a segment into memory, and report each record that differs."""
        before, services = (self._segments.get(number) or NONE).records, self._services
        self._segments[number] = content
        for place in sorted({*before, *content.records}):
            old, new = before.get(place), content.records.get(place)
            if old is new:
                continue
            if old:
                self._numbers.pop(old["id"], None)
            if new:
                self._numbers[new["id"]] = place
                if services:
                    services.loaded.note(self.obj.ai_mind)
            self.noticed(old, new)
            self.tell_watchers(old, new)

    def read(self, raw: Any) -> Record:
        """Return a stored value as a record; raises BadRecord."""
        return read_record(self.model_of(raw), raw)

    def held(self) -> Iterator[Record]:
        """Return the records that are loaded, oldest first. Callers must not change them."""
        for _number, segment in sorted(self._segments.items()):
            if segment:
                yield from segment.records.values()

    def every(self) -> Iterator[Record]:
        """Return every record, oldest first; loads them at once. Callers must not change them."""
        self.load_all()
        return self.held()

    def ids(self) -> list[str]:
        """Return the ids of the records that are loaded, oldest first."""
        return [record["id"] for record in self.held()]

    def all(self) -> list[Record]:
        """Return every record, oldest first, whatever its audience."""
        return [copy_of(record) for record in self.every()]

    def find(self, id: str) -> Record | None:
        """Return one record, which callers must not change; None if no record has this id."""
        n = self._number_of(id)
        return None if n is None else self._load(segment_of(n)).records[n]

    def get(self, id: str) -> Record | None:
        record = self.find(id)
        return copy_of(record) if record else None

    def require(self, id: str) -> Record:
        """Return one record; raises KeyError if no record has this id."""
        record = self.get(id)
        if record is None:
            raise KeyError(id)
        return record

    def select(self, ids: Iterable[str]) -> list[Record]:
        """Return loaded records by their ids, oldest first. Callers must not change them."""
        numbers = sorted(self._numbers[name] for name in ids)
        return [self._load(segment_of(number)).records[number] for number in numbers]

    def _number_of(self, id: str) -> int | None:
        """Return the number of a record; one segment is enough for an id given out here."""
        if id not in self._numbers:
            own = id.removeprefix(self.prefix)
            if own.isdecimal() and segment_of(int(own)) in self._segments:
                self._load(segment_of(int(own)))
        if id not in self._numbers:
            self.load_all()
        return self._numbers.get(id)

    def next_ids(self) -> Iterator[str]:
        """Return the ids of the next records, in the order in which one change adds them."""
        return (f"{self.prefix}{number}" for number in count(self._next_number()))

    @property
    def next_id(self) -> str:
        """Return the id of the next record, unless that has its own."""
        return next(self.next_ids())

    def _next_number(self) -> int:
        """Return the number after the last one that was ever given out."""
        last = max(self._segments, default=None)
        return 1 if last is None else last * SIZE + self._load(last).used + 1

    def change(self, records: Mapping[str, Record | None], *added: Record) -> None:
        """Replace, remove and add records, in one transaction.

        ``records`` has the new record by id, None to remove it; unknown ids are skipped. ``added``
        have ids of their own, or those of `next_ids` in the same order. Raises StoreUnavailable;
        Overwritten if other code changed what is stored: then memory is empty.
        """
        places = [(n, new) for name, new in records.items() if (n := self._number_of(name))]
        places += enumerate(added, self._next_number() if added else 0)
        before: dict[int, RecordSegment] = {}
        changed: dict[int, RecordSegment] = {}
        for place, record in places:
            number = segment_of(place)
            if number in self._segments:
                before[number] = self._load(number)
            content = changed.get(number) or before.get(number, NONE)
            kept = {n: item for n, item in {**content.records, place: record}.items() if item}
            used, version = max(content.used, place_in(place)), before.get(number, NONE).version + 1
            changed[number] = RecordSegment(used, kept, version)
        if changed:
            self._store(before, changed)

    def _store(self, before: SegmentsByNumber, changed: SegmentsByNumber) -> None:
        """Write segments in one transaction, then update memory."""
        last = max([*self._segments, *changed])
        # An empty last segment stays: it says which numbers were given out.
        after = {n: item if item.records or n == last else None for n, item in changed.items()}
        try:
            self.segments.write(before, after)
        except Overwritten:
            self.unload()
            raise
        for number, content in after.items():
            self._take(number, content or NONE)
            if content is None:
                del self._segments[number]

    def change_segment(self, number: int, left_of: Callable[[Record], Record | None]) -> list[str]:
        """Replace the records of one segment, None removes one; returns the changed ids."""
        if number not in self._segments:
            self.unload()  # other code wrote it
        before = list(self._load(number).records.values())
        changed = {old["id"]: new for old in before if (new := left_of(old)) != old}
        self.change(changed)
        return list(changed)

    def keep(self, new: Record, same: Record | None = None) -> str:
        """Store a new record, or merge it into one that says the same; returns the id.

        Raises BadRecord if its own id exists, or will be given out later.
        """
        if same is not None:
            merged = self.model_of(same).merged(same, new)
            if merged != same:
                self.change({same["id"]: merged})
            return str(same["id"])
        own, given = str(new["id"]), self.next_id
        if own != given and own.removeprefix(self.prefix).isdecimal():
            raise BadRecord(
                f"id: '{own}' is reserved: '{self.prefix}' and a number are ids of the store. "
                "Use another id."
            )
        if self.find(own):
            raise BadRecord(f"id: '{own}' exists already. Use another id.")
        self.change({}, new)
        return own

    def update(self, id: str, **fields: Any) -> Record:
        """Change some fields of a record; returns it. Raises KeyError and BadRecord."""
        self.require(id)
        self.update_all({id: fields})
        return self.require(id)

    @anew
    def update_all(self, changes: Mapping[str, Mapping[str, Any]]) -> int:
        """Change existing records in one transaction; returns how many differ. Raises BadRecord."""
        before = {known: record for known in changes if (record := self.find(known))}
        after = {
            name: self.model_of(item).changed(item, changes[name]) for name, item in before.items()
        }
        differing = {known: record for known, record in after.items() if record != before[known]}
        self.change(differing)
        return len(differing)

    @anew
    def remove(self, *ids: str) -> int:
        """Remove records; returns how many of them existed."""
        existing = list(filter(self.find, ids))
        self.change(dict.fromkeys(existing))
        return len(existing)

    @property
    def _services(self) -> Any:
        return getattr(getattr(self.obj, "assistant", None), "services", None)

    def now(self) -> datetime:
        """Return the time in UTC, by the game's clock for stores."""
        return cast(datetime, self._services.now()) if self._services else datetime.now(UTC)

    @property
    def amendments(self) -> Any:
        """Return the amendments of the character's log, None without an assistant."""
        conversation = getattr(getattr(self.obj, "assistant", None), "conversation", None)
        return getattr(conversation, "amendments", None)

    @property
    def _amended(self) -> Amended:
        return cast(Amended, known.shown) if (known := self.amendments) else {}

    def withholds(self, record: Record) -> bool:
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

"""What a character knows, on the character itself: the ways that its journal and its profiles have
in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from typing import Any, ClassVar, Self

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from evennia_ai.errors import BadRecord
from evennia_ai.policy.records.provenance import Record, copy_of
from evennia_ai.store.segments import Segments

STEPS_AT_ONCE = 4
# Called with a record as it was and as it is, None for none.
Watcher = Callable[[Record | None, Record | None], None]


class RecordStore:
    """Records of one kind on one object: plain data in, plain data out.

    There is one for each object, kept in its ``ndb`` under the name of the kind.
    """

    kind: ClassVar[str]
    prefix: ClassVar[str]

    def __init__(self, obj: Any) -> None:
        self.obj = obj
        self.segments = Segments(
            obj, self.kind, self.prefix, self.read, self._pass_on, self.storing
        )
        self._watchers: list[Watcher] = []

    @classmethod
    def of(cls, obj: Any) -> Self:
        """The shelf of an object, the same one at every call."""
        shelf: Self | None = obj.nattributes.get(cls.kind)
        if shelf is None:
            shelf = cls(obj)
            obj.nattributes.add(cls.kind, shelf)
        return shelf

    @classmethod
    def drop(cls, obj: Any) -> None:
        """Let memory hold nothing of it any more."""
        obj.nattributes.remove(cls.kind)

    # --- what a kind of shelf fills in ------------------------------------------------------------

    def read(self, raw: Any) -> Record:
        """A stored record; raises BadRecord."""
        raise NotImplementedError

    def noticed(self, old: Record | None, new: Record | None) -> None:
        """Keep what was derived from the records equal to them."""
        raise NotImplementedError

    def changed(self, record: Record, fields: Mapping[str, Any]) -> Record:
        """A record with some fields changed; raises BadRecord."""
        raise NotImplementedError

    def storing(self, replaced: list[tuple[Record, Record | None]]) -> None:
        """Called within the transaction of each write with the records that it replaces or, with
        None, removes."""

    # --- what all have ------------------------------------------------------------------------

    def watch(self, watcher: Watcher) -> None:
        """Tell of every record that memory holds already, and of each change from now on. What is
        told must not be changed."""
        for record in self.segments.held():
            watcher(None, record)
        self._watchers.append(watcher)

    def unwatch(self, watcher: Watcher) -> None:
        """Tell it of nothing any more."""
        self._watchers.remove(watcher)

    def _pass_on(self, old: Record | None, new: Record | None) -> None:
        self.noticed(old, new)
        for watcher in self._watchers:
            watcher(old, new)

    def now(self) -> datetime:
        """The game's time for stores, in UTC."""
        services = getattr(getattr(self.obj, "assistant", None), "services", None)
        at: datetime = services.now() if services else datetime.now(UTC)
        return at

    @property
    def is_loaded(self) -> bool:
        """Return True once every record is in memory."""
        return self.segments.is_loaded

    def load_steps(self) -> Iterator[None]:
        """Load everything, about a millisecond's work a step. Everything works meanwhile, and
        before; what needs all of it loads the rest in one go."""
        return self.segments.load_steps()

    def load(self, put: Callable[[Callable[[], None]], object]) -> Deferred[None]:
        """Load everything in slices. What is short is loaded at once.

        Args:
            put: calls what it is given soon, in its turn: `TimeSlices.put`.

        Fires when all is there; fails with StoreUnavailable.
        """
        done: Deferred[None] = Deferred()

        def go_on() -> None:
            try:
                for _ in islice(self.load_steps(), STEPS_AT_ONCE):
                    pass
            except Exception:  # noqa: BLE001  # whatever it is, somebody waits for it
                done.errback(Failure())
                return
            if self.segments.is_loaded:
                done.callback(None)
            else:
                put(go_on)

        go_on()
        return done

    def get(self, id: str) -> Record | None:
        """One record, None where there is none of that id."""
        record = self.segments.get(id)
        return copy_of(record) if record else None

    def ids(self) -> list[str]:
        """The ids of all that is loaded, oldest first."""
        return [record["id"] for record in self.segments.held()]

    def all(self) -> list[Record]:
        """Every record, oldest first, whoever may know of it."""
        return [copy_of(record) for record in self.segments.all()]

    def update(self, id: str, **fields: Any) -> Record:
        """Change some fields of a record; returns it as it is now.

        Raises KeyError where there is none of that id, BadRecord where a field does not fit, and
        StoreUnavailable where the database cannot be written now.
        """
        if self.segments.get(id) is None:
            raise KeyError(id)
        self.update_all({id: fields})
        return copy_of(self.segments.select([id])[0])

    def update_all(self, changes: Mapping[str, Mapping[str, Any]]) -> int:
        """Change fields of several records, by their ids, in one transaction; returns how many are
        others now. Unknown ids are passed over. BadRecord and StoreUnavailable as `update`."""
        before = {known: record for known in changes if (record := self.segments.get(known))}
        after = {known: self.changed(record, changes[known]) for known, record in before.items()}
        differing = {known: record for known, record in after.items() if record != before[known]}
        if differing:
            self.segments.change(differing)
        return len(differing)

    def remove(self, *ids: str) -> int:
        """Remove records; returns how many of these there were. StoreUnavailable as `update`."""
        there = [known for known in ids if self.segments.get(known)]
        if there:
            self.segments.change(dict.fromkeys(there))
        return len(there)

    def put(self, record: Record) -> None:
        """Store a new record; raises BadRecord where its id was given before, or is one that
        others will be given."""
        chosen, given = record["id"], self.segments.next_id
        if chosen != given and chosen.removeprefix(self.prefix).isdecimal():
            raise BadRecord(f"id: '{chosen}' is of the kind that is given out here.")
        if self.segments.get(chosen):
            raise BadRecord(f"id: there is a '{chosen}' already.")
        self.segments.change({}, record)

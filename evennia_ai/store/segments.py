"""Records stored on an object: plain dicts, 32 to an Attribute.

The Attributes have a type of their own. A change writes one segment, so that it costs the same at
any length (with one list in one Attribute, an append takes 45 ms at 3,000 entries, measured).
`set`, `copy` and prototypes ignore these Attributes, and `examine` shows only their labels
(`policy.disclosure`); a typeclass swap keeps them; they are deleted with the object.

This module uses queries and no `AttributeHandler`, which writes each change twice, holds a value
before it is stored, and returns `_Saver` objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count

from evennia.typeclasses.attributes import Attribute
from twisted.logger import Logger

from evennia_ai.errors import StoreUnavailable
from evennia_ai.policy.disclosure import Sealed, unsealed
from evennia_ai.policy.records.provenance import (
    SIZE,
    Record,
    Segment,
    place_in,
    read_segment,
    segment_of,
)
from evennia_ai.policy.records.shared_memory import is_as_told
from evennia_ai.ports import Journal
from evennia_ai.ports.records import RecordStore, Watcher
from evennia_ai.store.attributes import attributes_of
from evennia_ai.store.brief_transaction import brief_transaction
from evennia_ai.store.shared_entries import withdraw

log = Logger()

BROKEN = "broken_"
DAMAGED = "a damaged segment of an assistant's records; py shows its content"
NONE = Segment()


class Segments:
    """The records of one kind on one object. Ids are stable and never reused.

    Memory equals the database: it changes after a write has succeeded. A caller that rolls back a
    transaction of its own must call `reset`. Callers must not change the records they get. A method
    that writes is one transaction; it raises StoreUnavailable if the database cannot be written.
    ``noticed`` is called with each record before and after a change of memory.
    """

    def __init__(self, store: RecordStore, noticed: Watcher) -> None:
        self._obj = store.obj
        self._kind = store.kind
        self._prefix = store.prefix
        self._read = store.read
        self._noticed = noticed
        self._row_ids: dict[int, int] | None = None
        self._loaded: dict[int, Segment] = {}
        self._numbers: dict[str, int] = {}

    def load_steps(self) -> Iterator[None]:
        """Load all records, one segment (about 1 ms) a step; other work can run in between."""
        for segment in sorted(self._rows()):
            if segment in self._rows() and segment not in self._loaded:
                self._load(segment)
                yield

    def load_all(self) -> None:
        """Load the missing records at once."""
        for _ in self.load_steps():
            pass

    def __len__(self) -> int:
        """Return how many records are in memory."""
        return len(self._numbers)

    @property
    def is_loaded(self) -> bool:
        """Return True once every record is in memory."""
        return self._rows().keys() <= self._loaded.keys()

    def all(self) -> Iterator[Record]:
        """Return every record, oldest first; loads the missing ones at once."""
        self.load_all()
        yield from self.held()

    def held(self) -> Iterator[Record]:
        """Return every record that is loaded, oldest first."""
        for segment in sorted(self._loaded):
            yield from self._loaded[segment].records.values()

    def get(self, id: str) -> Record | None:
        """Return the record with an id, None if there is none."""
        number = self._number_of(id)
        return None if number is None else self._loaded[segment_of(number)].records[number]

    def select(self, ids: Iterable[str]) -> list[Record]:
        """Return the records with these ids, oldest first; they must be loaded."""
        numbers = sorted(self._numbers[name] for name in ids)
        return [self._loaded[segment_of(number)].records[number] for number in numbers]

    def next_ids(self) -> Iterator[str]:
        """Return the ids of the next records, in the order in which one change adds them."""
        return (f"{self._prefix}{number}" for number in count(self._next_number()))

    def reset(self) -> None:
        """Remove all records from memory; the next use reads them again."""
        for segment in list(self._loaded):
            self._take(segment, NONE)
        self._loaded.clear()
        self._row_ids = None

    def change(self, records: Mapping[str, Record | None], *added: Record) -> None:
        """Replace, remove and add records.

        ``records`` has the new record by id, None to remove it; unknown ids are skipped. ``added``
        records without an id of their own have the ids of `next_ids`, in the same order.
        """
        changed: dict[int, Segment] = {}
        for record_id, record in records.items():
            number = self._number_of(record_id)
            if number is None:
                continue
            segment = segment_of(number)
            before = changed.get(segment) or self._loaded[segment]
            kept = {n: item for n, item in before.records.items() if record or n != number}
            if record:
                kept[number] = record
            changed[segment] = Segment(before.used, kept)
        for number, record in enumerate(added, self._next_number() if added else 0):
            segment = segment_of(number)
            before = changed.get(segment) or self._loaded.get(segment, NONE)
            changed[segment] = Segment(place_in(number), {**before.records, number: record})
        self._store(changed)

    def rewrite_row(self, key: str, left_of: Callable[[Record], Record | None]) -> list[str]:
        """Replace the records of the Attribute ``key``; returns the ids of those that changed.

        ``left_of`` returns the record itself, another one, or None to remove it. An Attribute that
        cannot be read is deleted, which counts as one change.
        """
        if key.isdecimal() and int(key) not in self._rows():
            self.reset()
        if not key.isdecimal() or int(key) not in self._rows():
            attributes_of(self._obj, self._kind).filter(db_key=key).delete()
            return [key]
        before = self._load(int(key))
        left = {number: left_of(record) for number, record in before.records.items()}
        changed = [number for number, record in left.items() if record != before.records[number]]
        if changed:
            kept = {number: record for number, record in left.items() if record is not None}
            self._store({int(key): Segment(before.used, kept)})
        return [before.records[number]["id"] for number in changed]

    def _rows(self) -> dict[int, int]:
        """Return the ids of the Attributes by segment; queried once."""
        if self._row_ids is None:
            rows = attributes_of(self._obj, self._kind).values_list("db_key", "id")
            self._row_ids = {int(key): row_id for key, row_id in rows if key.isdecimal()}
        return self._row_ids

    def _next_number(self) -> int:
        """Return the number after the last one that was ever given out."""
        last = max(self._rows(), default=None)
        return 1 if last is None else last * SIZE + self._load(last).used + 1

    def _number_of(self, id: str) -> int | None:
        """Return the number of a record; one segment is enough for an id given out here."""
        if id not in self._numbers:
            own = id.removeprefix(self._prefix)
            if own.isdecimal() and segment_of(int(own)) in self._rows():
                self._load(segment_of(int(own)))
        if id not in self._numbers:
            self.load_all()
        return self._numbers.get(id)

    def _load(self, segment: int) -> Segment:
        """Return a segment, loaded if needed; set aside an Attribute that cannot be read."""
        if segment in self._loaded:
            return self._loaded[segment]
        rows = Attribute.objects.filter(id=self._rows()[segment])
        found = list(rows.values_list("db_value", flat=True))
        if not found:
            self._changed_elsewhere()
        content, whole = read_segment(found[0], segment, self._read)
        if not whole:
            self._set_aside(segment, content, found[0])
        self._take(segment, content)
        return content

    def _set_aside(self, segment: int, content: Segment, raw: object) -> None:
        """Rename an Attribute that cannot be read; store its readable records instead."""
        key = f"{BROKEN}{segment:06d}"
        kept = Sealed(unsealed(raw), DAMAGED)
        with brief_transaction():
            Attribute.objects.filter(id=self._rows()[segment]).update(db_key=key, db_value=kept)
            row_id = self._create(segment, content)
        self._rows()[segment] = row_id
        log.error(
            "{name} ({dbref}): cannot read a segment of {kind}; it was renamed to {key} for "
            "inspection. {count} of up to {size} records in it were saved; all other records work",
            name=self._obj.key,
            dbref=self._obj.dbref,
            kind=self._kind,
            key=key,
            count=len(content.records),
            size=SIZE,
        )

    def _store(self, segments: Mapping[int, Segment]) -> None:
        """Write segments in one transaction, then update memory."""
        if not segments:
            return
        rows = self._rows()
        last = max(rows, default=None)
        row_ids: dict[int, int | None] = {}
        with brief_transaction():
            self._withdraw(segments)
            for segment, content in segments.items():
                if segment not in rows:
                    row_ids[segment] = self._create(segment, content)
                elif content.records or segment == last:
                    row_ids[segment] = rows[segment]
                    self._update(rows[segment], content)
                else:  # an empty last segment stays: it says which numbers were given out
                    row_ids[segment] = None
                    Attribute.objects.filter(id=rows[segment]).delete()
        for segment, row_id in row_ids.items():
            self._take(segment, segments[segment])
            if row_id is None:
                del self._loaded[segment], rows[segment]
            else:
                rows[segment] = row_id

    def _withdraw(self, segments: Mapping[int, Segment]) -> None:
        """Withdraw what others were told of the entries that a write is about to change."""
        if self._kind != Journal.kind:
            return
        differing = [
            old["id"]
            for segment, content in segments.items()
            for number, old in self._loaded.get(segment, NONE).records.items()
            if (new := content.records.get(number)) is not old and not is_as_told(old, new)
        ]
        if differing:
            withdraw(self._obj.dbref, differing)

    def _create(self, segment: int, content: Segment) -> int:
        """Insert an Attribute; returns its id. `save` would keep it and its value in memory."""
        row = Attribute(
            db_key=f"{segment:06d}",
            db_model=self._obj.__dbclass__.__name__.lower(),
            db_attrtype=self._kind,
            **content.as_columns(),
        )
        Attribute.objects.bulk_create([row])
        self._obj.db_attributes.add(row)
        return int(row.id)

    def _update(self, row_id: int, content: Segment) -> None:
        if not Attribute.objects.filter(id=row_id).update(**content.as_columns()):
            self._changed_elsewhere()

    def _changed_elsewhere(self) -> None:
        """Reset memory, since it differs from the database; raises StoreUnavailable."""
        self.reset()
        raise StoreUnavailable(
            f"{self._obj.key}: other code deleted an Attribute of the type {self._kind}. Try again."
        )

    def _take(self, segment: int, content: Segment) -> None:
        """Put a segment into memory, and report each record that differs."""
        before = self._loaded.get(segment, NONE).records
        self._loaded[segment] = content
        for number in sorted({*before, *content.records}):
            old, new = before.get(number), content.records.get(number)
            if old is new:
                continue
            if old:
                self._numbers.pop(old["id"], None)
            if new:
                self._numbers[new["id"]] = number
            self._noticed(old, new)


RecordStore.stored_in = Segments

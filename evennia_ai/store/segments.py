"""Plain dicts kept on an object, 32 to an Attribute, under an attribute type of their own.

A change costs the same at any length, since it writes one segment (a list in one Attribute costs
45 ms an append at 3,000 entries, measured). `examine`, `copy` and prototypes do not see these
Attributes; a typeclass swap keeps them; they go with the object.

The rows are read and written by queries and not through an `AttributeHandler`: that writes each
change twice, holds its value before it is stored, and hands out `_Saver` objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from typing import Any

from evennia.typeclasses.attributes import Attribute
from twisted.logger import Logger

from evennia_ai.errors import StoreUnavailable
from evennia_ai.policy.records.provenance import Record, people_in
from evennia_ai.policy.records.segments import SIZE, Segment, place_in, read_segment, segment_of
from evennia_ai.store.brief_transaction import brief_transaction

log = Logger()

BROKEN = "broken_"


class Segments:
    """The records of one kind on one object. Ids are stable and never given again.

    What memory holds is what is stored: it follows when a write is done. A caller that rolls a
    transaction of its own back must `reset`. Records handed out must not be changed.

    Args:
        obj: the object.
        kind: the attribute type, at most 16 characters.
        prefix: what ids that nobody chose begin with.
        read: makes a record of what is stored, or raises BadRecord.
        noticed: called with each record as it was and as it is, None for none, whenever memory
            changes.
    """

    def __init__(
        self,
        obj: Any,
        kind: str,
        prefix: str,
        read: Callable[[Any], Record],
        noticed: Callable[[Record | None, Record | None], None],
        storing: Callable[[list[tuple[Record, Record | None]]], None],
    ) -> None:
        self._obj = obj
        self._kind = kind
        self._prefix = prefix
        self._read = read
        self._noticed = noticed
        self._storing = storing
        self._row_ids: dict[int, int] | None = None
        self._loaded: dict[int, Segment] = {}
        self._numbers: dict[str, int] = {}

    # --- reading --------------------------------------------------------------------------------

    def load_steps(self) -> Iterator[None]:
        """Load everything, one segment a step, so that other work may come between."""
        for segment in sorted(self._rows()):
            if segment in self._rows() and segment not in self._loaded:
                self._load(segment)
                yield

    def load_all(self) -> None:
        """Load what is missing, all at once."""
        for _ in self.load_steps():
            pass

    @property
    def is_loaded(self) -> bool:
        """True where nothing is left to load."""
        return self._rows().keys() <= self._loaded.keys()

    def all(self) -> Iterator[Record]:
        """Every record, oldest first. Loads what is missing, in one go."""
        self.load_all()
        yield from self.held()

    def held(self) -> Iterator[Record]:
        """Every record that is loaded, oldest first."""
        for segment in sorted(self._loaded):
            yield from self._loaded[segment].records.values()

    def get(self, id: str) -> Record | None:
        """The record of an id, None where there is none."""
        number = self._number_of(id)
        if number is None:
            return None
        return self._loaded[segment_of(number)].records[number]

    def select(self, ids: Iterable[str]) -> list[Record]:
        """The records of ids that are loaded, oldest first."""
        numbers = sorted(self._numbers[name] for name in ids)
        return [self._loaded[segment_of(number)].records[number] for number in numbers]

    @property
    def next_id(self) -> str:
        """The id of the next record, unless it brings one."""
        return next(self.next_ids())

    def next_ids(self) -> Iterator[str]:
        """The ids of the next records, one after the other, as they will be added together."""
        return (f"{self._prefix}{number}" for number in count(self._next_number()))

    def reset(self) -> None:
        """Drop everything from memory; the next use reads it anew."""
        for segment in list(self._loaded):
            self._take(segment, Segment())
        self._loaded.clear()
        self._row_ids = None

    # --- writing --------------------------------------------------------------------------------
    #
    # Each is one transaction, and raises StoreUnavailable where the database cannot be written now.

    def change(self, records: Mapping[str, Record | None], *added: Record) -> None:
        """Replace records by their ids, None removes one, and add others. Unknown ids are passed
        over. Records that bring no id of their own have those of `next_ids`, in their order."""
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
            before = changed.get(segment) or self._loaded.get(segment, Segment())
            changed[segment] = Segment(place_in(number), {**before.records, number: record})
        self._store(changed)

    def forget_row(self, key: str, dbref: str) -> int:
        """Remove from one Attribute, by its key, all that concerns somebody; returns how many
        records, at least 1. Of one that cannot be read nothing is kept."""
        if key.isdecimal() and int(key) not in self._rows():
            self.reset()
        if not key.isdecimal() or int(key) not in self._rows():
            attributes_of(self._obj, self._kind).filter(db_key=key).delete()
            return 1
        segment = int(key)
        self._ensure_loaded(segment)
        before = self._loaded[segment]
        kept = {n: item for n, item in before.records.items() if dbref not in people_in(item)}
        self._store({segment: Segment(before.used, kept)})
        return max(1, len(before.records) - len(kept))

    # --- within ---------------------------------------------------------------------------------

    def _rows(self) -> dict[int, int]:
        """Ids of the Attributes by segment, asked once."""
        if self._row_ids is None:
            rows = attributes_of(self._obj, self._kind).values_list("db_key", "id")
            self._row_ids = {int(key): row_id for key, row_id in rows if key.isdecimal()}
        return self._row_ids

    def _next_number(self) -> int:
        """The number after the last that was ever given out."""
        last = max(self._rows(), default=None)
        if last is None:
            return 1
        self._ensure_loaded(last)
        return last * SIZE + self._loaded[last].used + 1

    def _number_of(self, id: str) -> int | None:
        """The number of a record, found without loading everything where the id is one of ours."""
        if id not in self._numbers:
            own = id.removeprefix(self._prefix)
            if own.isdecimal() and segment_of(int(own)) in self._rows():
                self._ensure_loaded(segment_of(int(own)))
        if id not in self._numbers:
            self.load_all()
        return self._numbers.get(id)

    def _ensure_loaded(self, segment: int) -> None:
        if segment not in self._loaded:
            self._load(segment)

    def _load(self, segment: int) -> None:
        """Read one segment; what cannot be read of it is set aside."""
        rows = Attribute.objects.filter(id=self._rows()[segment])
        found = list(rows.values_list("db_value", flat=True))
        if not found:
            self._changed_elsewhere()
        content, whole = read_segment(found[0], segment, self._read)
        if not whole:
            self._set_aside(segment, content)
        self._take(segment, content)

    def _set_aside(self, segment: int, content: Segment) -> None:
        """Keep an Attribute that cannot be read, as it is, under another key, and what could be
        read of it in its place."""
        key = f"{BROKEN}{segment:06d}"
        with brief_transaction():
            Attribute.objects.filter(id=self._rows()[segment]).update(db_key=key)
            row_id = self._create(segment, content)
        self._rows()[segment] = row_id
        log.error(
            "{name} ({dbref}): a piece of its {kind} cannot be read and was set aside as {key}; "
            "{count} of up to {size} entries of it could be saved, and all the others work",
            name=self._obj.key,
            dbref=self._obj.dbref,
            kind=self._kind,
            key=key,
            count=len(content.records),
            size=SIZE,
        )

    def _store(self, segments: Mapping[int, Segment]) -> None:
        """Write segments in one transaction; memory follows."""
        if not segments:
            return
        rows = self._rows()
        last = max(rows, default=None)
        row_ids: dict[int, int | None] = {}
        with brief_transaction():
            self._storing(self._replaced(segments))
            for segment, content in segments.items():
                if segment not in rows:
                    row_ids[segment] = self._create(segment, content)
                elif content.records or segment == last:
                    row_ids[segment] = rows[segment]
                    self._update(rows[segment], content)
                else:  # the last one stays, empty or not: it knows which numbers were given out
                    row_ids[segment] = None
                    Attribute.objects.filter(id=rows[segment]).delete()
        for segment, row_id in row_ids.items():
            self._take(segment, segments[segment])
            if row_id is None:
                del self._loaded[segment], rows[segment]
            else:
                rows[segment] = row_id

    def _replaced(self, segments: Mapping[int, Segment]) -> list[tuple[Record, Record | None]]:
        """The records that a write of some segments changes, each with what it becomes."""
        return [
            (old, new)
            for segment, content in segments.items()
            for number, old in self._loaded.get(segment, Segment()).records.items()
            if (new := content.records.get(number)) is not old
        ]

    def _create(self, segment: int, content: Segment) -> int:
        """Insert an Attribute; returns its id. Not by `save`, which would keep it in memory, with
        another copy of the value."""
        row = Attribute(
            db_key=f"{segment:06d}",
            db_value=content.as_stored(),
            db_strvalue=content.people(),
            db_model=self._obj.__dbclass__.__name__.lower(),
            db_attrtype=self._kind,
        )
        Attribute.objects.bulk_create([row])
        self._obj.db_attributes.add(row)
        return int(row.id)

    def _update(self, row_id: int, content: Segment) -> None:
        """Write an Attribute's value."""
        stored = Attribute.objects.filter(id=row_id).update(
            db_value=content.as_stored(), db_strvalue=content.people()
        )
        if not stored:
            self._changed_elsewhere()

    def _changed_elsewhere(self) -> None:
        """An Attribute is gone that was there: what memory holds is not what is stored."""
        self.reset()
        raise StoreUnavailable(f"The {self._kind} of {self._obj.key} was changed by others.")

    def _take(self, segment: int, content: Segment) -> None:
        """Let memory hold a segment, and tell of each record that is another one now."""
        before = self._loaded.get(segment, Segment()).records
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


def attributes_of(obj: Any, *kinds: str) -> Any:
    """The Attributes of some types on an object."""
    return obj.db_attributes.filter(db_attrtype__in=kinds)


def rows_about(dbref: str, kinds: Iterable[str]) -> Any:
    """The Attributes of some types, on whatever object, in which somebody is concerned."""
    return Attribute.objects.filter(db_attrtype__in=list(kinds), db_strvalue__contains=f" {dbref} ")

"""The segments of records on an object: an Attribute each, of a type of their own.

`set`, `copy` and prototypes ignore these Attributes, and `examine` shows only their labels
(`policy.records.stored_values`); a typeclass swap keeps them; they are deleted with the object.
Each carries a version, so that nobody writes over what they have not read.

This module uses queries and no `AttributeHandler`, which writes each change twice, holds a value
before it is stored, and returns `_Saver` objects.
"""

from typing import Any

from evennia.typeclasses.attributes import Attribute
from twisted.logger import Logger

from evennia_ai.errors import Overwritten
from evennia_ai.policy.records.journal_entry import is_as_copied
from evennia_ai.policy.records.record import SIZE, RecordSegment, read_segment
from evennia_ai.policy.records.stored_values import BELOW, stored
from evennia_ai.ports import Journal
from evennia_ai.ports.records import NONE, RecordStore, SegmentChanges, SegmentsByNumber
from evennia_ai.store.attributes import attributes_of, stored_columns
from evennia_ai.store.rows import withdraw
from evennia_ai.store.transactions import brief_transaction

log = Logger()

BROKEN = "broken_"
DAMAGED = "a damaged segment of an assistant's records"


class AttributeSegments:
    """`ports.records.Segments` on one object."""

    def __init__(self, store: RecordStore) -> None:
        self._obj, self._kind, self._read = store.obj, store.kind, store.read

    def numbers(self) -> list[int]:
        keys = attributes_of(self._obj, self._kind).values_list("db_key", flat=True)
        return [int(key) for key in keys if key.isdecimal()]

    def read(self, number: int) -> RecordSegment:
        """Return a segment; sets an Attribute aside that cannot be read. Raises Overwritten."""
        row = stored_columns(self._rows(number)).values_list("id", "column", "db_strvalue").first()
        if row is None:
            raise self._overwritten()
        row_id, column, text = row
        content, is_whole = read_segment(column, number, self._read, text)
        if not is_whole:
            self._set_aside(number, row_id, content, column, text)
        return content

    def write(self, before: SegmentsByNumber, after: SegmentChanges) -> None:
        """Create, replace and delete segments, unless one is not as ``before``.

        Raises Overwritten and StoreUnavailable; then nothing has changed.
        """
        is_update = len(after) == 1 and self._kind != Journal.kind and not after.keys() - before
        with brief_transaction(characters=[self._obj.id], is_one_statement=is_update):
            self._withdraw(before, after)
            for number, content in after.items():
                if number not in before and content:
                    self._create(number, content)
                    continue
                rows = self._rows(number).filter(db_strvalue__startswith=before[number].mark)
                written = rows.update(**content.as_columns()) if content else rows.delete()[0]
                if not written:
                    raise self._overwritten()

    def _rows(self, number: int) -> Any:
        return attributes_of(self._obj, self._kind).filter(db_key=f"{number:06d}")

    def _withdraw(self, before: SegmentsByNumber, after: SegmentChanges) -> None:
        """Withdraw what others were told of the entries that a write is about to change."""
        if self._kind != Journal.kind:
            return
        differing = [
            old["id"]
            for number, segment in before.items()
            for place, old in segment.records.items()
            if (new := (after[number] or NONE).records.get(place)) is not old
            and not is_as_copied(old, new)
        ]
        if differing:
            withdraw(self._obj.dbref, differing)

    def _create(self, number: int, content: RecordSegment) -> None:
        """Insert an Attribute. `save` would keep it and its value in memory."""
        owner = self._obj.db_attributes.instance
        type(owner)._base_manager.select_for_update().filter(pk=owner.pk).values_list("pk").first()
        if self._rows(number).exists():
            raise self._overwritten()
        row = Attribute(
            db_key=f"{number:06d}",
            db_model=self._obj.__dbclass__.__name__.lower(),
            db_attrtype=self._kind,
            **content.as_columns(),
        )
        Attribute.objects.bulk_create([row])
        self._obj.db_attributes.add(row)

    def _set_aside(
        self, number: int, row_id: int, content: RecordSegment, column: str | None, text: str | None
    ) -> None:
        """Rename an Attribute that cannot be read; store its readable records instead."""
        key, text = f"{BROKEN}{number:06d}", text or ""
        kept = {} if BELOW in text else stored(column, text, DAMAGED)
        with brief_transaction(characters=[self._obj.id]):
            Attribute.objects.filter(id=row_id).update(db_key=key, **kept)
            self._create(number, content)
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

    def _overwritten(self) -> Overwritten:
        return Overwritten(f"{self._obj.key}: other code changed an Attribute of {self._kind}.")


RecordStore.stored_in = AttributeSegments

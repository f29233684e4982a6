"""One assistant's compactions in the database; they never change a message (P3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from datetime import datetime
from typing import Any

from django.db.models import Max, Q

from evennia_ai import models
from evennia_ai.errors import CannotUndo
from evennia_ai.policy.context.projection import CompactionRecord
from evennia_ai.store.brief_transaction import brief_transaction

MASK = "mask"


class TableCompactions:
    """The compactions of one assistant; the latest that is not undone is in force."""

    def __init__(self, assistant_id: int, now: Callable[[], datetime]) -> None:
        self.assistant_id = assistant_id
        self.now = now

    def commit(self, record: CompactionRecord) -> CompactionRecord:
        """Store a compaction in one transaction; returns it with its id and time."""
        with brief_transaction():
            row = models.Compaction.objects.create(
                assistant_id=self.assistant_id, at=self.now(), **fields_of(record)
            )
        return record_from_row(row)

    def mask(self, from_seq: int, upto_seq: int, count: int) -> None:
        """Store a mask: the model sees tool results up to a message as archived."""
        with brief_transaction():
            models.Compaction.objects.create(
                assistant_id=self.assistant_id,
                at=self.now(),
                reason=MASK,
                from_seq=from_seq,
                upto_seq=upto_seq,
                compacted_count=count,
                original_token_count=0,
                summary_token_count=0,
            )

    def last(self) -> CompactionRecord | None:
        """Return the compaction in force, None if there is none."""
        row = self._in_force().exclude(reason=MASK).order_by("-id").first()
        return None if row is None else record_from_row(row)

    def masked_upto(self) -> int:
        """Return the number of the last message that masks apply to, 0 without a mask."""
        found = self._in_force().filter(reason=MASK).aggregate(upto=Max("upto_seq"))
        return int(found["upto"] or 0)

    def count_over(self, seq: int) -> int:
        """Return how many compactions in force summarised a message, or what came after it."""
        return int(self._in_force().exclude(reason=MASK).filter(upto_seq__gte=seq).count())

    def undo(self) -> CompactionRecord | None:
        """Undo the compaction in force and the later masks; returns it, None if none.

        Raises CannotUndo if retention has deleted messages that this would restore.
        """
        record = self.last()
        if record is None:
            return None
        if models.Compaction.objects.filter(id=record.id, sealed=True).exists():
            raise CannotUndo(
                "This compaction cannot be undone: retention has deleted the messages before it."
            )
        undone = self._in_force().filter(id__gte=record.id)
        with brief_transaction():  # archived, since a crash may have left entries in the journal
            undone.update(undone_at=self.now(), archived=True)
        return record

    def to_archive(self) -> list[tuple[CompactionRecord, bool]]:
        """Return the compactions whose journal entries to write (True) or remove, oldest first."""
        rows = unsettled().filter(assistant_id=self.assistant_id).order_by("id")
        return [(record_from_row(row), row.undone_at is None) for row in rows]

    def note_archived(self, id: int, archived: bool) -> None:
        """Store whether the journal holds the entries of a compaction."""
        with brief_transaction():
            models.Compaction.objects.filter(id=id).update(archived=archived)

    def _in_force(self) -> Any:
        return models.Compaction.objects.filter(assistant_id=self.assistant_id, undone_at=None)


def unsettled() -> Any:
    """Return the compactions of all assistants whose journal entries must change."""
    wanting = Q(undone_at=None, archived=False) | Q(undone_at__isnull=False, archived=True)
    return models.Compaction.objects.filter(wanting).exclude(reason=MASK)


def assistants_to_archive() -> list[int]:
    """Return the ids of the assistants with unsettled compactions, in one query."""
    return sorted(set(unsettled().values_list("assistant_id", flat=True)))


PLAIN = ("summary", "speakers", "consulted", "cost")
CHANGED = ("id", "compacted_at", *PLAIN)
COPIED = tuple(item.name for item in fields(CompactionRecord) if item.name not in CHANGED)


def fields_of(record: CompactionRecord) -> dict[str, Any]:
    """Return the fields of a row, without id, assistant and time."""
    copied = {name: getattr(record, name) for name in COPIED}
    return copied | {name: dict(getattr(record, name)) for name in PLAIN}


def record_from_row(row: models.Compaction) -> CompactionRecord:
    """Return a row as plain data."""
    return CompactionRecord(
        id=row.id,
        compacted_at=row.at.isoformat(),
        **{name: getattr(row, name) for name in (*COPIED, *PLAIN)},
    )

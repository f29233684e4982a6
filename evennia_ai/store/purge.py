"""Deleting the rows beyond the limits of retention (`config.table_retention`).

Rows go in chunks. Each chunk checks what is in use in the transaction that deletes, since an admin
may undo a compaction between two chunks. After a crash between two chunks the next run continues.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from evennia.scripts.models import ScriptDB

from evennia_ai import models
from evennia_ai.config.table_retention import Held, Limit, edge_of, plan_chunk
from evennia_ai.store.attributes import SCRIPT_KEY
from evennia_ai.store.brief_transaction import brief_transaction
from evennia_ai.store.call_records import drop_unused_texts
from evennia_ai.store.rows import delete_rows
from evennia_ai.store.rows_in_use import READERS, REFERENCES, Look, Planned, find_held, summed

CHUNK = 120


@dataclass
class Tally:
    """The result of a purge of one table, in rows."""

    rows: int = 0  # that the table had; counted by a dry run only
    gone: int = 0  # that were deleted, or would be
    kept: Counter[str] = field(default_factory=Counter)  # that stay over the limit, by reason

    def add(self, other: Tally) -> None:
        """Add the figures of another tally."""
        self.rows += other.rows
        self.gone += other.gone
        self.kept.update(other.kept)


Report = dict[str, Tally]


class TablePurge:
    """The purge of one table, oldest row first, one step at a time.

    ``assistant_id`` is None for a table without an assistant. ``planned`` makes it a dry run: it
    has the references that dry runs of the tables before have released, and this one adds its own.
    """

    def __init__(
        self,
        table: str,
        assistant_id: int | None,
        limit: Limit,
        now: datetime,
        planned: Planned | None = None,
    ) -> None:
        self.table = table
        self.model = getattr(models, table)
        self._assistant_id = assistant_id
        self._limit = limit
        self._now = now
        self._planned = planned
        self._upto = self._counted = 0
        self._below: int | None = None  # the limit of rows keeps the rows from this id on

    @property
    def _rows(self) -> Any:
        rows = self.model.objects.all()
        owner = self._assistant_id
        return rows if owner is None else rows.filter(assistant_id=owner)

    def step(self) -> tuple[bool, Tally]:
        """Do one step in one transaction; returns whether more may follow, and its tally.

        After StoreUnavailable, the caller may call it again.
        """
        if self._planned is not None and not self._counted:
            self._counted = self._rows.count()
            return self._counted > 0, Tally(self._counted)
        if self._below is None:
            self._below = self._oldest_kept()
            return self._below > 0 or self._limit.days is not None, Tally()
        return self._purge_chunk(self._below)

    def _oldest_kept(self) -> int:
        """Return the oldest id that the limit of rows keeps, 0 for all (8 ms for 100,000 rows)."""
        if self._limit.rows is None:
            return 0
        ids = self._rows.order_by("-id").values_list("id", flat=True)
        if self._limit.rows == 0:
            return 1 + (ids.first() or 0)
        return ids[self._limit.rows - 1 : self._limit.rows].first() or 0

    def _purge_chunk(self, below: int) -> tuple[bool, Tally]:
        """Check the next `CHUNK` rows, and delete those that retention releases."""
        edge = edge_of(self._limit, self._now, below)
        with brief_transaction() if self._planned is None else nullcontext():
            held = Held() if self._assistant_id is None else find_held(self._assistant_id)
            look = Look(held, self._now, self._planned or Planned(Counter))
            read = READERS[self.table](self._next_rows(), look)
            plan = plan_chunk(read, edge)
            if plan.going:
                self._delete(plan.going)
        self._upto = read[-1].id if read else self._upto
        more = len(read) == CHUNK and not plan.is_last
        return more, Tally(gone=len(plan.going), kept=Counter(plan.kept))

    def _next_rows(self) -> Any:
        """Return the next `CHUNK` rows, as a queryset."""
        rows = self._rows.filter(id__gt=self._upto).order_by("id")
        last = rows.values_list("id", flat=True)[CHUNK - 1 : CHUNK].first()
        return rows if last is None else rows.filter(id__lte=last)

    def _delete(self, ids: Sequence[int]) -> None:
        """Delete rows; in a dry run, note what they refer to instead."""
        if self._planned is not None:
            for name in REFERENCES.get(self.model, ()):
                referred = self.model.objects.filter(id__in=ids).values_list(name, flat=True)
                self._planned[self.model, name].update(referred)
            return
        if self.table in CLEAN_UPS:
            CLEAN_UPS[self.table](self._assistant_id or 0, ids)
        delete_rows(self.model, ids)


def assistant_ids() -> list[int]:
    """Return the ids of all assistants."""
    scripts = ScriptDB.objects.filter(db_key=SCRIPT_KEY).order_by("id")
    return list(scripts.values_list("id", flat=True))


def seal_after_messages(assistant_id: int, ids: Sequence[int]) -> None:
    """Seal the compaction that evicted these messages: it can no longer be undone."""
    seal_oldest(summed(assistant_id).filter(upto_seq__gte=max(ids)))


def seal_after_compactions(assistant_id: int, ids: Sequence[int]) -> None:
    """Seal the compaction after these ones, and remove the references to them."""
    models.Compaction.objects.filter(previous_id__in=ids).update(previous=None)
    going = summed(assistant_id).filter(id__in=ids).first()
    if going is not None:
        seal_oldest(summed(assistant_id).filter(id__gt=going[0]))


def seal_oldest(compactions: Any) -> None:
    """Mark the oldest of some compactions, if any, as one that cannot be undone."""
    found = compactions.order_by("id").first()
    if found is not None:
        models.Compaction.objects.filter(id=found[0]).update(sealed=True)


CLEAN_UPS: dict[str, Callable[[int, Sequence[int]], None]] = {
    "CallRecord": drop_unused_texts,
    "Message": seal_after_messages,
    "Compaction": seal_after_compactions,
}

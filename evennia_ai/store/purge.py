"""Deleting what retention has no room for, a chunk at a time (`config.table_retention`).

Every chunk looks anew at what is in use, in the transaction that deletes: between two of them
somebody may have taken a compaction back. After a crash between two what was deleted is gone, and
the next run goes on with the rest.
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
from evennia_ai.store.rows import delete_rows
from evennia_ai.store.rows_in_use import READERS, REFERENCES, Look, Planned, find_held, summed

CHUNK = 120
STRIDE = 20_000


@dataclass
class Tally:
    """What became of rows: how many there were (counted by a dry run only), how many went or would
    go, and how many stay though they are over the limit, by reason."""

    rows: int = 0
    gone: int = 0
    kept: Counter[str] = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        """Add another's figures."""
        self.rows += other.rows
        self.gone += other.gone
        self.kept.update(other.kept)


Report = dict[str, Tally]


class TablePurge:
    """Walks over one table, oldest row first, a step at a time.

    Args:
        table: its model's name.
        assistant_id: whose rows; None for a table that belongs to none.
        limit: what it has room for.
        now: the time.
        planned: for a dry run, what such runs over the tables that refer to this one have let go;
            this one adds to it. None deletes.
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
        self._read = READERS[table]
        self._clean_up: Callable[[int, Sequence[int]], None] | None = CLEAN_UPS.get(table)
        self._upto = self._counted = 0
        self._below: int | None = None  # the limit of rows has room from this id on
        self._left = limit.rows if limit.rows is not None else 0

    @property
    def _rows(self) -> Any:
        rows = self.model.objects.all()
        owner = self._assistant_id
        return rows if owner is None else rows.filter(assistant_id=owner)

    def step(self) -> tuple[bool, Tally]:
        """Do one piece of it, all of it or nothing; returns True while there may be more to do, and
        what became of the rows of this piece.

        Raises StoreUnavailable, and may be called again then.
        """
        if self._planned is not None and not self._counted:
            self._counted = self._rows.count()
            return self._counted > 0, Tally(self._counted)
        if self._limit.rows is not None and (self._below is None or self._left):
            return self._count_back(self._below), Tally()
        return self._purge_chunk(self._below or 0)

    def _count_back(self, below: int | None) -> bool:
        """Go back from the newest row by `STRIDE` of those there is room for."""
        rows = self._rows if below is None else self._rows.filter(id__lt=below)
        ids = rows.order_by("-id").values_list("id", flat=True)
        take = min(STRIDE, self._left)
        if take == 0:  # there is room for none
            self._below = 1 + (ids.first() or 0)
            return True
        found = ids[take - 1 : take].first()
        if found is None:  # there are fewer than there is room for
            self._below, self._left = 0, 0
            return self._limit.days is not None
        self._below, self._left = found, self._left - take
        return True

    def _purge_chunk(self, below: int) -> tuple[bool, Tally]:
        """Look at the next `CHUNK` rows, and delete those of them that may go."""
        edge = edge_of(self._limit, self._now, below)
        with brief_transaction() if self._planned is None else nullcontext():
            held = Held() if self._assistant_id is None else find_held(self._assistant_id)
            read = self._read(
                self._next_rows(), Look(held, self._now, self._planned or Planned(Counter))
            )
            plan = plan_chunk(read, edge)
            if plan.going:
                self._let_go(plan.going)
        self._upto = read[-1].id if read else self._upto
        more = len(read) == CHUNK and not plan.is_last
        return more, Tally(gone=len(plan.going), kept=Counter(plan.kept))

    def _next_rows(self) -> Any:
        """The next `CHUNK` rows."""
        rows = self._rows.filter(id__gt=self._upto).order_by("id")
        last = rows.values_list("id", flat=True)[CHUNK - 1 : CHUNK].first()
        return rows if last is None else rows.filter(id__lte=last)

    def _let_go(self, ids: Sequence[int]) -> None:
        """Delete rows, by ``_raw_delete`` as in `store.erase`; or note what they refer to."""
        if self._planned is not None:
            for name in REFERENCES.get(self.model, ()):
                referred = self.model.objects.filter(id__in=ids).values_list(name, flat=True)
                self._planned[self.model, name].update(referred)
            return
        if self._clean_up is not None and self._assistant_id is not None:
            self._clean_up(self._assistant_id, ids)
        delete_rows(self.model, ids)


def assistant_ids() -> list[int]:
    """Ids of all assistants."""
    scripts = ScriptDB.objects.filter(db_key=SCRIPT_KEY).order_by("id")
    return list(scripts.values_list("id", flat=True))


def seal_after_messages(assistant_id: int, ids: Sequence[int]) -> None:
    """Messages go: the compaction that took them out of view cannot be taken back any more."""
    taken_by = summed(assistant_id).filter(upto_seq__gte=max(ids)).order_by("id")
    seal(taken_by.first())


def seal_after_compactions(assistant_id: int, ids: Sequence[int]) -> None:
    """Compactions go: the one that came after them cannot be taken back any more, and none refers
    to them."""
    models.Compaction.objects.filter(previous_id__in=ids).update(previous=None)
    going = summed(assistant_id).filter(id__in=ids).first()
    if going is not None:
        seal(summed(assistant_id).filter(id__gt=going[0]).order_by("id").first())


def seal(found: tuple[int, int] | None) -> None:
    """Mark a compaction as one that cannot be taken back."""
    if found is not None:
        models.Compaction.objects.filter(id=found[0]).update(sealed=True)


CLEAN_UPS = {"Message": seal_after_messages, "Compaction": seal_after_compactions}

"""What characters told each other: the rows, and a copy in memory for each scope.

The copy may be late for a moment. So a search checks the rows of its results (`still_told`) before
it uses them.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from django.db.models import Min
from django.dispatch import Signal
from twisted.internet.defer import DeferredLock, inlineCallbacks

from evennia_ai import models
from evennia_ai.contrib.shared_memory.telling import HEARSAY, SharedRecord, SharedTelling
from evennia_ai.policy.records.record import Record, copy_of, people_field
from evennia_ai.ports.records import WatchedRecords
from evennia_ai.scheduling import Coroutine, Enqueue, yield_to_reactor
from evennia_ai.store.lines import amended_at
from evennia_ai.store.rows import delete_rows
from evennia_ai.store.transactions import brief_transaction

MOST_HEARD = 1_000  # entries in memory for each scope: the most important, then the newest
PAGE = 50  # rows read without a pause: 3 ms (measured)
PREFIX = "h"

# Sent after rows were added, with their ``scopes``; `store.rows.rows_deleted` tells of deletion.
entries_told = Signal()


def told_by(assistant_id: int) -> list[SharedRecord]:
    """Return what an assistant has told, in every scope; not what it told a single one."""
    rows = models.SharedEntry.objects.filter(assistant_id=assistant_id)
    rows = rows.exclude(scope__startswith=models.SharedEntry.ONE_MIND)
    return [SharedRecord(*row) for row in rows.order_by("id").values_list("id", "entry", "scope")]


def tell(assistant_id: int, teller: str, now: datetime, new: Sequence[SharedTelling]) -> None:
    """Store once what an assistant tells, in one transaction."""
    rows = [
        models.SharedEntry(
            assistant_id=assistant_id,
            teller=teller,
            at=now,
            **{**asdict(item), "people": people_field(item.people)},
        )
        for item in new
    ]
    with brief_transaction(assistant_id):
        models.SharedEntry.objects.bulk_create(rows, ignore_conflicts=True)
    if rows:
        entries_told.send_robust(None, scopes=frozenset(item.scope for item in new))


def take_back(ids: Sequence[int]) -> None:
    """Delete what was told, by row id, in one transaction; raises StoreUnavailable."""
    if ids:
        with brief_transaction():
            delete_rows(models.SharedEntry, ids)


def open_among(assistant_id: int, seqs: Iterable[int]) -> frozenset[int]:
    """Return those of some message numbers that were said in public and not amended since."""
    rows = models.Message.objects.filter(assistant_id=assistant_id, private=False)
    rows = rows.exclude(event__private=True)  # a whisper, although its hearer may repeat it
    open_ids = frozenset(rows.filter(id__in=list(seqs)).values_list("id", flat=True))
    return open_ids - amended_at(assistant_id).keys()


def still_told(ids: Iterable[str]) -> frozenset[str]:
    """Return those of some ids of hearsay records whose rows still exist."""
    wanted = [int(name.removeprefix(PREFIX)) for name in ids]
    rows = models.SharedEntry.objects.filter(id__in=wanted).values_list("id", flat=True)
    return frozenset(f"{PREFIX}{row_id}" for row_id in rows)


class SharedEntryStore(WatchedRecords):
    """What one scope was told, as far as it is available by now; an index watches it.

    `load` reads the rows at first use, and again only after they changed, or one became available.
    """

    def __init__(self, scope: str, now: Callable[[], datetime]) -> None:
        super().__init__()
        self.scope = scope
        self._now = now
        self._records: dict[str, Record] = {}
        self._one_at_a_time = DeferredLock()
        self._is_stale = True
        self._due_at: datetime | None = None

    def get(self, id: str) -> Record | None:
        record = self._records.get(id)
        return copy_of(record) if record else None

    def held(self) -> list[Record]:
        """Return the records that memory holds. Callers must not change them."""
        return list(self._records.values())

    def note(self, gone: Iterable[int] = ()) -> None:
        """Note that rows changed; records of deleted rows leave memory at once."""
        self._is_stale = True
        for row_id in gone:
            self._put(f"{PREFIX}{row_id}", None)

    @inlineCallbacks
    def load(self, put: Enqueue) -> Coroutine[None]:
        """Read changed rows in slices. Fires when memory is up to date; fails with the database."""
        yield self._one_at_a_time.acquire()
        try:
            now = self._now()
            if self._is_stale or (self._due_at is not None and self._due_at <= now):
                yield self._read(put, now)
        except BaseException:
            self._is_stale = True
            raise
        finally:
            self._one_at_a_time.release()

    @inlineCallbacks
    def _read(self, put: Enqueue, now: datetime) -> Coroutine[None]:
        self._is_stale = False
        rows = models.SharedEntry.objects.filter(scope=self.scope)
        yield yield_to_reactor(put)
        later = rows.filter(available_from__gt=now).aggregate(at=Min("available_from"))
        self._due_at = later["at"]
        yield yield_to_reactor(put)
        best = rows.filter(available_from__lte=now).order_by("-importance", "-id")
        ids = [f"{PREFIX}{n}" for n in best.values_list("id", flat=True)[:MOST_HEARD]]
        for name in self._records.keys() - set(ids):
            self._put(name, None)
        new = [int(name.removeprefix(PREFIX)) for name in ids if name not in self._records]
        for start in range(0, len(new), PAGE):
            yield yield_to_reactor(put)
            for row in rows.filter(id__in=new[start : start + PAGE]).values():
                record = record_of(row)
                self._put(record["id"], record)

    def _put(self, name: str, new: Record | None) -> None:
        old = self._records.pop(name, None)
        if new is not None:
            self._records[name] = new
        if old or new:
            self.tell_watchers(old, new)


def record_of(row: dict[str, Any]) -> Record:
    copied = {name: row[name] for name in ("trust", "importance", "teller", "entry")}
    times = {"timestamp": row["learnt_at"], "available_from": row["available_from"]}
    return {
        **copied,
        **{name: at.astimezone(UTC).isoformat() for name, at in times.items()},
        "id": f"{PREFIX}{row['id']}",
        "source_type": HEARSAY,
        "source_entity": row["source"],
        "speakers": list(row["speakers"]),
        "audience": None,
        "content": row["text"],
    }

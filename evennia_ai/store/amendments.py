"""One assistant's amendments in the database: rows say how messages are shown (P3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Max, Q

from evennia_ai import models
from evennia_ai.messages import Message
from evennia_ai.policy.amendments import HIDDEN, UNRECALLED, Amended, Amendment, amend, latest
from evennia_ai.policy.records.segments import people_field
from evennia_ai.store.brief_transaction import brief_transaction
from evennia_ai.store.rows import raw_delete


class TableAmendments:
    """The amendments of one assistant that are in force; read at first use, in one query.

    After a change, the view and the index must read the messages again.
    """

    def __init__(self, assistant_id: int, now: Callable[[], datetime]) -> None:
        self.assistant_id = assistant_id
        self.now = now
        self._rows: list[Amendment] | None = None
        self._shown: dict[int, Amendment] = {}

    @property
    def shown(self) -> Amended:
        """Return what is in force for each hidden or edited message."""
        self._load()
        return self._shown

    @property
    def unrecalled(self) -> list[int]:
        """Return the messages whose lines are not recalled though they are not hidden."""
        return [one.seq for one in self._load() if one.kind == UNRECALLED]

    def is_hidden(self, seq: int) -> bool:
        """Return True if the character does not see a message."""
        return seq in self.shown and self.shown[seq].kind == HIDDEN

    def forget(self) -> None:
        """Read the rows again at the next use."""
        self._rows = None

    def add(  # two have defaults
        self,
        kind: str,
        seqs: Sequence[int],
        by: str,
        text: str = "",
        authors: Sequence[str] = (),
    ) -> None:
        """Store a change of some messages, as one batch; raises StoreUnavailable."""
        with brief_transaction():
            last = models.Amendment.objects.aggregate(id=Max("id"))["id"] or 0
            fields = {"assistant_id": self.assistant_id, "at": self.now(), "batch": last + 1}
            fields |= {"kind": kind, "by": by, "text": text}
            fields["authors"] = people_field(authors) if authors else ""
            models.Amendment.objects.bulk_create(
                models.Amendment(seq=seq, **fields) for seq in seqs
            )
            erase_vectors(seqs)
        self.forget()

    def last_batch(self) -> list[Amendment]:
        """Return the newest batch of hidden or edited messages, no amendments if there is none."""
        rows = [one for one in self._load() if one.kind != UNRECALLED]
        return [one for one in rows if one.batch == rows[-1].batch]

    def undo(self, by: str, **which: Any) -> int:
        """Undo the amendments in force that fields of their rows name; returns how many."""
        rows = in_force(models.Amendment.objects.filter(assistant_id=self.assistant_id, **which))
        with brief_transaction():
            erase_vectors(list(rows.values_list("seq", flat=True)))
            undone: int = rows.update(undone_at=self.now(), undone_by=by)
        self.forget()
        return undone

    def _load(self) -> list[Amendment]:
        if self._rows is None:
            rows = in_force(models.Amendment.objects.filter(assistant_id=self.assistant_id))
            self._rows = [from_row(row) for row in rows.order_by("id")]
            self._shown = latest(self._rows)
        return self._rows


def erase_vectors(seqs: Sequence[int]) -> None:
    """Delete the vectors of messages whose words are no longer those that were embedded."""
    raw_delete(models.LineVector.objects.filter(pk__in=seqs))


def in_force(rows: Any, at: datetime | None = None) -> Any:
    """Return those rows that are in force now, or were at a time."""
    if at is None:
        return rows.filter(undone_at=None)
    return rows.filter(Q(undone_at=None) | Q(undone_at__gt=at), at__lte=at)


def from_row(row: models.Amendment) -> Amendment:
    """Return a row as plain data."""
    copied = {name: getattr(row, name) for name in ("id", "seq", "kind", "text", "batch", "by")}
    return Amendment(at=row.at.isoformat(), authors=tuple(row.authors.split()), **copied)


def amended_at(assistant_id: int, at: datetime | None = None) -> dict[int, Amendment]:
    """Return what is in force for each message of an assistant, or what was at a time."""
    rows = in_force(models.Amendment.objects.filter(assistant_id=assistant_id), at)
    return latest(from_row(row) for row in rows)


def as_shown(message: Message, amendment_id: int | None) -> Message:
    """Return a stored message as a prompt showed it, by the ``amendment`` of its metadata.

    The amendment may be undone since; if its row is gone, the message is returned as it is stored.
    """
    rows = models.Amendment.objects.filter(id=amendment_id) if amendment_id else ()
    return next(iter(amend([message], {row.seq: from_row(row) for row in rows})), message)

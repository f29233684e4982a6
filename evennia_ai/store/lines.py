"""The lines of one assistant's log as they are recalled, and how builders amend messages (P3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import FilteredRelation, Max, Q

from evennia_ai import models
from evennia_ai.messages import EXCUSE, ChatMessage, make_message
from evennia_ai.policy.recallable_lines import (
    HIDDEN,
    UNRECALLED,
    Amended,
    LineAmendment,
    amend,
    latest,
)
from evennia_ai.policy.records.record import people_field
from evennia_ai.store.rows import raw_delete
from evennia_ai.store.transactions import brief_transaction

# Rows that cannot be a line are left in the database.
LINES = ~Q(role=EXCUSE) & (~Q(role="tool") | Q(content__startswith="You "))
METADATA = ("speaker", "speaker_name", "evidence", "audience", "private")
# Making no model instances halves the time.
READ = ("id", "at", "role", "content", "tool_calls", *METADATA)


class TableLines:
    """`ports.Lines` over the tables."""

    def __init__(self, assistant_id: int, amendments: TableAmendments) -> None:
        self.assistant_id = assistant_id
        self.amendments = amendments
        self.refreshes = 0
        self._newest: int | None = None  # the last message, None if unknown

    def note(self, stored: Sequence[ChatMessage]) -> None:
        if stored and self._newest is not None:
            self._newest = stored[-1]["metadata"]["seq"]

    def refresh(self) -> None:
        """Read again from now on which messages there are, and what they say."""
        self.refreshes += 1
        self._newest = None

    def after(
        self, seq: int, upto: int | None, limit: int, embedder: str
    ) -> list[tuple[ChatMessage, bytes | None]]:
        """Return the next messages after one, oldest first, with the vectors of this embedder."""
        if self._newest is None:
            self._newest = self._rows().aggregate(last=Max("id"))["last"] or 0
        last = self._newest if upto is None else min(upto, self._newest)
        if seq >= last:
            return []
        # Without its condition PostgreSQL reads the vectors of all messages before, for 80 ms.
        vector = FilteredRelation("vector", condition=Q(vector__message__gt=seq))
        rows = self._recalled().filter(id__gt=seq, id__lte=last).alias(made=vector).order_by("id")
        read = list(rows.values_list(*READ, "made__embedder", "made__packed")[:limit])
        messages = self._amended(as_message(row[:-2]) for row in read)
        return [
            (message, bytes(row[-1]) if row[-2] == embedder else None)
            for message, row in zip(messages, read, strict=True)
        ]

    def before_newest(self, count: int) -> int:
        """Return the message before the newest ``count`` ones, 0 if there are no more."""
        older = self._rows().order_by("-id").values_list("id", flat=True)[count : count + 1]
        return next(iter(older), 0)

    def read(self, seqs: Iterable[int]) -> list[ChatMessage]:
        """Return those of some messages that exist, in one query."""
        rows = self._recalled().filter(id__in=set(seqs)).order_by("id").values_list(*READ)
        return self._amended(as_message(row) for row in rows)

    def existing(self, seqs: Iterable[int]) -> set[int]:
        """Return those of some lines that exist, without reading them."""
        wanted = set(seqs).difference(self._left_out())
        return set(self._rows().filter(id__in=wanted).values_list("id", flat=True))

    def store_vectors(self, embedder: str, vectors: Mapping[int, bytes]) -> None:
        """Store vectors by message in place of others; raises StoreUnavailable."""
        with brief_transaction():
            # A message may have been deleted since.
            kept = self._rows().filter(id__in=list(vectors)).values_list("id", flat=True)
            rows = [models.LineVector(pk=n, embedder=embedder, packed=vectors[n]) for n in kept]
            raw_delete(models.LineVector.objects.filter(pk__in=list(vectors)))
            models.LineVector.objects.bulk_create(rows)

    def _recalled(self) -> Any:
        return self._rows().filter(LINES).exclude(id__in=self._left_out())

    def _left_out(self) -> list[int]:
        shown = self.amendments.shown
        hidden = [seq for seq, change in shown.items() if change.kind == HIDDEN]
        return [*hidden, *self.amendments.unrecalled]

    def _amended(self, messages: Iterable[ChatMessage]) -> list[ChatMessage]:
        return amend(messages, self.amendments.shown)

    def _rows(self) -> Any:
        return models.Message.objects.filter(assistant_id=self.assistant_id)


def erase_vectors(assistant_id: int) -> None:
    raw_delete(models.LineVector.objects.filter(message__assistant_id=assistant_id))


def as_message(read: Iterable[Any]) -> ChatMessage:
    """Return the columns of `READ` as a message with what a line needs."""
    seq, at, role, content, calls, *metadata = read
    known = dict(zip(METADATA, metadata, strict=True))
    return make_message(role, content, tool_calls=calls, seq=seq, at=at.isoformat(), **known)


class TableAmendments:
    """The amendments of one assistant in force. After a change, read view and index anew."""

    def __init__(self, assistant_id: int, now: Callable[[], datetime]) -> None:
        self.assistant_id = assistant_id
        self.now = now
        self._rows: list[LineAmendment] | None = None
        self._shown: dict[int, LineAmendment] = {}

    @property
    def shown(self) -> Amended:
        """Return what is in force for each hidden or edited message."""
        self._load()
        return self._shown

    @property
    def unrecalled(self) -> list[int]:
        """Return the messages whose lines are not recalled though they are not hidden."""
        return [item.seq for item in self._load() if item.kind == UNRECALLED]

    def is_hidden(self, seq: int) -> bool:
        """Return True if the character does not see a message."""
        return seq in self.shown and self.shown[seq].kind == HIDDEN

    def forget(self) -> None:
        """Read the rows again at the next use."""
        self._rows = None

    def add(  # two have defaults
        self, kind: str, seqs: Sequence[int], by: str, text: str = "", authors: Sequence[str] = ()
    ) -> None:
        """Store a change of some messages, as one batch; raises StoreUnavailable."""
        with brief_transaction(self.assistant_id):
            last = models.Amendment.objects.aggregate(id=Max("id"))["id"] or 0
            fields = {"assistant_id": self.assistant_id, "at": self.now(), "batch": last + 1}
            fields |= {"kind": kind, "by": by, "text": text}
            fields["authors"] = people_field(authors) if authors else ""
            models.Amendment.objects.bulk_create(
                models.Amendment(seq=seq, **fields) for seq in seqs
            )
            _drop_vectors(seqs)
        self.forget()

    def last_batch(self) -> list[LineAmendment]:
        """Return the newest batch of hidden or edited messages, no amendments if there is none."""
        rows = [item for item in self._load() if item.kind != UNRECALLED]
        return [row for row in rows if row.batch == rows[-1].batch]

    def undo(self, by: str, **which: Any) -> int:
        """Undo the amendments in force that fields of their rows name; returns how many."""
        rows = in_force(models.Amendment.objects.filter(assistant_id=self.assistant_id, **which))
        with brief_transaction(self.assistant_id):
            _drop_vectors(list(rows.values_list("seq", flat=True)))
            undone: int = rows.update(undone_at=self.now(), undone_by=by)
        self.forget()
        return undone

    def _load(self) -> list[LineAmendment]:
        if self._rows is None:
            rows = in_force(models.Amendment.objects.filter(assistant_id=self.assistant_id))
            self._rows = [from_row(row) for row in rows.order_by("id")]
            self._shown = latest(self._rows)
        return self._rows


def _drop_vectors(seqs: Sequence[int]) -> None:
    """Delete the vectors of messages whose words are no longer those that were embedded."""
    raw_delete(models.LineVector.objects.filter(pk__in=seqs))


def in_force(rows: Any, at: datetime | None = None) -> Any:
    """Return those rows that are in force now, or were at a time."""
    if at is None:
        return rows.filter(undone_at=None)
    return rows.filter(Q(undone_at=None) | Q(undone_at__gt=at), at__lte=at)


def from_row(row: models.Amendment) -> LineAmendment:
    copied = {name: getattr(row, name) for name in ("id", "seq", "kind", "text", "batch", "by")}
    return LineAmendment(at=row.at.isoformat(), authors=tuple(row.authors.split()), **copied)


def amended_at(assistant_id: int, at: datetime | None = None) -> dict[int, LineAmendment]:
    """Return what is in force for each message of an assistant, or what was at a time."""
    rows = in_force(models.Amendment.objects.filter(assistant_id=assistant_id), at)
    return latest(from_row(row) for row in rows)

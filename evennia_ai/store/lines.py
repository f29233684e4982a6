"""The lines of one assistant's log, and their vectors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Max, Q

from evennia_ai import models
from evennia_ai.messages import EXCUSE, Message, make_message
from evennia_ai.store.brief_transaction import brief_transaction
from evennia_ai.store.rows import raw_delete

# Rows that cannot be a line are left in the database.
LINES = ~Q(role=EXCUSE) & (~Q(role="tool") | Q(content__startswith="You "))
METADATA = ("speaker", "speaker_name", "audience", "private")
# Making no model instances halves the time.
READ = ("id", "at", "role", "content", "tool_calls", *METADATA)


class TableLines:
    """`ports.Lines` over the tables."""

    def __init__(self, assistant_id: int) -> None:
        self.assistant_id = assistant_id
        self._newest: int | None = None  # the last message, None if unknown

    def note(self, seq: int | None) -> None:
        """Note that a message was stored last; None if that must be read again."""
        self._newest = seq

    def after(
        self, seq: int, upto: int | None, limit: int, embedder: str
    ) -> list[tuple[Message, bytes | None]]:
        """Return the next messages after one, oldest first, with the vectors of this embedder."""
        if self._newest is None:
            self._newest = self._rows().aggregate(last=Max("id"))["last"] or 0
        last = self._newest if upto is None else min(upto, self._newest)
        if seq >= last:
            return []
        rows = self._rows().filter(LINES, id__gt=seq, id__lte=last).order_by("id")[:limit]
        return [
            (as_message(read), bytes(packed) if made_by == embedder else None)
            for *read, made_by, packed in rows.values_list(
                *READ, "vector__embedder", "vector__packed"
            )
        ]

    def read(self, seqs: Iterable[int]) -> list[Message]:
        """Return those of some messages that exist, in one query."""
        rows = self._rows().filter(LINES, id__in=list(seqs))
        return [as_message(read) for read in rows.values_list(*READ)]

    def store_vectors(self, embedder: str, vectors: Mapping[int, bytes]) -> None:
        """Store vectors by message, instead of those of other embedders, in one transaction.

        Raises StoreUnavailable.
        """
        with brief_transaction():
            # A message may have been deleted since.
            kept = self._rows().filter(id__in=list(vectors)).values_list("id", flat=True)
            rows = [models.LineVector(pk=n, embedder=embedder, packed=vectors[n]) for n in kept]
            raw_delete(models.LineVector.objects.filter(pk__in=list(vectors)))
            models.LineVector.objects.bulk_create(rows)

    def _rows(self) -> Any:
        return models.Message.objects.filter(assistant_id=self.assistant_id)


def erase_vectors(assistant_id: int) -> None:
    """Delete all vectors of an assistant."""
    raw_delete(models.LineVector.objects.filter(message__assistant_id=assistant_id))


def as_message(read: Iterable[Any]) -> Message:
    """Return the columns of `READ` as a message with what a line needs."""
    seq, at, role, content, calls, *metadata = read
    known = dict(zip(METADATA, metadata, strict=True))
    return make_message(role, content, tool_calls=calls, seq=seq, at=at.isoformat(), **known)

"""The lines of one assistant's log, and their vectors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.db.models import F, Max, Q

from evennia_ai import models
from evennia_ai.messages import EXCUSE, Message
from evennia_ai.store.brief_transaction import brief_transaction
from evennia_ai.store.rows import message_from_row, raw_delete

# Rows that cannot be a line are left in the database.
LINES = ~Q(role=EXCUSE) & (~Q(role="tool") | Q(content__startswith="You "))


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
            of_mine = models.Message.objects.filter(assistant_id=self.assistant_id)
            self._newest = of_mine.aggregate(last=Max("id"))["last"] or 0
        last = self._newest if upto is None else min(upto, self._newest)
        if seq >= last:
            return []
        chosen = {"assistant_id": self.assistant_id, "id__gt": seq, "id__lte": last}
        rows = models.Message.objects.filter(LINES, **chosen)
        rows = rows.annotate(made_by=F("vector__embedder"), packed=F("vector__packed"))
        return [
            (message_from_row(row), bytes(row.packed) if row.made_by == embedder else None)
            for row in rows.order_by("id")[:limit]
        ]

    def read(self, seqs: Iterable[int]) -> list[Message]:
        """Return those of some messages that exist, oldest first, in one query."""
        rows = models.Message.objects.filter(assistant_id=self.assistant_id, id__in=list(seqs))
        return [message_from_row(row) for row in rows.order_by("id")]

    def store_vectors(self, embedder: str, vectors: Mapping[int, bytes]) -> None:
        """Store vectors by message, instead of those of other embedders, in one transaction.

        Raises StoreUnavailable.
        """
        with brief_transaction():
            # A message may have been deleted while an endpoint made its vector.
            owner = models.Message.objects.filter(assistant_id=self.assistant_id)
            kept = owner.filter(id__in=list(vectors)).values_list("id", flat=True)
            rows = [models.LineVector(pk=n, embedder=embedder, packed=vectors[n]) for n in kept]
            raw_delete(models.LineVector.objects.filter(pk__in=list(vectors)))
            models.LineVector.objects.bulk_create(rows)

"""The lines of one assistant's log, and their vectors."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from django.db.models import FilteredRelation, Max, Q

from evennia_ai import models
from evennia_ai.messages import EXCUSE, Message, make_message
from evennia_ai.policy.amendments import HIDDEN, amend
from evennia_ai.store.amendments import TableAmendments
from evennia_ai.store.brief_transaction import brief_transaction
from evennia_ai.store.rows import raw_delete, todays_form
from evennia_ai.store.statements import values

# Rows that cannot be a line are left in the database.
LINES = ~Q(role=EXCUSE) & (~Q(role="tool") | Q(content__startswith="You "))
METADATA = ("speaker", "speaker_name", "nature", "audience", "private")
KEPT = 40  # new messages in memory
# Making no model instances halves the time.
READ = ("id", "at", "role", "content", "tool_calls", *METADATA)


class TableLines:
    """`ports.Lines` over the tables."""

    def __init__(self, assistant_id: int, amendments: TableAmendments) -> None:
        self.assistant_id = assistant_id
        self.amendments = amendments
        self.refreshes = 0
        self._newest: int | None = None  # the last message, None if unknown
        # New messages, each after the number of the one before it.
        self._new: deque[tuple[int, Message]] = deque(maxlen=KEPT)

    def note(self, stored: Iterable[Message]) -> None:
        """Keep messages that were just stored: a query for them would cost 0.6 ms (measured)."""
        if self._newest is None:
            return
        for message in stored:
            self._new.append((self._newest, message))
            self._newest = message["metadata"]["seq"]

    def refresh(self) -> None:
        """Read again from now on which messages there are, and what they say."""
        self.refreshes += 1
        self._newest = None
        self._new.clear()

    def after(
        self, seq: int, upto: int | None, limit: int, embedder: str
    ) -> list[tuple[Message, bytes | None]]:
        """Return the next messages after one, oldest first, with the vectors of this embedder."""
        if self._newest is None:
            self._newest = self._rows().aggregate(last=Max("id"))["last"] or 0
        last = self._newest if upto is None else min(upto, self._newest)
        if seq >= last:
            return []
        if self._new and self._new[0][0] <= seq:
            out, new = set(self._left_out()), (item for item in self._new if seq <= item[0] < last)
            kept = (message for _, message in new if message["metadata"]["seq"] not in out)
            return [(message, None) for message in self._amended(islice(kept, limit))]
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

    def read(self, seqs: Iterable[int]) -> list[Message]:
        """Return those of some messages that exist, in one query."""
        rows = self._values(READ, seqs)
        return self._amended(as_message(row) for row in rows if may_be_line(*row[2:4]))

    def existing(self, seqs: Iterable[int]) -> set[int]:
        """Return those of some lines that exist, without reading them."""
        return {seq for (seq,) in self._values(("id",), seqs)}

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

    def _values(self, names: Sequence[str], seqs: Iterable[int]) -> list[list[Any]]:
        """Return columns of those of some messages that exist and may be recalled."""
        wanted = set(seqs).difference(self._left_out())
        mine = {"assistant_id": self.assistant_id, "id": tuple(wanted)}
        return values(models.Message, names, **mine) if wanted else []

    def _recalled(self) -> Any:
        """Return the rows that may be recalled, as a queryset."""
        return self._rows().filter(LINES).exclude(id__in=self._left_out())

    def _left_out(self) -> list[int]:
        shown = self.amendments.shown
        hidden = [seq for seq, change in shown.items() if change.kind == HIDDEN]
        return [*hidden, *self.amendments.unrecalled]

    def _amended(self, messages: Iterable[Message]) -> list[Message]:
        return amend(messages, self.amendments.shown)

    def _rows(self) -> Any:
        return models.Message.objects.filter(assistant_id=self.assistant_id)


def erase_vectors(assistant_id: int) -> None:
    """Delete all vectors of an assistant."""
    raw_delete(models.LineVector.objects.filter(message__assistant_id=assistant_id))


def may_be_line(role: str, content: str) -> bool:
    """Return what `LINES` says of a row."""
    return role != EXCUSE and (role != "tool" or content.startswith("You "))


def as_message(read: Iterable[Any]) -> Message:
    """Return the columns of `READ` as a message with what a line needs."""
    seq, at, role, content, calls, *metadata = read
    known = dict(zip(METADATA, metadata, strict=True))
    if role == "user":
        content = todays_form(content, known["nature"], known["speaker_name"])
    return make_message(role, content, tool_calls=calls, seq=seq, at=at.isoformat(), **known)

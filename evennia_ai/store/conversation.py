"""One assistant's conversation in the database, with the view of it in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from evennia_ai import models
from evennia_ai.messages import Message
from evennia_ai.policy.context.projection import CompactionRecord, View, is_maskable
from evennia_ai.policy.tokens import count_message
from evennia_ai.store.brief_transaction import brief_transaction
from evennia_ai.store.compactions import TableCompactions
from evennia_ai.store.rows import message_from_row, message_to_row


class TableConversation:
    """Append-only. The view is read from the database at first use and kept in step after that.

    ``count`` tells the tokens of a message when it is stored, once and for all.
    """

    def __init__(
        self,
        assistant_id: int,
        now: Callable[[], datetime],
        count: Callable[[Message], int] = count_message,
    ) -> None:
        self.assistant_id = assistant_id
        self.now = now
        self.count = count
        self.compactions = TableCompactions(assistant_id, now)
        self._view: View | None = None

    def append(self, messages: Sequence[Message]) -> list[Message]:
        """Store messages in one transaction; the view follows only when all of them are stored."""
        with brief_transaction():
            rows = self.insert(messages)
        return self.extend_view(rows)

    def insert(self, messages: Sequence[Message]) -> list[models.Message]:
        """Store messages within a transaction of the caller's, who extends the view after it."""
        at = self.now()
        rows = [message_to_row(self.assistant_id, message, at, self.count) for message in messages]
        stored: list[models.Message] = models.Message.objects.bulk_create(rows)
        return stored

    def extend_view(self, rows: Sequence[models.Message]) -> list[Message]:
        """Take rows into the view that a transaction elsewhere has stored."""
        stored = [message_from_row(row) for row in rows]
        if self._view is not None:
            self._view.extend(stored)
        return stored

    def view(self) -> Sequence[Message]:
        """The marker of the last compaction, if any, and every message after it, oldest first. Do
        not mutate."""
        return self.current.items

    @property
    def current(self) -> View:
        """The view with its sizes."""
        if self._view is None:
            record = self.compactions.last()
            rows = models.Message.objects.filter(
                assistant_id=self.assistant_id, id__gt=record.upto_seq if record else 0
            )
            messages = [message_from_row(row) for row in rows.order_by("id")]
            self._view = View(record, messages, self.compactions.masked_upto(), self.count)
        return self._view

    def compact(self, record: CompactionRecord) -> CompactionRecord:
        """Store a compaction; the view begins after it as soon as it is stored, with every message
        that came meanwhile. Returns it with its id."""
        stored = self.compactions.commit(record)
        view = self.current
        kept = [m for m in view.messages if m["metadata"]["seq"] > stored.upto_seq]
        self._view = View(stored, kept, view.masked_upto, self.count)
        return stored

    def mask(self, upto_seq: int) -> int:
        """Show the tool results up to a message masked from now on; returns how many these are."""
        view = self.current
        chosen = [
            m for m in view.messages
            if is_maskable(m) and view.masked_upto < m["metadata"]["seq"] <= upto_seq
        ]  # fmt: skip
        if chosen:
            self.compactions.mask(chosen[0]["metadata"]["seq"], upto_seq, len(chosen))
            self._view = View(view.record, view.messages, upto_seq, self.count)
        return len(chosen)

    def undo(self) -> CompactionRecord | None:
        """Undo the last compaction and the masks after it; returns it, None where there is none."""
        undone = self.compactions.undo()
        self.forget_view()
        return undone

    def to_archive(self) -> list[tuple[CompactionRecord, bool]]:
        """The compactions whose entries in the journal are to be written (True) or taken back."""
        return self.compactions.to_archive()

    def note_archived(self, id: int, archived: bool) -> None:
        """Store whether a compaction has its entries in the journal."""
        self.compactions.note_archived(id, archived)

    def forget_view(self) -> None:
        """Drop the view from memory; the next use reads it anew."""
        self._view = None

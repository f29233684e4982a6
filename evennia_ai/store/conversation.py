"""One assistant's conversation in the database, with the view of it in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from evennia_ai import models
from evennia_ai.messages import Message
from evennia_ai.store.brief_transaction import brief_transaction
from evennia_ai.store.rows import message_from_row, message_to_row


class TableConversation:
    """Append-only. The view is read from the database at first use and kept in step after that."""

    def __init__(self, assistant_id: int, now: Callable[[], datetime]) -> None:
        self.assistant_id = assistant_id
        self.now = now
        self._view: list[Message] | None = None

    def append(self, messages: Sequence[Message]) -> list[Message]:
        """Store messages in one transaction; the view follows only when all of them are stored."""
        with brief_transaction():
            rows = self.insert(messages)
        return self.extend_view(rows)

    def insert(self, messages: Sequence[Message]) -> list[models.Message]:
        """Store messages within a transaction of the caller's, who extends the view after it."""
        at = self.now()
        rows = [message_to_row(self.assistant_id, message, at) for message in messages]
        return models.Message.objects.bulk_create(rows)

    def extend_view(self, rows: Sequence[models.Message]) -> list[Message]:
        """Take rows into the view that a transaction elsewhere has stored."""
        stored = [message_from_row(row) for row in rows]
        if self._view is not None:
            self._view.extend(stored)
        return stored

    def view(self) -> Sequence[Message]:
        """Every message of the log, oldest first. Do not mutate."""
        if self._view is None:
            rows = models.Message.objects.filter(assistant_id=self.assistant_id).order_by("id")
            self._view = [message_from_row(row) for row in rows]
        return self._view

    def forget_view(self) -> None:
        """Drop the view from memory; the next use reads it anew."""
        self._view = None

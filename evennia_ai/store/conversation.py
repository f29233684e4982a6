"""One assistant's conversation in the database, with its view in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from evennia_ai import models
from evennia_ai.messages import Message, is_excuse
from evennia_ai.policy.amendments import HIDDEN, amend
from evennia_ai.policy.audience import audience_of
from evennia_ai.policy.context.projection import CompactionRecord, Sizes, View, is_maskable
from evennia_ai.policy.tokens import count_message, stored_tokens
from evennia_ai.store.amendments import TableAmendments
from evennia_ai.store.brief_transaction import brief_transaction
from evennia_ai.store.compactions import TableCompactions
from evennia_ai.store.lines import TableLines
from evennia_ai.store.rows import message_from_row, message_to_row
from evennia_ai.store.statements import insert

Watcher = Callable[[Sequence[Message]], None]  # must not raise

MESSAGE_BYTES = 1_250  # of one message in memory (measured)


class TableConversation:
    """The append-only conversation of one assistant.

    The view is read from the database at first use and updated with each write. ``count`` counts
    the tokens of a message once, when it is stored. ``note_use`` is called when the view is used.
    """

    def __init__(
        self,
        assistant_id: int,
        now: Callable[[], datetime],
        count: Callable[[Message], int] = count_message,
        note_use: Callable[[], object] = lambda: None,
    ) -> None:
        self.assistant_id = assistant_id
        self.now = now
        self.count = count
        self.note_use = note_use
        self.amendments = TableAmendments(assistant_id, now)
        self.lines = TableLines(assistant_id, self.amendments)
        self.compactions = TableCompactions(assistant_id, now)
        self._view: View | None = None
        self._sizes: Sizes | None = None  # of a view that is not in memory any more
        self.watchers: dict[Any, Watcher] = {}  # called with new messages, by whoever watches

    def append(self, messages: Sequence[Message]) -> list[Message]:
        """Store messages in one transaction, then add them to the view; returns them."""
        with brief_transaction():
            rows = self.insert(messages)
        return self.extend_view(rows)

    def insert(self, messages: Sequence[Message]) -> list[models.Message]:
        """Store messages inside the caller's transaction; the caller extends the view."""
        at = self.now()
        rows = [message_to_row(self.assistant_id, message, at, self.count) for message in messages]
        insert(*rows)
        return rows

    def extend_view(self, rows: Sequence[models.Message]) -> list[Message]:
        """Add stored rows to the view; returns them as messages."""
        stored = [message_from_row(row) for row in rows]
        if self._view is not None:
            self._view.extend(stored)
        elif self._sizes is not None:
            for message in stored:
                if not is_excuse(message):
                    self._sizes.add(audience_of(message), stored_tokens(message, self.count))
        self.lines.note(stored)
        for watch in list(self.watchers.values()):
            watch(stored)
        return stored

    def view(self) -> Sequence[Message]:
        """Return the marker, if any, and all later messages, oldest first; do not change them."""
        return self.current.items

    @property
    def current(self) -> View:
        """Return the view with its token counts."""
        if self._view is None:
            record = self.compactions.last()
            rows = models.Message.objects.filter(
                assistant_id=self.assistant_id, id__gt=record.upto_seq if record else 0
            )
            stored = (message_from_row(row) for row in rows.order_by("id"))
            messages = amend(stored, self.amendments.shown)
            self._view = View(record, messages, self.compactions.masked_upto(), self.count)
        view = self._view
        self.note_use()
        return view

    @property
    def hidden(self) -> list[int]:
        """Return the messages that a builder hides from the view."""
        return [seq for seq, one in self.amendments.shown.items() if one.kind == HIDDEN]

    @property
    def sizes(self) -> Sizes:
        """Return the sizes of the view; they stay known without the view."""
        if self._view is None and self._sizes is not None:
            return self._sizes
        return self.current.sizes

    @property
    def is_known(self) -> bool:
        """Return True if the sizes are known without reading the tables."""
        return self._view is not None or self._sizes is not None

    @property
    def nbytes(self) -> int:
        """Return about how much memory the view takes."""
        return 0 if self._view is None else len(self._view.items) * MESSAGE_BYTES

    def unload_view(self) -> None:
        """Free the view's memory; the next use reads it again."""
        if self._view is not None:
            self._sizes, self._view = self._view.sizes, None
        self.lines.refresh()

    def compact(self, record: CompactionRecord) -> CompactionRecord:
        """Store a compaction; returns it with its id. Messages that came meanwhile stay in view."""
        stored = self.compactions.commit(record)
        view = self.current
        kept = [m for m in view.logged if m["metadata"]["seq"] > stored.upto_seq]
        self._view = View(stored, kept, view.masked_upto, self.count)
        return stored

    def mask(self, upto_seq: int) -> int:
        """Mask the tool results up to a message; returns how many."""
        view = self.current
        seqs = [message["metadata"]["seq"] for message in filter(is_maskable, view.messages)]
        chosen = [seq for seq in seqs if view.masked_upto < seq <= upto_seq]
        if chosen:
            self.compactions.mask(chosen[0], upto_seq, len(chosen))
            self._view = View(view.record, view.logged, upto_seq, self.count)
        return len(chosen)

    def undo(self) -> CompactionRecord | None:
        """Undo the last compaction and the later masks; returns it, None if none."""
        undone = self.compactions.undo()
        self.forget_view()
        return undone

    def to_archive(self) -> list[tuple[CompactionRecord, bool]]:
        """Return the compactions whose journal entries must be written (True) or removed."""
        return self.compactions.to_archive()

    def note_archived(self, id: int, archived: bool) -> None:
        """Store whether the journal holds the entries of a compaction."""
        self.compactions.note_archived(id, archived)

    def forget_view(self) -> None:
        """Forget all that was read from the tables, since they changed."""
        self._view = self._sizes = None
        self.lines.refresh()
        self.amendments.forget()

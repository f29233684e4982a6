"""One assistant's conversation in the database: messages, compactions, and its view in memory."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from django.db.models import F, Max, Q

from evennia_ai import models
from evennia_ai.errors import CannotUndo
from evennia_ai.messages import ChatMessage, is_excuse
from evennia_ai.policy.audience import audience_of
from evennia_ai.policy.context.projection import (
    CompactionRecord,
    LogInView,
    TokensByAudience,
    is_maskable,
)
from evennia_ai.policy.recallable_lines import amend
from evennia_ai.policy.tokens import stored_tokens
from evennia_ai.policy.tool_call_modes.wire_order import count_stored
from evennia_ai.store.lines import TableAmendments, TableLines
from evennia_ai.store.rows import insert_rows, message_from_row, message_to_row
from evennia_ai.store.server_lock import of_this_shard
from evennia_ai.store.transactions import brief_transaction

MESSAGE_BYTES = 1_250  # of one message in memory (measured)


class TableConversation:
    """The append-only conversation of one assistant; its view is read at first use.

    ``count`` counts the tokens of a message once, when it is stored. ``note_use`` is called when
    the view is read, and so takes memory.
    """

    def __init__(
        self,
        assistant_id: int,
        now: Callable[[], datetime],
        count: Callable[[ChatMessage], int] = count_stored,
        note_use: Callable[[], object] = lambda: None,
    ) -> None:
        self.assistant_id = assistant_id
        self.now = now
        self.count = count
        self.note_use = note_use
        self.amendments = TableAmendments(assistant_id, now)
        self.lines = TableLines(assistant_id, self.amendments)
        self.compactions = TableCompactions(assistant_id, now)
        self._view: LogInView | None = None
        self._sizes: TokensByAudience | None = None  # of a view that is not in memory any more

    def append(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        """Store messages in one transaction, then add them to the view; returns them."""
        with brief_transaction(self.assistant_id):
            rows = self.insert(messages)
        return self.extend_view(rows)

    def insert(self, messages: Sequence[ChatMessage]) -> list[models.Message]:
        """Store messages inside the caller's transaction; the caller extends the view."""
        at = self.now()
        rows = [message_to_row(self.assistant_id, message, at, self.count) for message in messages]
        return insert_rows(rows)

    def extend_view(self, rows: Sequence[models.Message]) -> list[ChatMessage]:
        """Add stored rows to the view; returns them as messages."""
        stored = [message_from_row(row) for row in rows]
        if self._view is not None:
            self._view.extend(stored)
        elif self._sizes is not None:
            for message in stored:
                if not is_excuse(message):
                    self._sizes.add(audience_of(message), stored_tokens(message, self.count))
        self.lines.note(stored)
        return stored

    def show(self, scenes: Sequence[ChatMessage]) -> None:
        """Note situation updates that a prompt showed; only memory holds them."""
        self.current.show(scenes)

    def view(self) -> Sequence[ChatMessage]:
        """Return the marker, if any, and all later messages, oldest first; do not change them."""
        return self.current.items

    @property
    def current(self) -> LogInView:
        if self._view is None:
            record = self.compactions.last()
            rows = models.Message.objects.filter(
                assistant_id=self.assistant_id, id__gt=record.upto_seq if record else 0
            )
            rows = rows.annotate(turn_askers=F("turn__askers")).order_by("id")
            stored = (message_from_row(row) for row in rows)
            messages = amend(stored, self.amendments.shown)
            self._view = LogInView(record, messages, self.compactions.masked_upto(), self.count)
            self.note_use()
        return self._view

    @property
    def sizes(self) -> TokensByAudience:
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
        view = self._view
        return 0 if view is None else (len(view.items) + len(view.scenes)) * MESSAGE_BYTES

    def unload_view(self) -> None:
        """Free the view's memory; the next use reads it again."""
        if self._view is not None:
            self._sizes, self._view = self._view.sizes, None
        self.lines.refresh()

    def compact(self, record: CompactionRecord) -> CompactionRecord:
        """Store a compaction; returns it with its id. Messages that came meanwhile stay in view."""
        stored = self.compactions.commit(record)
        self._view = self.current.after(stored)
        return stored

    def mask(self, upto_seq: int) -> int:
        """Mask the tool results up to a message; returns how many."""
        view = self.current
        seqs = [message["metadata"]["seq"] for message in filter(is_maskable, view.messages)]
        chosen = [seq for seq in seqs if view.masked_upto < seq <= upto_seq]
        if chosen:
            self.compactions.mask(chosen[0], upto_seq, len(chosen))
            self._view = LogInView(view.record, view.logged, upto_seq, self.count, view.scenes)
        return len(chosen)

    def undo(self) -> CompactionRecord | None:
        undone = self.compactions.undo()
        self.forget_view()
        return undone

    def compaction(self, id: int) -> CompactionRecord | None:
        return self.compactions.read(id)

    def to_archive(self) -> list[tuple[CompactionRecord, bool]]:
        """Return the compactions whose journal entries to write (True) or remove, oldest first."""
        return self.compactions.to_archive()

    def note_archived(self, id: int, archived: bool) -> None:
        """Store whether the journal holds the entries of a compaction."""
        self.compactions.note_archived(id, archived)

    def to_journal(self) -> list[CompactionRecord]:
        """Return the compactions in force whose messages are still to be journalled, in order."""
        return self.compactions.to_journal()

    def note_journalled(self, ids: Sequence[int]) -> None:
        """Store that what some compactions evicted has been journalled."""
        self.compactions.note_journalled(ids)

    def forget_view(self) -> None:
        """Forget all that was read from the tables, since they changed."""
        self._view = self._sizes = None
        self.lines.refresh()
        self.amendments.forget()


MASK = "mask"
# Compactions whose journal entries are still to be written, or withdrawn.
UNSETTLED_ROWS = Q(undone_at=None, archived=False) | Q(undone_at__isnull=False, archived=True)


class TableCompactions:
    """The compactions of one assistant; the latest that is not undone is in force."""

    def __init__(self, assistant_id: int, now: Callable[[], datetime]) -> None:
        self.assistant_id = assistant_id
        self.now = now

    def commit(self, record: CompactionRecord) -> CompactionRecord:
        """Store a compaction in one transaction; returns it with its id and time."""
        copied = {name: getattr(record, name) for name in COPIED}
        plain = {name: dict(getattr(record, name)) for name in PLAIN}
        return record_from_row(self._insert(copied | plain))

    def _insert(self, fields: dict[str, Any]) -> models.Compaction:
        """Store a row, or return the one in force that an earlier try stored unheard."""
        same = {name: fields.pop(name) for name in ("reason", "from_seq", "upto_seq")}
        with brief_transaction(self.assistant_id):
            row, _is_new = self._in_force().get_or_create(
                **same, assistant_id=self.assistant_id, defaults={**fields, "at": self.now()}
            )
        record: models.Compaction = row
        return record

    def mask(self, from_seq: int, upto_seq: int, count: int) -> None:
        """Store a mask: the model sees tool results up to a message as archived."""
        counts = {"original_token_count": 0, "summary_token_count": 0, "compacted_count": count}
        self._insert({"reason": MASK, "from_seq": from_seq, "upto_seq": upto_seq, **counts})

    def last(self) -> CompactionRecord | None:
        """Return the compaction in force, None if there is none."""
        rows = self._in_force().exclude(reason=MASK).order_by("-id")
        return next(map(record_from_row, rows[:1]), None)

    def read(self, id: int) -> CompactionRecord | None:
        """Return a compaction in force, None if it was undone or deleted."""
        return next(map(record_from_row, self._in_force().filter(id=id)), None)

    def masked_upto(self) -> int:
        """Return the number of the last message that masks apply to, 0 without a mask."""
        sums = self._in_force().filter(reason=MASK).aggregate(upto=Max("upto_seq"))
        return int(sums["upto"] or 0)

    def count_over(self, seq: int) -> int:
        """Return how many compactions in force summarised a message, or what came after it."""
        return int(self._in_force().exclude(reason=MASK).filter(upto_seq__gte=seq).count())

    def undo(self) -> CompactionRecord | None:
        """Undo the compaction in force and the later masks; returns it, None if none.

        Raises CannotUndo if retention has deleted messages that this would restore.
        """
        record = self.last()
        if record is None:
            return None
        undone = self._in_force().filter(id__gte=record.id)
        if undone.filter(id=record.id, sealed=True).exists():
            raise CannotUndo(
                "This compaction cannot be undone: retention has deleted the messages before it."
            )
        with brief_transaction(self.assistant_id):
            # Archived, since a crash may have left entries in the journal.
            undone.update(undone_at=self.now(), archived=True)
        return record

    def to_archive(self) -> list[tuple[CompactionRecord, bool]]:
        rows = unsettled().filter(assistant_id=self.assistant_id).order_by("id")
        return [(record_from_row(row), row.undone_at is None) for row in rows]

    def note_archived(self, id: int, archived: bool) -> None:
        with brief_transaction(self.assistant_id):
            models.Compaction.objects.filter(id=id).update(archived=archived)

    def to_journal(self) -> list[CompactionRecord]:
        return [record_from_row(row) for row in self._in_force().filter(unread=True).order_by("id")]

    def note_journalled(self, ids: Sequence[int]) -> None:
        with brief_transaction(self.assistant_id):
            models.Compaction.objects.filter(id__in=ids).update(unread=False)

    def _in_force(self) -> Any:
        return models.Compaction.objects.filter(assistant_id=self.assistant_id, undone_at=None)


def unsettled() -> Any:
    """Return the compactions of all assistants whose journal entries must change."""
    return models.Compaction.objects.filter(UNSETTLED_ROWS).exclude(reason=MASK)


def assistants_to_archive() -> list[int]:
    """Return the ids of the assistants with unsettled compactions, in one query."""
    return sorted(set(of_this_shard(unsettled()).values_list("assistant_id", flat=True)))


PLAIN = ("summary", "speakers", "consulted", "cost")
CHANGED = ("id", "compacted_at", *PLAIN)
COPIED = tuple(item.name for item in fields(CompactionRecord) if item.name not in CHANGED)


def record_from_row(row: models.Compaction) -> CompactionRecord:
    return CompactionRecord(
        id=row.id,
        compacted_at=row.at.isoformat(),
        **{name: getattr(row, name) for name in (*COPIED, *PLAIN)},
    )

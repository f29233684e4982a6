"""A conversation in memory, for tests of the engine without a database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from evennia_ai.messages import Message
from evennia_ai.policy.context.projection import CompactionRecord, View, is_maskable
from evennia_ai.policy.tokens import count_message

Now = Callable[[], datetime]


@dataclass
class StoredMask:
    """Results up to a message are shown masked, since after a compaction's time."""

    upto_seq: int
    undone: bool = False


@dataclass
class StoredCompaction:
    """One compaction, which an undo puts out of force."""

    record: CompactionRecord
    undone: bool = False
    archived: bool = False


class MemoryConversation:
    """An append-only list; ``messages`` and ``moves`` are those that are stored already."""

    def __init__(
        self,
        now: Now,
        messages: list[Message] | None = None,
        moves: list[StoredCompaction | StoredMask] | None = None,
    ) -> None:
        self.now = now
        self.messages: list[Message] = [] if messages is None else messages
        self.moves: list[StoredCompaction | StoredMask] = [] if moves is None else moves

    def append(self, messages: Sequence[Message]) -> list[Message]:
        """Store messages with ``seq``, ``at`` and ``tokens`` filled in."""
        stored = []
        for message in messages:
            copy: Message = {**message, "metadata": dict(message["metadata"])}  # type: ignore[typeddict-item]
            copy["metadata"]["seq"] = len(self.messages) + 1
            copy["metadata"]["at"] = self.now().isoformat()
            copy["metadata"]["tokens"] = count_message(message)
            self.messages.append(copy)
            stored.append(copy)
        return stored

    def view(self) -> Sequence[Message]:
        """The last compaction's marker, if any, and every message after it."""
        return self.current.items

    @property
    def current(self) -> View:
        """The view with its sizes."""
        records = [m.record for m in self._in_force() if isinstance(m, StoredCompaction)]
        record = records[-1] if records else None
        masks = [m.upto_seq for m in self._in_force() if isinstance(m, StoredMask)]
        first = record.upto_seq if record else 0
        messages = [m for m in self.messages if m["metadata"]["seq"] > first]
        return View(record, messages, max(masks, default=0), count_message)

    def _in_force(self) -> list[StoredCompaction | StoredMask]:
        return [move for move in self.moves if not move.undone]

    def compact(self, record: CompactionRecord) -> CompactionRecord:
        """Store a compaction."""
        stored = replace(record, id=len(self.moves) + 1, compacted_at=self.now().isoformat())
        self.moves.append(StoredCompaction(stored))
        return stored

    def mask(self, upto_seq: int) -> int:
        """Show tool results up to a message masked from now on; returns how many these are."""
        view = self.current
        chosen = range(view.masked_upto + 1, upto_seq + 1)
        count = sum(is_maskable(m) and m["metadata"]["seq"] in chosen for m in view.messages)
        if count:
            self.moves.append(StoredMask(upto_seq))
        return count

    def undo(self) -> CompactionRecord | None:
        """Undo the last compaction and the masks after it."""
        records = [m for m in self._in_force() if isinstance(m, StoredCompaction)]
        if not records:
            return None
        for move in self.moves[self.moves.index(records[-1]) :]:
            move.undone = True
            if isinstance(move, StoredCompaction):
                move.archived = True  # it may be, in part
        return records[-1].record

    def to_archive(self) -> list[tuple[CompactionRecord, bool]]:
        """The compactions whose entries in the journal are to be written (True) or taken back."""
        moves = (move for move in self.moves if isinstance(move, StoredCompaction))
        return [(m.record, not m.undone) for m in moves if m.undone == m.archived]

    def note_archived(self, id: int, archived: bool) -> None:
        """Store whether a compaction has its entries in the journal."""
        for move in self.moves:
            if isinstance(move, StoredCompaction) and move.record.id == id:
                move.archived = archived

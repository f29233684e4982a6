"""A conversation in memory, for tests of the engine without a database."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from evennia_ai.messages import Message
from evennia_ai.policy.context.projection import CompactionRecord, Sizes, View, is_maskable
from evennia_ai.policy.tokens import count_message

Now = Callable[[], datetime]


@dataclass
class StoredMask:
    """A mask of the tool results up to a message."""

    upto_seq: int
    undone: bool = False


@dataclass
class StoredCompaction:
    """One compaction; ``archived`` says whether the journal holds its summary."""

    record: CompactionRecord
    undone: bool = False
    archived: bool = False


class MemoryLines:
    """`ports.Lines` over a list of messages; ``vectors`` are the stored ones, by message."""

    refreshes = 0

    def __init__(self, messages: list[Message]) -> None:
        self.messages = messages
        self.vectors: dict[int, tuple[str, bytes]] = {}

    def after(
        self, seq: int, upto: int | None, limit: int, embedder: str
    ) -> list[tuple[Message, bytes | None]]:
        last = math.inf if upto is None else upto
        found = [m for m in self.messages if seq < m["metadata"]["seq"] <= last]
        stored = [self.vectors.get(m["metadata"]["seq"], ("", b"")) for m in found[:limit]]
        return [
            (message, packed if made_by == embedder else None)
            for message, (made_by, packed) in zip(found, stored, strict=False)
        ]

    def before_newest(self, count: int) -> int:
        older = self.messages[:-count]
        return int(older[-1]["metadata"]["seq"]) if older else 0

    def read(self, seqs: Iterable[int]) -> list[Message]:
        wanted = set(seqs)
        return [m for m in self.messages if m["metadata"]["seq"] in wanted]

    def existing(self, seqs: Iterable[int]) -> set[int]:
        return {message["metadata"]["seq"] for message in self.read(seqs)}

    def store_vectors(self, embedder: str, vectors: Mapping[int, bytes]) -> None:
        self.vectors |= {seq: (embedder, packed) for seq, packed in vectors.items()}


class MemoryConversation:
    """`ports.Conversation` in lists; ``messages`` and ``moves`` are the stored ones.

    Moves are compactions and masks, oldest first.
    """

    def __init__(
        self,
        now: Now,
        messages: list[Message] | None = None,
        moves: list[StoredCompaction | StoredMask] | None = None,
    ) -> None:
        self.now = now
        self.messages: list[Message] = [] if messages is None else messages
        self.moves: list[StoredCompaction | StoredMask] = [] if moves is None else moves
        self.lines = MemoryLines(self.messages)

    def append(self, messages: Sequence[Message]) -> list[Message]:
        stored = []
        for message in messages:
            copy: Message = {**message, "metadata": {**message["metadata"]}}
            copy["metadata"]["seq"] = len(self.messages) + 1
            copy["metadata"]["at"] = self.now().isoformat()
            copy["metadata"]["tokens"] = count_message(message)
            self.messages.append(copy)
            stored.append(copy)
        return stored

    def view(self) -> Sequence[Message]:
        return self.current.items

    @property
    def hidden(self) -> Sequence[int]:
        return ()

    @property
    def sizes(self) -> Sizes:
        return self.current.sizes

    def unload_view(self) -> None:
        """Do nothing: the view is made at each use."""

    @property
    def current(self) -> View:
        records = [m.record for m in self._in_force() if isinstance(m, StoredCompaction)]
        record = records[-1] if records else None
        masks = [m.upto_seq for m in self._in_force() if isinstance(m, StoredMask)]
        first = record.upto_seq if record else 0
        messages = [m for m in self.messages if m["metadata"]["seq"] > first]
        return View(record, messages, max(masks, default=0), count_message)

    def _in_force(self) -> list[StoredCompaction | StoredMask]:
        return [move for move in self.moves if not move.undone]

    def compact(self, record: CompactionRecord) -> CompactionRecord:
        stored = replace(record, id=len(self.moves) + 1, compacted_at=self.now().isoformat())
        self.moves.append(StoredCompaction(stored))
        return stored

    def mask(self, upto_seq: int) -> int:
        view = self.current
        chosen = range(view.masked_upto + 1, upto_seq + 1)
        count = sum(is_maskable(m) and m["metadata"]["seq"] in chosen for m in view.messages)
        if count:
            self.moves.append(StoredMask(upto_seq))
        return count

    def undo(self) -> CompactionRecord | None:
        records = [m for m in self._in_force() if isinstance(m, StoredCompaction)]
        if not records:
            return None
        for move in self.moves[self.moves.index(records[-1]) :]:
            move.undone = True
            if isinstance(move, StoredCompaction):
                move.archived = True  # it may be archived in part
        return records[-1].record

    def to_archive(self) -> list[tuple[CompactionRecord, bool]]:
        moves = (move for move in self.moves if isinstance(move, StoredCompaction))
        return [(m.record, not m.undone) for m in moves if m.undone == m.archived]

    def note_archived(self, id: int, archived: bool) -> None:
        for move in self.moves:
            if isinstance(move, StoredCompaction) and move.record.id == id:
                move.archived = archived

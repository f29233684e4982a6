"""Inbox and turns in memory, for tests of the engine without a database.

Lists of rows play the database; other attributes play the memory of a process.
Each operation is a transaction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from evennia_ai.messages import (
    EXCUSE,
    Audience,
    ChatMessage,
    InboxEvent,
    IncomingEvent,
    ToolCallRequest,
)
from evennia_ai.policy.audience import visible
from evennia_ai.policy.context.projection import (
    CompactionRecord,
    LogInView,
    TokensByAudience,
    is_maskable,
)
from evennia_ai.policy.conversation.batching import heard_messages, state_after_loss
from evennia_ai.policy.tool_call_modes.wire_order import count_stored
from evennia_ai.ports import AlsoDo, ModelCallRecord, OpenEvents, TurnRecord


@dataclass
class StoredEvent:
    """One event with its state; ``logged_by`` is the id of the turn that logged it."""

    event: InboxEvent
    state: str
    reason: str = ""
    turn_id: int | None = None
    logged_by: int | None = None


class MemoryInbox:
    """`ports.Inbox` in a list; ``rows`` are the stored events."""

    def __init__(self, now: Now) -> None:
        self.now = now
        self.rows: list[StoredEvent] = []

    def put(self, heard: IncomingEvent) -> int:
        event = InboxEvent(len(self.rows) + 1, self.now(), heard)
        state = "waiting" if heard.addressed else "overheard"
        self.rows.append(StoredEvent(event, state, heard.reason))
        return event.id

    def open_events(self) -> OpenEvents:
        return OpenEvents(tuple(self.in_state("waiting")), tuple(self.in_state("doubtful")))

    def overheard(self) -> Sequence[InboxEvent]:
        return self.in_state("overheard")

    def in_state(self, state: str) -> list[InboxEvent]:
        return [row.event for row in self.rows if row.state == state]

    def times_of_assistants(self, since: datetime) -> list[datetime]:
        return []

    def close(self, event_ids: Sequence[int], state: str, reason: str = "") -> None:
        for row in self.rows:
            if row.event.id in event_ids:
                row.state, row.reason = state, reason


@dataclass
class Act:
    """One tool call: its intent and its outcome."""

    turn_id: int
    call: ToolCallRequest
    world: bool
    at: datetime
    state: str = "intended"
    result: str = ""


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass
class StoredTurn:
    """One turn, open until it has an outcome."""

    record: TurnRecord
    context: str = ""
    outcome: str = ""
    detail: str = ""
    model_calls: list[ModelCallRecord] = field(default_factory=list)
    at: datetime = EPOCH


class MemoryTurns:
    """`ports.Turns` in lists; ``may_go_on`` returns False where a server goes down."""

    def __init__(
        self,
        conversation: MemoryConversation,
        inbox: MemoryInbox,
        may_go_on: Callable[[], bool] = lambda: True,
    ) -> None:
        self.conversation, self.inbox, self.may_go_on = conversation, inbox, may_go_on
        self.turns: list[StoredTurn] = []
        self.acts: list[Act] = []
        self.loose_calls: list[ModelCallRecord] = []
        self.current: int | None = None
        self._lost: int | None = None

    def begin(
        self, events: Sequence[InboxEvent], audience: Audience, private: bool, context: str
    ) -> TurnRecord:
        turn_id = len(self.turns) + 1
        wanted = {event.id for event in events}
        taken = [
            row for row in self.inbox.rows if row.event.id in wanted or row.state == "overheard"
        ]
        overheard = [row.event for row in taken if row.event.id not in wanted]
        logged = {row.logged_by for row in taken if row.logged_by}
        noted = (row for row in self.inbox.rows if row.state == "noted")
        overheard += [row.event for row in noted if row.turn_id in logged]
        self.conversation.append(
            heard_messages((row.event for row in taken if row.logged_by is None), turn_id)
        )
        for row in taken:
            claimed = row.event.id in wanted
            row.state = "claimed" if claimed else "noted"
            row.turn_id = turn_id
            row.logged_by = row.logged_by or turn_id
            if claimed:
                row.event = replace(row.event, attempts=row.event.attempts + 1)
        known = tuple(e for e in overheard if visible(e.heard.confidants, audience))
        retried = {event.id for event in events if event.attempts}
        first_turns = [row.logged_by or turn_id for row in taken if row.event.id in retried]
        acts = self._acts_since(min(first_turns)) if first_turns else ()
        record = TurnRecord(turn_id, audience, private, tuple(events), known, acts)
        self.turns.append(StoredTurn(record, context, at=self.conversation.now()))
        self.current = turn_id
        return record

    def times_of(self, context: str, since: datetime) -> list[datetime]:
        return [turn.at for turn in self.turns if turn.context == context and turn.at >= since]

    def _acts_since(self, turn_id: int) -> tuple[ToolCallRequest, ...]:
        """Return the world acts of interrupted turns, done or possibly done."""
        return tuple(
            act.call
            for act in self.acts
            if act.world
            and act.turn_id >= turn_id
            and act.state in ("done", "unknown")
            and self.turns[act.turn_id - 1].outcome in ("interrupted", "unheard")
        )

    def finish(self, turn_id: int, outcome: str, detail: str = "") -> None:
        self._close(turn_id, outcome, outcome, detail)

    def give_back(self, turn_id: int) -> None:
        self._close(turn_id, "unheard", self._state_after(turn_id))

    def recover(self) -> None:
        if self.current is not None and not self.turns[self.current - 1].outcome:
            self.recover_turn(self.current)
        self.current = None

    def recover_turn(self, turn_id: int) -> None:
        self._close(turn_id, "interrupted", self._state_after(turn_id))

    def _state_after(self, turn_id: int) -> str:
        acts = [(act.call.name, act.state) for act in self.acts if act.turn_id == turn_id]
        return state_after_loss(acts, self.turns[turn_id - 1].context == EXCUSE)

    def _close(self, turn_id: int, outcome: str, event_state: str, detail: str = "") -> None:
        for act in self.acts:
            if act.turn_id == turn_id and act.state == "intended":
                act.state = "unknown"
        turn = self.turns[turn_id - 1]
        turn.outcome, turn.detail = outcome, detail
        for row in self.inbox.rows:
            if row.turn_id == turn_id and row.state == "claimed":
                row.state, row.reason = event_state, detail or row.reason
        if self.current == turn_id:
            self.current = None

    def is_current(self, turn_id: int) -> bool:
        held = self.current == turn_id and self._lost != turn_id
        return held and self.may_go_on()

    def lose_lease(self) -> None:
        self._lost = self.current

    def record_model_call(
        self, turn_id: int | None, call: ModelCallRecord, also: AlsoDo = ()
    ) -> None:
        calls = self.loose_calls if turn_id is None else self.turns[turn_id - 1].model_calls
        calls.append(call)

    def intend(self, turn_id: int, call: ToolCallRequest, world: bool) -> int:
        self.acts.append(Act(turn_id, call, world, self.conversation.now()))
        return len(self.acts)

    def record_outcome(
        self,
        act: int,
        state: str,
        result: str,
        messages: Sequence[ChatMessage] = (),
        locks: str = "",
    ) -> None:
        self.conversation.append(messages)
        self.acts[act - 1].state = state
        self.acts[act - 1].result = result


Now = Callable[[], datetime]


@dataclass
class StoredMove:
    """A compaction, or a mask, which has no record; ``archived``: the journal holds it."""

    upto_seq: int
    record: CompactionRecord | None = None
    undone: bool = False
    archived: bool = False


class MemoryLines:
    """`ports.Lines` over a list of messages; ``vectors`` are the stored ones, by message."""

    refreshes = 0

    def __init__(self, messages: list[ChatMessage]) -> None:
        self.messages = messages
        self.vectors: dict[int, tuple[str, bytes]] = {}

    def after(
        self, seq: int, upto: int | None, limit: int, embedder: str
    ) -> list[tuple[ChatMessage, bytes | None]]:
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

    def read(self, seqs: Iterable[int]) -> list[ChatMessage]:
        wanted = set(seqs)
        return [m for m in self.messages if m["metadata"]["seq"] in wanted]

    def existing(self, seqs: Iterable[int]) -> set[int]:
        return {message["metadata"]["seq"] for message in self.read(seqs)}

    def store_vectors(self, embedder: str, vectors: Mapping[int, bytes]) -> None:
        self.vectors |= {seq: (embedder, packed) for seq, packed in vectors.items()}


class MemoryConversation:
    """`ports.Conversation` in lists; ``moves`` are compactions and masks, in order."""

    def __init__(self, now: Now) -> None:
        self.now = now
        self.messages: list[ChatMessage] = []
        self.moves: list[StoredMove] = []
        self.lines = MemoryLines(self.messages)
        self.scenes: list[ChatMessage] = []

    def show(self, scenes: Sequence[ChatMessage]) -> None:
        self.scenes += scenes

    def append(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        stored = []
        for message in messages:
            copy: ChatMessage = {**message, "metadata": {**message["metadata"]}}
            copy["metadata"]["seq"] = len(self.messages) + 1
            copy["metadata"]["at"] = self.now().isoformat()
            copy["metadata"]["tokens"] = count_stored(message)
            self.messages.append(copy)
            stored.append(copy)
        return stored

    def view(self) -> Sequence[ChatMessage]:
        return self.current.items

    @property
    def sizes(self) -> TokensByAudience:
        return self.current.sizes

    def unload_view(self) -> None:
        """Do nothing: the view is made at each use."""

    @property
    def current(self) -> LogInView:
        record = next((move.record for move in self._compactions()[-1:]), None)
        masks = [m.upto_seq for m in self.moves if not (m.undone or m.record)]
        first = record.upto_seq if record else 0
        messages = [m for m in self.messages if m["metadata"]["seq"] > first]
        return LogInView(record, messages, max(masks, default=0), count_stored, self.scenes)

    def _compactions(self) -> list[StoredMove]:
        return [move for move in self.moves if move.record and not move.undone]

    def compact(self, record: CompactionRecord) -> CompactionRecord:
        stored = replace(record, id=len(self.moves) + 1, compacted_at=self.now().isoformat())
        self.moves.append(StoredMove(stored.upto_seq, stored))
        return stored

    def mask(self, upto_seq: int) -> int:
        view = self.current
        chosen = range(view.masked_upto + 1, upto_seq + 1)
        count = sum(is_maskable(m) and m["metadata"]["seq"] in chosen for m in view.messages)
        if count:
            self.moves.append(StoredMove(upto_seq))
        return count

    def undo(self) -> CompactionRecord | None:
        for last in self._compactions()[-1:]:
            for move in self.moves[self.moves.index(last) :]:
                move.undone = move.archived = True  # it may be archived in part
            return last.record
        return None

    def compaction(self, id: int) -> CompactionRecord | None:
        records = (move.record for move in self._compactions())
        return next((record for record in records if record and record.id == id), None)

    def to_journal(self) -> list[CompactionRecord]:
        records = (move.record for move in self._compactions())
        return [record for record in records if record and record.unread]

    def note_journalled(self, ids: Sequence[int]) -> None:
        for move in self.moves:
            if move.record and move.record.id in ids:
                move.record = replace(move.record, unread=False)

    def to_archive(self) -> list[tuple[CompactionRecord, bool]]:
        return [(m.record, not m.undone) for m in self.moves if m.record and m.undone == m.archived]

    def note_archived(self, id: int, archived: bool) -> None:
        for move in self.moves:
            if move.record and move.record.id == id:
                move.archived = archived

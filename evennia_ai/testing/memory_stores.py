"""The stores in memory, for tests of the engine without a database. Same behaviour, same names.

Lists of rows play the database. What a store keeps beside them plays a process's memory: see
`after_restart`. An operation is a transaction: it is done as a whole or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from twisted.internet.defer import Deferred, succeed

from evennia_ai.messages import (
    Audience,
    Heard,
    InboxEvent,
    Message,
    ToolCallRequest,
    heard_line,
    make_message,
)
from evennia_ai.policy.audience import visible
from evennia_ai.policy.context.projection import CompactionRecord, View, is_maskable
from evennia_ai.policy.conversation.inbox import EXCUSE, state_after_loss
from evennia_ai.policy.records.journal_entry import make_entry, merge_entries, sameness
from evennia_ai.policy.records.provenance import Record, copy_of
from evennia_ai.policy.tokens import count_message
from evennia_ai.ports import ModelCallRecord, OpenEvents, TurnRecord

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


class MemoryJournal:
    """A character's journal; ``entries`` are those that are stored already, by id."""

    def __init__(self, now: Now, entries: dict[str, Record] | None = None) -> None:
        self.now = now
        self.entries: dict[str, Record] = {} if entries is None else entries

    def load(self, put: Callable[..., object]) -> Deferred[None]:
        """Everything is there already."""
        return succeed(None)

    def add(self, content: str, **fields: Any) -> str:
        """Write something down, once for the same ears; returns the entry's id."""
        own_id = fields.pop("id", None)
        if own_id in self.entries:
            return str(own_id)
        entry = make_entry(own_id or f"j{len(self.entries) + 1}", content, self.now(), fields)
        for known in self.entries.values():
            if sameness(known) == sameness(entry):
                self.entries[known["id"]] = merge_entries(known, entry)
                return str(known["id"])
        self.entries[entry["id"]] = entry
        return str(entry["id"])

    def get(self, id: str) -> Record | None:
        """One entry, None where there is none of that id."""
        return copy_of(self.entries[id]) if id in self.entries else None

    def all(self) -> list[Record]:
        """Every entry, oldest first."""
        return [copy_of(entry) for entry in self.entries.values()]

    def remove(self, *ids: str) -> int:
        """Remove entries; returns how many of these there were."""
        return sum(self.entries.pop(known, None) is not None for known in ids)


@dataclass
class StoredEvent:
    """One event with its state; ``logged_by`` is the turn that put it into the conversation."""

    event: InboxEvent
    state: str
    reason: str = ""
    turn_id: int | None = None
    logged_by: int | None = None


class MemoryInbox:
    """A list of events; ``rows`` are those that are stored already."""

    def __init__(self, now: Now, rows: list[StoredEvent] | None = None) -> None:
        self.now = now
        self.rows: list[StoredEvent] = [] if rows is None else rows

    def put(self, heard: Heard) -> int:
        """Store an event."""
        event = InboxEvent(len(self.rows) + 1, self.now(), heard)
        state = "waiting" if heard.addressed else "overheard"
        self.rows.append(StoredEvent(event, state, heard.reason))
        return event.id

    def open_events(self) -> OpenEvents:
        """Everything that has no answer yet."""
        return OpenEvents(tuple(self.in_state("waiting")), tuple(self.in_state("doubtful")))

    def overheard(self) -> Sequence[InboxEvent]:
        """Events for the next turn's log."""
        return self.in_state("overheard")

    def in_state(self, state: str) -> list[InboxEvent]:
        """Events in one state, oldest first."""
        return [row.event for row in self.rows if row.state == state]

    def close(self, event_ids: Sequence[int], state: str, reason: str = "") -> None:
        """End events."""
        for row in self.rows:
            if row.event.id in event_ids:
                row.state, row.reason = state, reason

    def states(self) -> dict[str, str]:
        """The state of every event by its words, for assertions."""
        return {row.event.heard.text: row.state for row in self.rows}


@dataclass
class Act:
    """One intent and its outcome."""

    turn_id: int
    call: ToolCallRequest
    world: bool
    at: datetime
    state: str = "intended"
    result: str = ""


@dataclass
class StoredTurn:
    """One turn, open until it has an outcome; ``epoch`` is the process that began it."""

    record: TurnRecord
    epoch: int = 0
    context: str = ""
    outcome: str = ""
    detail: str = ""
    model_calls: list[ModelCallRecord] = field(default_factory=list)


class MemoryTurns:
    """Lists of turns and acts; ``lease`` False plays a server that goes down."""

    def __init__(
        self,
        conversation: MemoryConversation,
        inbox: MemoryInbox,
        epoch: int = 0,
        may_go_on: Callable[[], bool] = lambda: True,
    ) -> None:
        self.conversation = conversation
        self.inbox = inbox
        self.epoch = epoch
        self.may_go_on = may_go_on
        self.turns: list[StoredTurn] = []
        self.acts: list[Act] = []
        self.loose_calls: list[ModelCallRecord] = []
        self.current: int | None = None
        self.lease = True

    def begin(
        self, events: Sequence[InboxEvent], audience: Audience, private: bool, context: str
    ) -> TurnRecord:
        """Open a turn."""
        turn_id = len(self.turns) + 1
        wanted = {event.id for event in events}
        taken = [
            row for row in self.inbox.rows if row.event.id in wanted or row.state == "overheard"
        ]
        overheard = [row.event for row in taken if row.event.id not in wanted]
        overheard += self._overheard_in({row.logged_by for row in taken if row.logged_by})
        again = [event for event in events if event.attempts]
        self._log([row for row in taken if row.logged_by is None], turn_id)
        for row in taken:
            claimed = row.event.id in wanted
            row.state = "claimed" if claimed else "noted"
            row.turn_id = turn_id
            row.logged_by = row.logged_by or turn_id
            if claimed:
                row.event = replace(row.event, attempts=row.event.attempts + 1)
        known = tuple(e for e in overheard if visible(e.heard.confidants, audience))
        acts = self._acts_since(min(event.at for event in again)) if again else ()
        record = TurnRecord(turn_id, audience, private, tuple(events), known, acts)
        self.turns.append(StoredTurn(record, self.epoch, context))
        self.current = turn_id
        return record

    def _overheard_in(self, turn_ids: set[int]) -> list[InboxEvent]:
        return [r.event for r in self.inbox.rows if r.state == "noted" and r.turn_id in turn_ids]

    def _acts_since(self, since: datetime) -> tuple[ToolCallRequest, ...]:
        """World acts of interrupted turns that were done or may have been."""
        return tuple(
            act.call
            for act in self.acts
            if act.world
            and act.at >= since
            and act.state in ("done", "unknown")
            and self.turns[act.turn_id - 1].outcome in ("interrupted", "unheard")
        )

    def _log(self, rows: Sequence[StoredEvent], turn_id: int) -> None:
        self.conversation.append(
            [
                make_message(
                    "user",
                    heard_line(
                        row.event.heard.kind, row.event.heard.speaker_name, row.event.heard.text
                    ),
                    speaker=row.event.heard.speaker,
                    audience=sorted(row.event.heard.audience),
                    private=row.event.heard.private,
                    event_id=row.event.id,
                    turn_id=turn_id,
                )
                for row in rows
            ]
        )

    def finish(self, turn_id: int, outcome: str, detail: str = "") -> None:
        """Close a turn and its events."""
        self.turns[turn_id - 1].outcome = outcome
        self.turns[turn_id - 1].detail = detail
        for row in self.inbox.rows:
            if row.turn_id == turn_id and row.state == "claimed":
                row.state, row.reason = outcome, detail or row.reason
        self._give_up_acts(turn_id)
        if self.current == turn_id:
            self.current = None

    def give_back(self, turn_id: int) -> None:
        """Close a turn whose answer nobody could hear."""
        self._close(turn_id, "unheard", self._state_after(turn_id))

    def recover(self) -> None:
        """Close the turn that an error left open."""
        if self.current is not None and not self.turns[self.current - 1].outcome:
            self.recover_turn(self.current)
        self.current = None

    def recover_open_turns(self) -> int:
        """Close the turns of processes that are gone; returns their number."""
        gone = [
            number
            for number, turn in enumerate(self.turns, 1)
            if not turn.outcome and turn.epoch != self.epoch
        ]
        for turn_id in gone:
            self.recover_turn(turn_id)
        return len(gone)

    def recover_turn(self, turn_id: int) -> None:
        """Close a turn that came to no end, by what is known of its acts."""
        self._close(turn_id, "interrupted", self._state_after(turn_id))

    def _state_after(self, turn_id: int) -> str:
        acts = [(act.call.name, act.state) for act in self.acts if act.turn_id == turn_id]
        return state_after_loss(acts, self.turns[turn_id - 1].context == EXCUSE)

    def _give_up_acts(self, turn_id: int) -> None:
        for act in self.acts:
            if act.turn_id == turn_id and act.state == "intended":
                act.state = "unknown"

    def _close(self, turn_id: int, outcome: str, event_state: str) -> None:
        self._give_up_acts(turn_id)
        self.turns[turn_id - 1].outcome = outcome
        for row in self.inbox.rows:
            if row.turn_id == turn_id and row.state == "claimed":
                row.state = event_state
        if self.current == turn_id:
            self.current = None

    def is_current(self, turn_id: int) -> bool:
        """True while the turn may act."""
        return self.current == turn_id and self.lease and self.may_go_on()

    def record_model_call(self, turn_id: int | None, call: ModelCallRecord) -> None:
        """Store a model call."""
        calls = self.loose_calls if turn_id is None else self.turns[turn_id - 1].model_calls
        calls.append(call)

    def intend(self, turn_id: int, call: ToolCallRequest, world: bool) -> int:
        """Store an intent."""
        self.acts.append(Act(turn_id, call, world, self.conversation.now()))
        return len(self.acts)

    def record_outcome(
        self, act_id: int, state: str, result: str, messages: Sequence[Message] = ()
    ) -> None:
        """Store an outcome, with what the conversation holds of it."""
        self.conversation.append(messages)
        self.acts[act_id - 1].state = state
        self.acts[act_id - 1].result = result


def after_restart(
    turns: MemoryTurns, now: Now, epoch: int, may_go_on: Callable[[], bool] = lambda: True
) -> MemoryTurns:
    """The same rows as the next process finds them: nothing in memory, no turn its own.

    The new inbox and conversation are the result's ``inbox`` and ``conversation``.
    """
    rows = turns.conversation
    conversation = MemoryConversation(now, rows.messages, rows.moves)
    again = MemoryTurns(conversation, MemoryInbox(now, turns.inbox.rows), epoch, may_go_on)
    again.turns, again.acts, again.loose_calls = turns.turns, turns.acts, turns.loose_calls
    return again

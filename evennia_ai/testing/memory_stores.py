"""Inbox and turns in memory, for tests of the engine without a database.

Lists of rows play the database; other attributes play the memory of a process.
Each operation is a transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from evennia_ai.messages import (
    EXCUSE,
    Audience,
    Heard,
    InboxEvent,
    Message,
    ToolCallRequest,
    heard_message,
)
from evennia_ai.policy.audience import visible
from evennia_ai.policy.conversation.inbox import state_after_loss
from evennia_ai.ports import ModelCallRecord, OpenEvents, TurnRecord
from evennia_ai.testing.memory_conversation import MemoryConversation, Now


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

    def __init__(self, now: Now, rows: list[StoredEvent] | None = None) -> None:
        self.now = now
        self.rows: list[StoredEvent] = [] if rows is None else rows

    def put(self, heard: Heard) -> int:
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

    def states(self) -> dict[str, str]:
        """Return the state of every event by its text, for assertions."""
        return {row.event.heard.text: row.state for row in self.rows}


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
    """One turn, open until it has an outcome; ``epoch`` is the number of its process."""

    record: TurnRecord
    epoch: int = 0
    context: str = ""
    outcome: str = ""
    detail: str = ""
    model_calls: list[ModelCallRecord] = field(default_factory=list)
    at: datetime = EPOCH


class MemoryTurns:
    """`ports.Turns` in lists; ``lease`` False plays a server that goes down."""

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
        overheard += self._overheard_in({row.logged_by for row in taken if row.logged_by})
        self.conversation.append(
            [heard_message(row.event, turn_id) for row in taken if row.logged_by is None]
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
        self.turns.append(StoredTurn(record, self.epoch, context, at=self.conversation.now()))
        self.current = turn_id
        return record

    def times_of(self, context: str, since: datetime) -> list[datetime]:
        return [turn.at for turn in self.turns if turn.context == context and turn.at >= since]

    def _overheard_in(self, turn_ids: set[int]) -> list[InboxEvent]:
        return [r.event for r in self.inbox.rows if r.state == "noted" and r.turn_id in turn_ids]

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
        return held and self.lease and self.may_go_on()

    def lose_lease(self) -> None:
        """End the lease of the open turn."""
        self._lost = self.current

    def record_model_call(self, turn_id: int | None, call: ModelCallRecord) -> None:
        calls = self.loose_calls if turn_id is None else self.turns[turn_id - 1].model_calls
        calls.append(call)

    def intend(self, turn_id: int, call: ToolCallRequest, world: bool) -> int:
        self.acts.append(Act(turn_id, call, world, self.conversation.now()))
        return len(self.acts)

    def record_outcome(
        self, act: int, state: str, result: str, messages: Sequence[Message] = (), locks: str = ""
    ) -> None:
        self.conversation.append(messages)
        self.acts[act - 1].state = state
        self.acts[act - 1].result = result

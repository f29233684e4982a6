"""The stores in memory, for tests of the engine without a database. Same behaviour, same names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from evennia_ai.events import Audience, Heard, InboxEvent
from evennia_ai.messages import Message, ToolCallRequest, make_message
from evennia_ai.policy.audience import visible
from evennia_ai.policy.recovery import state_after_loss
from evennia_ai.policy.tokens import count_message
from evennia_ai.ports import ModelCallRecord, TurnRecord
from evennia_ai.turn.prompt_contexts import heard_line

Now = Callable[[], datetime]


class MemoryConversation:
    """An append-only list."""

    def __init__(self, now: Now) -> None:
        self.now = now
        self.messages: list[Message] = []

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
        """Every message."""
        return self.messages


@dataclass
class StoredEvent:
    """One event with its state."""

    event: InboxEvent
    state: str
    reason: str = ""
    turn_id: int | None = None
    logged: bool = False


class MemoryInbox:
    """A list of events."""

    def __init__(self, now: Now) -> None:
        self.now = now
        self.rows: list[StoredEvent] = []

    def put(self, heard: Heard) -> int:
        """Store an event."""
        event = InboxEvent(len(self.rows) + 1, self.now(), heard)
        state = "waiting" if heard.addressed else "overheard"
        self.rows.append(StoredEvent(event, state, heard.reason))
        return event.id

    def waiting(self) -> Sequence[InboxEvent]:
        """Events that wait for a turn."""
        return self.in_state("waiting")

    def doubtful(self) -> Sequence[InboxEvent]:
        """Events whose answer may have been heard."""
        return self.in_state("doubtful")

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
    state: str = "intended"
    result: str = ""


@dataclass
class StoredTurn:
    """One turn."""

    record: TurnRecord
    outcome: str = ""
    detail: str = ""
    model_calls: list[ModelCallRecord] = field(default_factory=list)


class MemoryTurns:
    """Lists of turns and acts; ``lease`` False plays a server that goes down."""

    def __init__(self, conversation: MemoryConversation, inbox: MemoryInbox) -> None:
        self.conversation = conversation
        self.inbox = inbox
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
        self._log([row for row in taken if not row.logged], turn_id)
        for row in taken:
            claimed = row.event.id in wanted
            row.state = "claimed" if claimed else "noted"
            row.turn_id, row.logged = turn_id, True
            if claimed:
                row.event = replace(row.event, attempts=row.event.attempts + 1)
        again = any(event.attempts for event in events)
        acts = tuple(a.call for a in self.acts if a.world and a.state in ("done", "unknown"))
        known = tuple(e for e in overheard if visible(e.heard.confidants, audience))
        record = TurnRecord(turn_id, audience, private, tuple(events), known, acts if again else ())
        self.turns.append(StoredTurn(record))
        self.current = turn_id
        return record

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
                row.state, row.reason = outcome, detail
        self.current = None

    def give_back(self, turn_id: int) -> None:
        """Close a turn whose answer nobody could hear."""
        self._close(turn_id, "unheard", "waiting")

    def recover(self) -> None:
        """Close the turn that an error left open."""
        if self.current is None:
            return
        acts = [act for act in self.acts if act.turn_id == self.current]
        state = state_after_loss((act.call.name, act.state) for act in acts)
        for act in acts:
            act.state = "unknown" if act.state == "intended" else act.state
        self._close(self.current, "interrupted", state)

    def _close(self, turn_id: int, outcome: str, event_state: str) -> None:
        self.turns[turn_id - 1].outcome = outcome
        for row in self.inbox.rows:
            if row.turn_id == turn_id and row.state == "claimed":
                row.state = event_state
        self.current = None

    def is_current(self, turn_id: int) -> bool:
        """True while the turn may act."""
        return self.current == turn_id and self.lease

    def record_model_call(self, turn_id: int | None, call: ModelCallRecord) -> None:
        """Store a model call."""
        calls = self.loose_calls if turn_id is None else self.turns[turn_id - 1].model_calls
        calls.append(call)

    def intend(self, turn_id: int, call: ToolCallRequest, world: bool) -> int:
        """Store an intent."""
        self.acts.append(Act(turn_id, call, world))
        return len(self.acts)

    def record_outcome(self, act_id: int, state: str, result: str) -> None:
        """Store an outcome."""
        self.acts[act_id - 1].state = state
        self.acts[act_id - 1].result = result

"""One assistant's turns in the database: leases, model calls, tool calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime

from evennia_ai import models
from evennia_ai.messages import (
    EMOTE,
    SPEECH,
    Audience,
    InboxEvent,
    Message,
    ToolCallRequest,
    heard_message,
)
from evennia_ai.policy.audience import visible
from evennia_ai.ports import ModelCallRecord, TurnRecord
from evennia_ai.store.brief_transaction import brief_transaction
from evennia_ai.store.call_records import store_call
from evennia_ai.store.conversation import TableConversation
from evennia_ai.store.inbox import CLAIMED, WAITING, overheard_by
from evennia_ai.store.processes import SingleProcess
from evennia_ai.store.recovery import INTENDED, INTERRUPTED, give_up_acts, recover_turn
from evennia_ai.store.rows import event_from_row
from evennia_ai.store.statements import insert, select, update
from evennia_ai.store.usage import add_use, use_of_call

NOTED = "noted"
# The fields of a call that its row has by the same name.
OF_CALL = tuple(
    item.name
    for item in fields(ModelCallRecord)
    if item.name not in ("usage", "speakers", "prices", "kept")
)
UNHEARD = "unheard"
ANSWERS = ("answered", "excused")  # outcomes of turns and of their events
RETRIED = "retried"  # a builder had the same words answered again
UNANSWERED = (INTERRUPTED, UNHEARD, RETRIED)
MAYBE_DONE = ("done", "unknown")
SPOKEN = (*SPEECH, EMOTE)


class TableTurns:
    """The turns of one assistant, one at a time.

    ``process`` is this server process: a turn is valid in its own process only.
    ``may_go_on`` returns False once no turn may act any more.
    """

    def __init__(
        self,
        assistant_id: int,
        conversation: TableConversation,
        now: Callable[[], datetime],
        process: SingleProcess,
        may_go_on: Callable[[], bool],
    ) -> None:
        self.assistant_id = assistant_id
        self.conversation = conversation
        self.now = now
        self.process = process
        self.may_go_on = may_go_on
        self.current: int | None = None
        self._lost: int | None = None  # the turn whose lease has ended

    def begin(
        self, events: Sequence[InboxEvent], audience: Audience, private: bool, context: str
    ) -> TurnRecord:
        """Open a turn, claim its events, and store these and overheard ones as messages."""
        at = self.now()
        with brief_transaction():
            self.process.fence()
            turn = models.Turn(
                assistant_id=self.assistant_id,
                at=at,
                epoch=self.process.epoch,
                context=context,
                audience=sorted(audience),
                private=private,
            )
            insert(turn)
            overheard = self._take_overheard(turn.id)
            again = [event for event in events if event.attempts]
            first_turns = self._first_turns(again)
            self._claim(events, turn.id)
            rows = self._log_heard([*events, *overheard], first_turns, turn.id)
        self.conversation.extend_view(rows)
        self.current = turn.id
        overheard += self._overheard_in(set(first_turns.values()))
        known = tuple(e for e in overheard if visible(e.heard.confidants, audience))
        earlier = list(filter(None, first_turns.values()))
        acts = self._acts_since(min(earlier)) if earlier else ()
        return TurnRecord(turn.id, audience, private, tuple(events), known, acts)

    def _first_turns(self, events: Sequence[InboxEvent]) -> dict[int, int]:
        """Return the turn that first logged each retried event, by event id."""
        if not events:
            return {}
        rows = models.Message.objects.filter(event_id__in=[event.id for event in events])
        return dict(rows.values_list("event_id", "turn_id"))

    def _overheard_in(self, turn_ids: set[int]) -> list[InboxEvent]:
        """Return what earlier attempts overheard; a retry answers it too."""
        if not turn_ids:
            return []
        rows = select(models.Event, turn_id=tuple(turn_ids), state=NOTED)
        return [event_from_row(row) for row in rows]

    def _acts_since(self, turn_id: int) -> tuple[ToolCallRequest, ...]:
        """Return the world acts of unanswered turns that were done, or may have been.

        ``turn_id`` is the first turn to look at. Times would not do: the clock may be set back.
        """
        rows = models.ToolCall.objects.filter(
            assistant_id=self.assistant_id,
            turn_id__gte=turn_id,
            world=True,
            state__in=MAYBE_DONE,
            turn__outcome__in=UNANSWERED,
        ).exclude(turn__outcome=RETRIED, name__in=SPOKEN)  # a builder wants other words
        return tuple(ToolCallRequest(r.call_id, r.name, r.arguments) for r in rows.order_by("id"))

    def _take_overheard(self, turn_id: int) -> list[InboxEvent]:
        events = overheard_by(self.assistant_id)
        if events:  # not all rows: another process may store one meanwhile
            taken = models.Event.objects.filter(id__in=[event.id for event in events])
            taken.update(state=NOTED, turn_id=turn_id)
        return events

    def _claim(self, events: Sequence[InboxEvent], turn_id: int) -> None:
        for event in events:
            claimed = {"state": CLAIMED, "turn_id": turn_id, "attempts": event.attempts + 1}
            update(models.Event, {"id": event.id}, **claimed)

    def _log_heard(
        self, events: Sequence[InboxEvent], logged: Mapping[int, int], turn_id: int
    ) -> list[models.Message]:
        """Store messages for events that have none yet; a retried event has one already."""
        new = sorted((e for e in events if e.id not in logged), key=lambda event: event.id)
        return self.conversation.insert([heard_message(event, turn_id) for event in new])

    def last_answered(self) -> models.Turn | None:
        """Return the newest turn that answered somebody, None if there is none."""
        rows = models.Turn.objects.filter(assistant_id=self.assistant_id, outcome__in=ANSWERS)
        found: models.Turn | None = rows.order_by("-id").first()
        return found

    def ask_again(self, turn: models.Turn) -> None:
        """Let the words that a turn answered wait again, in the caller's transaction.

        As after a crash, its acts are not done again, except for speech.
        """
        models.Turn.objects.filter(id=turn.id).update(outcome=RETRIED)
        turn.events.filter(state__in=ANSWERS).update(state=WAITING, attempts=1)

    def count_after(self, turn_id: int) -> int:
        """Return how many turns ended after one."""
        rows = models.Turn.objects.filter(assistant_id=self.assistant_id, id__gt=turn_id)
        return int(rows.exclude(ended_at=None).count())

    def newest(self) -> int:
        """Return the id of the newest turn, 0 without one."""
        rows = models.Turn.objects.filter(assistant_id=self.assistant_id)
        return int(rows.order_by("-id").values_list("id", flat=True).first() or 0)

    def finish(self, turn_id: int, outcome: str, detail: str = "") -> None:
        """Close a turn and its events in one transaction."""
        with brief_transaction():
            self.process.fence(turn_id)
            ended = {"ended_at": self.now(), "outcome": outcome, "detail": detail}
            update(models.Turn, {"id": turn_id}, **ended)
            reason = {"reason": detail} if detail else {}
            claimed = {"turn_id": turn_id, "state": CLAIMED}
            update(models.Event, claimed, state=outcome, **reason)
            give_up_acts(turn_id, self.now())
        if self.current == turn_id:
            self.current = None

    def waiting_speakers(self) -> list[str]:
        """Return the speakers whom the open turn must answer."""
        rows = models.Event.objects.filter(turn_id=self.current, state=CLAIMED)
        return list(rows.order_by("id").values_list("speaker", flat=True).distinct())

    def give_back(self, turn_id: int) -> None:
        """Close a turn whose answer nobody could hear, and return its events.

        They wait again, or are doubtful if something may have been said.
        """
        for turn in models.Turn.objects.filter(id=turn_id):
            recover_turn(turn, self.now(), UNHEARD)
        self.current = None

    def recover(self) -> None:
        """Close the turn that an error left open, if any, as `recover_turn` does."""
        if self.current is not None:
            for turn in models.Turn.objects.filter(id=self.current, ended_at=None):
                recover_turn(turn, self.now())
            self.current = None

    def times_of(self, context: str, since: datetime) -> list[datetime]:
        """Return the start times of the turns of one context since a time, oldest first."""
        rows = models.Turn.objects.filter(
            assistant_id=self.assistant_id, context=context, at__gte=since
        )
        return list(rows.order_by("id").values_list("at", flat=True))

    def is_current(self, turn_id: int) -> bool:
        """Return True while this process holds the lease of a turn."""
        return self.current == turn_id and self._lost != turn_id and self.may_go_on()

    def lose_lease(self) -> None:
        """End the lease of the open turn; `recover` closes the turn later."""
        self._lost = self.current

    def record_model_call(self, turn_id: int | None, call: ModelCallRecord) -> None:
        """Store a model call and add it to the daily sums."""
        at, use = self.now(), use_of_call(call)
        fields = {name: getattr(call, name) for name in OF_CALL}
        fields["money"] = None if call.prices is None else use.money
        usage = asdict(call.usage) if call.usage else {}
        with brief_transaction():
            row = models.ModelCall(
                assistant_id=self.assistant_id, turn_id=turn_id, at=at, **fields, **usage
            )
            insert(row)
            add_use(self.assistant_id, at.date(), call.profile, use, call.speakers)
            if call.kept is not None:
                store_call(row, call.kept)

    def intend(self, turn_id: int, call: ToolCallRequest, world: bool) -> int:
        """Store the intent of a tool call; returns its id."""
        with brief_transaction():
            self.process.fence(turn_id)
            row = models.ToolCall(
                assistant_id=self.assistant_id,
                turn_id=turn_id,
                at=self.now(),
                call_id=call.id,
                name=call.name,
                arguments=call.arguments,
                world=world,
                state=INTENDED,
            )
            insert(row)
        return int(row.id)

    def record_outcome(
        self, act: int, state: str, result: str, messages: Sequence[Message] = (), locks: str = ""
    ) -> None:
        """Store a tool call's outcome and messages; nothing if the assistant was deleted."""
        with brief_transaction():
            ended = {"state": state, "result": result, "locks": locks, "ended_at": self.now()}
            kept = update(models.ToolCall, {"id": act}, **ended)
            rows = self.conversation.insert(messages) if kept else []
        self.conversation.extend_view(rows)

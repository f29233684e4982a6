"""Storing turns and sleep passes: a row at the start of each, completed at its end."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from datetime import datetime
from functools import partial
from typing import Any

from django.db.models import Max

from evennia_ai import models
from evennia_ai.messages import (
    EMOTE,
    EXCUSE,
    SPEECH,
    Audience,
    ChatMessage,
    InboxEvent,
    ToolCallRequest,
)
from evennia_ai.policy.audience import visible
from evennia_ai.policy.conversation.batching import askers_of, heard_messages, state_after_loss
from evennia_ai.policy.records.record import people_field
from evennia_ai.policy.sleep_schedule import DONE, split_result
from evennia_ai.ports import AlsoDo, ModelCallRecord, TurnRecord
from evennia_ai.store.call_records import add_to, store_call, use_of_call
from evennia_ai.store.conversation import TableConversation
from evennia_ai.store.inbox import CLAIMED, OWED, WAITING, overheard_by
from evennia_ai.store.rows import event_from_row
from evennia_ai.store.server_lock import ensure_here, of_this_shard
from evennia_ai.store.transactions import brief_transaction, call_added, store_errors, write_with

NOTED = "noted"
ANSWERS = ("answered", "excused")  # outcomes of turns and of their events
INTERRUPTED = "interrupted"
UNHEARD = "unheard"
RETRIED = "retried"  # a builder had the same words answered again
UNANSWERED = (INTERRUPTED, UNHEARD, RETRIED)
INTENDED = "intended"
MAYBE_DONE = ("done", "unknown")
UNKNOWN_RESULT = "outcome unknown: it was interrupted"
SPOKEN = (*SPEECH, EMOTE)
# The fields of a model call that its row has by the same name.
OF_CALL = tuple(
    item.name
    for item in fields(ModelCallRecord)
    if item.name not in ("usage", "speakers", "unpaid_share", "prices", "kept")
)


class TableTurns:
    """The turns of one assistant, one at a time, while ``may_go_on`` returns True."""

    def __init__(
        self,
        assistant_id: int,
        conversation: TableConversation,
        now: Callable[[], datetime],
        may_go_on: Callable[[], bool],
    ) -> None:
        self.assistant_id = assistant_id
        self.conversation = conversation
        self.now = now
        self.may_go_on = may_go_on
        self.current: int | None = None
        self._lost: int | None = None  # the turn whose lease has ended
        self._is_in_doubt = True  # a turn may be open that an earlier process or write left so
        self._unheard = set[str]()  # calls of models and tools of which the same holds
        self._running = set[int]()  # acts without an outcome

    @property
    def _rows(self) -> Any:
        return models.Turn.objects.filter(assistant_id=self.assistant_id)

    def begin(
        self, events: Sequence[InboxEvent], audience: Audience, private: bool, context: str
    ) -> TurnRecord:
        """Open a turn, claim its events, and store these and overheard ones as messages."""
        if self._is_in_doubt:
            with store_errors():
                self.recover()
                known = models.Event.objects.filter(id__in=[event.id for event in events])
                events = [event_from_row(row) for row in known.order_by("id")]
        with self._transaction():
            turn = models.Turn.objects.create(
                assistant_id=self.assistant_id,
                at=self.now(),
                context=context,
                audience=sorted(audience),
                askers=people_field(askers_of(events)),
                private=private,
            )
            overheard = overheard_by(self.assistant_id)
            taken = models.Event.objects.filter(id__in=[event.id for event in overheard])
            taken.update(state=NOTED, turn_id=turn.id)
            first_turns = self._first_turns([event for event in events if event.attempts])
            for event in events:
                claimed = models.Event.objects.filter(id=event.id)
                claimed.update(state=CLAIMED, turn_id=turn.id, attempts=event.attempts + 1)
            new = [event for event in (*events, *overheard) if event.id not in first_turns]
            new.sort(key=lambda event: event.id)
            rows = self.conversation.insert(heard_messages(new, turn.id))
            for row in rows:
                row.turn_askers = turn.askers
        self.conversation.extend_view(rows)
        self.current = turn.id
        overheard += self._overheard_in(set(first_turns.values()))
        known = tuple(e for e in overheard if visible(e.heard.confidants, audience))
        earlier = list(filter(None, first_turns.values()))
        acts = self._acts_since(min(earlier)) if earlier else ()
        return TurnRecord(turn.id, audience, private, tuple(events), known, acts)

    @contextmanager
    def _transaction(self) -> Generator[None]:
        """Run one transaction; after an error its commit may have succeeded unheard."""
        self._is_in_doubt = True
        with brief_transaction(self.assistant_id):
            yield
        self._is_in_doubt = False

    @contextmanager
    def _once(self, name: str) -> Generator[bool]:
        """Run a write that is tried again after an error; gives True if it may be stored."""
        is_tried = name in self._unheard
        self._unheard.add(name)
        yield is_tried
        self._unheard.remove(name)

    def _first_turns(self, events: Sequence[InboxEvent]) -> dict[int, int]:
        """Return the turn that first logged each retried event, by event id."""
        rows = models.Message.objects.filter(event_id__in=[event.id for event in events])
        return dict(rows.values_list("event_id", "turn_id"))

    def _overheard_in(self, turn_ids: set[int]) -> list[InboxEvent]:
        """Return what earlier attempts overheard; a retry answers it too."""
        rows = models.Event.objects.filter(turn_id__in=turn_ids, state=NOTED)
        return [event_from_row(row) for row in rows.order_by("id")]

    def _acts_since(self, turn_id: int) -> tuple[ToolCallRequest, ...]:
        """Return the world acts of unanswered turns, from one on, that may have been done."""
        # By ids, not by times: the clock may be set back.
        rows = models.ToolCall.objects.filter(
            assistant_id=self.assistant_id,
            turn_id__gte=turn_id,
            world=True,
            state__in=MAYBE_DONE,
            turn__outcome__in=UNANSWERED,
        ).exclude(turn__outcome=RETRIED, name__in=SPOKEN)  # a builder wants other words
        return tuple(ToolCallRequest(r.call_id, r.name, r.arguments) for r in rows.order_by("id"))

    def finish(self, turn_id: int, outcome: str, detail: str = "") -> None:
        """Close a turn and its events in one transaction."""
        now, reason = self.now(), {"reason": detail} if detail else {}
        with brief_transaction(self.assistant_id):
            turns = models.Turn.objects.filter(id=turn_id)
            turns.update(ended_at=now, outcome=outcome, detail=detail)
            claimed = models.Event.objects.filter(turn_id=turn_id, state=CLAIMED)
            claimed.update(state=outcome, **reason)
            if self._running or self._unheard:  # the row of an unheard intent may be there
                give_up_acts(turn_id, now)
        if self.current == turn_id:
            self.current = None

    def give_back(self, turn_id: int) -> None:
        """Close a turn whose answer nobody could hear; its events wait again, or are doubtful."""
        recover_turn(turn_id, self.now(), UNHEARD)
        self.current = None

    def recover(self) -> None:
        """Close the turn that an error left open, or that began unheard, as `recover_turn` does."""
        if self._is_in_doubt or self.current is not None:
            for turn_id in self._rows.filter(ended_at=None).values_list("id", flat=True):
                recover_turn(turn_id, self.now())
            self.current = None
        if self._is_in_doubt:
            self.conversation.forget_view()  # it may lack what was stored
            self._is_in_doubt = False

    def is_current(self, turn_id: int) -> bool:
        """Return True while this process holds the lease of a turn.

        The lease is the right to go on with the turn that this process began: it ends when the turn
        closes, and at once when somebody puppets the character or the assistant is stopped.
        """
        return self.current == turn_id and self._lost != turn_id and self.may_go_on()

    def lose_lease(self) -> None:
        """End the lease of the open turn; `recover` closes the turn later."""
        self._lost = self.current

    def record_model_call(
        self, turn_id: int | None, call: ModelCallRecord, also: AlsoDo = ()
    ) -> None:
        """Store a model call, once, and add it to the daily sums.

        ``also`` is called in the transaction with its time; work that fails is left out.
        """
        write_with(partial(self._store_model_call, turn_id, call), also)

    def _store_model_call(self, turn_id: int | None, call: ModelCallRecord, also: AlsoDo) -> None:
        at, use = self.now(), use_of_call(call)
        copied = {name: getattr(call, name) for name in OF_CALL}
        copied["money"] = None if call.prices is None else use.money
        usage = asdict(call.usage) if call.usage else {}
        with self._once(call.token) as is_tried, brief_transaction(self.assistant_id):
            calls = models.ModelCall.objects.filter(assistant_id=self.assistant_id)
            if is_tried and calls.filter(token=call.token).exists():
                return
            row = calls.create(
                assistant_id=self.assistant_id, turn_id=turn_id, at=at, **copied, **usage
            )
            if use.calls:
                key = {"assistant_id": self.assistant_id, "day": at.date(), "profile": call.profile}
                add_to(models.DailyUse, key, vars(use))
            if call.kept is not None:
                store_call(row, call.kept)
            for work in also:
                call_added(work, at)

    def intend(self, turn_id: int, call: ToolCallRequest, world: bool) -> int:
        """Store the intent of a tool call, once; returns its id."""
        key = {"assistant_id": self.assistant_id, "turn_id": turn_id, "call_id": call.id}
        fields = {"name": call.name, "arguments": call.arguments, "world": world}
        with (
            self._once(f"{turn_id} {call.id}") as is_tried,
            brief_transaction(self.assistant_id, is_one_statement=not is_tried),
        ):
            rows = models.ToolCall.objects.filter(**key, state=INTENDED)
            row = (rows.first() if is_tried else None) or models.ToolCall.objects.create(
                **key, **fields, state=INTENDED, at=self.now()
            )
        self._running.add(row.id)
        return int(row.id)

    def record_outcome(
        self,
        act: int,
        state: str,
        result: str,
        messages: Sequence[ChatMessage] = (),
        locks: str = "",
    ) -> None:
        """Store a tool call's outcome and messages, once; nothing for a deleted assistant."""
        outcome = {"state": state, "result": result, "locks": locks}
        with self._transaction():
            acts = models.ToolCall.objects.filter(id=act).exclude(**outcome)
            is_new = acts.update(**outcome, ended_at=self.now())
            rows = self.conversation.insert(messages) if is_new else []
        self._running.discard(act)
        self.conversation.extend_view(rows)
        if not is_new:
            self.conversation.forget_view()  # an earlier try stored the messages

    def times_of(self, context: str, since: datetime) -> list[datetime]:
        """Return the start times of one context's turns, oldest first; raises StoreUnavailable."""
        rows = self._rows.filter(context=context, at__gte=since).order_by("id")
        with store_errors():
            return list(rows.values_list("at", flat=True))

    def waiting_speakers(self) -> list[str]:
        """Return the speakers whom the open turn must answer."""
        rows = models.Event.objects.filter(turn_id=self.current, state=CLAIMED)
        return list(rows.order_by("id").values_list("speaker", flat=True).distinct())

    def newest(self) -> int:
        """Return the id of the newest turn, 0 without one."""
        return int(self._rows.order_by("-id").values_list("id", flat=True).first() or 0)

    def count_after(self, turn_id: int) -> int:
        """Return how many turns ended after one."""
        return int(self._rows.filter(id__gt=turn_id).exclude(ended_at=None).count())

    def last_answered(self) -> models.Turn | None:
        """Return the newest turn that answered somebody, None if there is none."""
        rows = self._rows.filter(outcome__in=ANSWERS).order_by("-id")
        return next(iter(rows[:1]), None)

    def ask_again(self, turn: models.Turn) -> None:
        """Let the words that a turn answered wait again; of its acts only speech is done again."""
        models.Turn.objects.filter(id=turn.id).update(outcome=RETRIED)
        turn.events.filter(state__in=ANSWERS).update(state=WAITING, attempts=1)


def recover_turn(turn_id: int, now: datetime, outcome: str = INTERRUPTED) -> None:
    """Close a turn, if it is still open, in one transaction.

    Its intents without an outcome become unknown; its events become answered, doubtful or waiting.
    """
    rows = models.Turn.objects.filter(id=turn_id)
    with brief_transaction():
        if not rows.filter(ended_at=None).update(ended_at=now, outcome=outcome):
            return
        (turn,) = rows
        ensure_here([turn.assistant_id])
        acts = turn.tool_calls.values_list("name", "state")
        state = state_after_loss(acts, was_doubtful=turn.context == EXCUSE)
        give_up_acts(turn_id, now)
        turn.events.filter(state=CLAIMED).update(state=state)


def mark_turn(turn_id: int, mark: str, comment: str, by: str) -> None:
    """Store a mark and a comment of staff in place of those before; raises StoreUnavailable."""
    with brief_transaction():
        rows = models.Turn.objects.filter(id=turn_id)
        rows.update(mark=mark, comment=comment, marked_by=by)


def give_up_acts(turn_id: int, now: datetime) -> None:
    """Mark the running tool calls of a closed turn as unknown, until they end."""
    acts = models.ToolCall.objects.filter(turn_id=turn_id, state=INTENDED)
    acts.update(state="unknown", result=UNKNOWN_RESULT, ended_at=now)


def open_turns() -> list[int]:
    """Return the ids of all open turns, oldest first."""
    rows = models.Turn.objects.filter(ended_at=None).order_by("id")
    return list(of_this_shard(rows).values_list("id", flat=True))


def assistants_with_work() -> list[int]:
    """Return the ids of the assistants with unanswered events, in one query."""
    rows = models.Event.objects.filter(state__in=OWED).order_by("assistant_id")
    return list(of_this_shard(rows).values_list("assistant_id", flat=True).distinct())


AFTER = "after_call"


def begin_pass(assistant_id: int, at: datetime, reason: str) -> int:
    """Store the start of a pass, and the last model call before it; returns the pass's number."""
    with brief_transaction(assistant_id):
        calls = models.ModelCall.objects.filter(assistant_id=assistant_id)
        cost = {AFTER: calls.aggregate(last=Max("id"))["last"] or 0}
        row, _is_new = models.SleepPass.objects.get_or_create(
            assistant_id=assistant_id, at=at, reason=reason, defaults={"cost": cost}
        )
    return int(row.id)


def end_pass(
    pass_id: int, at: datetime, outcome: str, results: Mapping[str, Mapping[str, Any]]
) -> None:
    """Store the outcome and the cost of a pass; raises StoreUnavailable."""
    split = {name: split_result(result) for name, result in results.items()}
    with brief_transaction():
        rows = models.SleepPass.objects.filter(id=pass_id)
        row = rows.values("assistant_id", "cost").first()
        if row is None:  # its assistant was deleted, or retention deleted the row
            return
        ensure_here([row["assistant_id"]])
        rows.update(
            ended_at=at,
            outcome=outcome,
            results={name: figures for name, (figures, _error) in split.items()},
            errors={name: error for name, (_figures, error) in split.items() if error},
            cost=cost_since(row["assistant_id"], row["cost"].get(AFTER, 0)),
        )


def open_passes() -> list[int]:
    """Return the ids of all sleep passes without an end, oldest first."""
    rows = models.SleepPass.objects.filter(ended_at=None).order_by("id")
    return list(of_this_shard(rows).values_list("id", flat=True))


def recover_pass(pass_id: int) -> None:
    """Close a sleep pass that a crash interrupted, at its last model call."""
    row = models.SleepPass.objects.filter(id=pass_id).first()
    if row is not None:
        calls = models.ModelCall.objects.filter(
            assistant_id=row.assistant_id, id__gt=row.cost.get(AFTER, 0)
        )
        last_at = calls.aggregate(last=Max("at"))["last"] or row.at
        end_pass(pass_id, max(row.at, last_at), INTERRUPTED, {})


def has_unsorted_talk(assistant_id: int) -> bool:
    """Return True if an assistant's newest message came after its last whole pass began."""
    passes = models.SleepPass.objects.filter(assistant_id=assistant_id, outcome=DONE)
    messages = models.Message.objects.filter(assistant_id=assistant_id)
    slept_at, talked_at = (
        rows.order_by("-id").values_list("at", flat=True).first() for rows in (passes, messages)
    )
    return talked_at is not None and (slept_at is None or slept_at < talked_at)


def cost_since(assistant_id: int, call_id: int) -> dict[str, int]:
    """Return number and tokens of an assistant's model calls after a given one.

    An assistant does one thing at a time, so that all of these calls belong to the pass.
    """
    calls = models.ModelCall.objects.filter(assistant_id=assistant_id, id__gt=call_id)
    calls = calls.exclude(prompt_tokens=0)
    counted = list(calls.values_list("estimated_tokens", "prompt_tokens", "completion_tokens"))
    return {
        "calls": len(counted),
        "prompt_tokens": sum(guess if sent is None else sent for guess, sent, _ in counted),
        "completion_tokens": sum(received or 0 for *_, received in counted),
    }

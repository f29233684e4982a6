"""Read our tables and the journal into the rows that `tests.invariants` judges."""

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import evennia_ai.store.segments  # noqa: F401  # stores the records
from evennia_ai.models import Compaction, Event, Message, ToolCall, Turn
from evennia_ai.ports.journal import Journal
from evennia_ai.store.conversation import MASK, record_from_row
from evennia_ai.turn.prompt_contexts import CONTEXT_PRE_COMPACTION
from tests.crash.child_life import DBREFS, Body
from tests.invariants import (
    ActRow,
    CompactionRow,
    Deed,
    EntryRow,
    EventRow,
    Evidence,
    MessageRow,
    Put,
    RequestRow,
    TurnRow,
)
from tests.simulation.play import MINDS, PLAYERS
from tests.simulation.rows import entry_row, memories_in, parts_of, secret_of
from tests.simulation.world import TOOLS

Facts = dict[str, list[Any]]


def read_journal(path: Path) -> Facts:
    """Return the facts by their kind."""
    facts: Facts = defaultdict(list)
    for line in path.read_text().splitlines():
        kind, fact = json.loads(line)
        facts[kind].append(fact)
    return facts


def gather(facts: Facts) -> Evidence:
    """Return all rows to judge."""
    return Evidence(
        puts=[Put(**fact) for fact in facts["put"]],
        events=event_rows(),
        turns=turn_rows(facts),
        acts=act_rows(),
        messages=message_rows(),
        deeds=[plain(Deed, fact) for fact in facts["deed"]],
        requests=[plain(RequestRow, fact) for fact in facts["request"]],
        compactions=compaction_rows(),
        entries=entry_rows(),
    )


def plain(kind: Any, fact: dict[str, Any]) -> Any:
    """Return a row from its JSON form."""
    values = {
        name: frozenset(value) if name in ("audience", "heard_by") and value is not None else value
        for name, value in fact.items()
    }
    return kind(**values)


def event_rows() -> list[EventRow]:
    """Return the events; a whisper of a player is a secret."""
    return [
        EventRow(
            assistant=DBREFS[row.assistant_id],
            id=row.id,
            text=row.text,
            state=row.state,
            reason=row.reason,
            turn_id=row.turn_id,
            secret=secret_of(row.text, row.private and row.speaker in PLAYERS),
            audience=frozenset(row.audience),
        )
        for row in Event.objects.order_by("id")
    ]


def turn_rows(facts: Facts) -> list[TurnRow]:
    """Return the turns with their events.

    The journal has the events and the process of earlier turns. The events of the latest are in the
    inbox, even if the kill came before the journal.
    """
    events = {fact["turn"]: tuple(fact["events"]) for fact in facts["turn"]}
    epochs = {fact["turn"]: fact["epoch"] for fact in facts["turn"]}
    taken = defaultdict(list)
    for event_id, turn_id in Event.objects.exclude(turn=None).values_list("id", "turn_id"):
        taken[turn_id].append(event_id)
    return [
        TurnRow(
            assistant=DBREFS[row.assistant_id],
            id=row.id,
            epoch=max((n for turn, n in epochs.items() if turn <= row.id), default=0),
            events=events.get(row.id, tuple(taken[row.id])),
            began=row.at.timestamp(),
            ended=row.ended_at.timestamp() if row.ended_at else None,
            outcome=row.outcome,
        )
        for row in Turn.objects.order_by("id")
    ]


def act_rows() -> list[ActRow]:
    """Return the intents with their outcomes."""
    return [
        ActRow(
            assistant=DBREFS[row.assistant_id],
            turn_id=row.turn_id,
            call_id=row.call_id,
            name=row.name,
            arguments=row.arguments,
            world=row.world and row.name in TOOLS,
            state=row.state,
            safe_to_retry=row.name in TOOLS and TOOLS[row.name].safe_to_retry,
            moment=row.at.timestamp(),
            logged=row.turn.context != CONTEXT_PRE_COMPACTION.name,
        )
        for row in ToolCall.objects.select_related("turn").order_by("id")
    ]


def message_rows() -> list[MessageRow]:
    """Return the messages."""
    return [
        MessageRow(
            assistant=DBREFS[row.assistant_id],
            seq=row.id,
            role=row.role,
            content=row.content,
            event_id=row.event_id,
            turn_id=row.turn_id,
            private=row.private,
            audience=frozenset(row.audience),
            calls=tuple(call["id"] for call in row.tool_calls),
            call_id=row.tool_call_id,
            moment=row.at.timestamp(),
        )
        for row in Message.objects.order_by("id")
    ]


def compaction_rows() -> list[CompactionRow]:
    """Return the compactions."""
    return [
        CompactionRow(
            assistant=DBREFS[row.assistant_id],
            id=row.id,
            from_seq=row.from_seq,
            upto_seq=row.upto_seq,
            undone=row.undone_at is not None,
            count=row.compacted_count,
            parts=parts_of(record_from_row(row)),
            memories=memories_in(record_from_row(row)),
        )
        for row in Compaction.objects.exclude(reason=MASK).order_by("id")
    ]


def entry_rows() -> list[EntryRow]:
    """Return the journal entries of all characters."""
    return [entry_row(dbref, entry) for dbref in MINDS for entry in Journal(Body(dbref)).all()]


def kills(facts: Facts) -> Counter[str]:
    """Return the moments at which processes were killed."""
    return Counter(facts["killed"])

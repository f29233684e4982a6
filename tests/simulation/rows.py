"""Read the simulated game's stores into the rows that `tests.invariants` judges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evennia_ai.messages import EXCUSE, ChatMessage, is_excuse
from evennia_ai.policy.compaction.restored_context import TITLE, is_memory
from evennia_ai.policy.context.projection import CompactionRecord, is_marker
from evennia_ai.policy.records.record import Record
from evennia_ai.turn.prompt_contexts import CONTEXT_PRE_COMPACTION
from tests.invariants import (
    ActRow,
    CompactionRow,
    EntryRow,
    EventRow,
    Evidence,
    MessageRow,
    TurnRow,
    ViewRow,
)
from tests.simulation.model import TOKEN
from tests.simulation.world import TOOLS

if TYPE_CHECKING:
    from tests.simulation.schedule import Simulation


def gather(sim: Simulation) -> Evidence:
    """Return all rows to judge."""
    return Evidence(
        puts=sim.puts,
        events=event_rows(sim),
        turns=turn_rows(sim),
        acts=act_rows(sim),
        messages=message_rows(sim),
        deeds=sim.deeds,
        requests=sim.requests,
        compactions=compaction_rows(sim),
        views=[view_row(dbref, stores.conversation.view()) for dbref, stores in sim.stores.items()],
        entries=[
            entry_row(dbref, entry)
            for dbref, book in sim.notebooks.items()
            for segment in book.values()
            for entry in segment.records.values()
        ],
    )


def event_rows(sim: Simulation) -> list[EventRow]:
    """Return the events; a whisper of a player is a secret."""
    return [
        EventRow(
            assistant=dbref,
            id=row.event.id,
            text=row.event.heard.text,
            state=row.state,
            reason=row.reason,
            turn_id=row.turn_id,
            secret=secret_of(
                row.event.heard.text,
                row.event.heard.private and row.event.heard.speaker in sim.players,
            ),
            audience=row.event.heard.audience,
        )
        for dbref, stores in sim.stores.items()
        for row in stores.inbox.rows
    ]


def secret_of(text: str, private: bool) -> str:
    """Return the secret part of some words; empty if they were not private."""
    token = TOKEN.search(text)
    return token[0] if token and private else ""


def turn_rows(sim: Simulation) -> list[TurnRow]:
    """Return the turns, with the moments of their stored begin and end."""
    return [
        TurnRow(
            assistant=dbref,
            id=turn.record.id,
            epoch=sim.epochs[dbref, turn.record.id],
            events=tuple(event.id for event in turn.record.events),
            began=sim.began[dbref, turn.record.id],
            ended=sim.ended.get((dbref, turn.record.id)),
            outcome=turn.outcome,
        )
        for dbref, stores in sim.stores.items()
        for turn in stores.turns
    ]


def act_rows(sim: Simulation) -> list[ActRow]:
    """Return the intents with their outcomes."""
    return [
        ActRow(
            assistant=dbref,
            turn_id=act.turn_id,
            call_id=act.call.id,
            name=act.call.name,
            arguments=act.call.arguments,
            world=act.world and act.call.name in TOOLS,
            state=act.state,
            safe_to_retry=act.call.name in TOOLS and TOOLS[act.call.name].safe_to_retry,
            moment=moment,
            logged=stores.turns[act.turn_id - 1].context != CONTEXT_PRE_COMPACTION.name,
        )
        for dbref, stores in sim.stores.items()
        for act, moment in zip(stores.acts, sim.intended_at[dbref], strict=True)
    ]


def message_rows(sim: Simulation) -> list[MessageRow]:
    """Return the messages, with the moments of their storing."""
    return [
        MessageRow(
            assistant=dbref,
            seq=message["metadata"]["seq"],
            role=EXCUSE if is_excuse(message) else message["role"],
            content=message["content"],
            event_id=message["metadata"].get("event_id"),
            turn_id=message["metadata"].get("turn_id"),
            private=bool(message["metadata"].get("private")),
            audience=frozenset(message["metadata"].get("audience", ())),
            calls=tuple(call["id"] for call in message.get("tool_calls", ())),
            call_id=message.get("tool_call_id", ""),
            moment=moment,
        )
        for dbref, stores in sim.stores.items()
        for message, moment in zip(stores.conversation.messages, sim.stored_at[dbref], strict=True)
    ]


def compaction_rows(sim: Simulation) -> list[CompactionRow]:
    """Return the compactions."""
    return [
        CompactionRow(
            assistant=dbref,
            id=move.record.id,
            from_seq=move.record.from_seq,
            upto_seq=move.record.upto_seq,
            undone=move.undone,
            count=move.record.compacted_count,
            parts=parts_of(move.record),
            memories=memories_in(move.record),
        )
        for dbref, stores in sim.stores.items()
        for move in stores.conversation.moves
        if move.record
    ]


def parts_of(record: CompactionRecord | None) -> dict[str, str]:
    """Return the summaries of a compaction by audience."""
    return {} if record is None else dict(record.summary)


def memories_in(record: CompactionRecord) -> dict[str, str]:
    """Return what the journal is to hold of a compaction, by audience."""
    parts = record.summary.items()
    return {key: f"{TITLE}\n{text.strip()}" for key, text in parts if is_memory(text)}


def view_row(dbref: str, items: Sequence[ChatMessage]) -> ViewRow:
    """Return what is in view."""
    marker = items[0]["metadata"]["id"] if items and is_marker(items[0]) else None
    messages = items if marker is None else items[1:]
    return ViewRow(dbref, marker, tuple(message["metadata"]["seq"] for message in messages))


def entry_row(dbref: str, entry: Record) -> EntryRow:
    """Return the journal entries."""
    confidants = None if entry["audience"] is None else frozenset(entry["audience"])
    return EntryRow(dbref, entry["content"], confidants, entry["id"])

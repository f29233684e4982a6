"""From the simulated game's stores to the rows that `tests.invariants` judges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evennia_ai.testing.memory_stores import StoredCompaction
from tests.invariants import ActRow, CompactionRow, EventRow, Evidence, MessageRow, TurnRow
from tests.simulation.world import TOOLS

if TYPE_CHECKING:
    from tests.simulation.schedule import Simulation


def gather(sim: Simulation) -> Evidence:
    """Everything there is to judge."""
    return Evidence(
        puts=sim.puts,
        events=event_rows(sim),
        turns=turn_rows(sim),
        acts=act_rows(sim),
        messages=message_rows(sim),
        deeds=sim.deeds,
        requests=sim.requests,
        compactions=compaction_rows(sim),
    )


def event_rows(sim: Simulation) -> list[EventRow]:
    """The inboxes. Only what a player whispered is said nowhere else."""
    return [
        EventRow(
            assistant=dbref,
            id=row.event.id,
            text=row.event.heard.text,
            state=row.state,
            reason=row.reason,
            turn_id=row.turn_id,
            secret=row.event.heard.private and row.event.heard.speaker in sim.players,
            audience=row.event.heard.audience,
        )
        for dbref, stores in sim.stores.items()
        for row in stores.inbox.rows
    ]


def turn_rows(sim: Simulation) -> list[TurnRow]:
    """The turns, with the moments at which their beginning and end were stored."""
    return [
        TurnRow(
            assistant=dbref,
            id=turn.record.id,
            epoch=turn.epoch,
            events=tuple(event.id for event in turn.record.events),
            began=sim.began[dbref, turn.record.id],
            ended=sim.ended.get((dbref, turn.record.id)),
            outcome=turn.outcome,
        )
        for dbref, stores in sim.stores.items()
        for turn in stores.turns
    ]


def act_rows(sim: Simulation) -> list[ActRow]:
    """The intents with their outcomes."""
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
        )
        for dbref, stores in sim.stores.items()
        for act, moment in zip(stores.acts, sim.intended_at[dbref], strict=True)
    ]


def message_rows(sim: Simulation) -> list[MessageRow]:
    """The logs, with the moments at which each message was stored."""
    return [
        MessageRow(
            assistant=dbref,
            seq=message["metadata"]["seq"],
            role=message["role"],
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
    """What moved the start of each view."""
    return [
        CompactionRow(
            assistant=dbref,
            id=move.record.id,
            from_seq=move.record.from_seq,
            upto_seq=move.record.upto_seq,
            undone=move.undone,
        )
        for dbref, stores in sim.stores.items()
        for move in stores.conversation.moves
        if isinstance(move, StoredCompaction)
    ]

"""No step of deleting 100,000 old rows holds the reactor for long."""

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from evennia_ai import models
from evennia_ai.config.table_retention import GAME_WIDE, TABLES, RetentionLimit
from evennia_ai.store.purge import TablePurge
from tests.bench.figures import Sheet

TURNS = 20_000
SPEAKERS = 200
P99_AT_MOST_MS = 10.0
LIMIT = RetentionLimit(days=10, rows=15_000)
TEXT = "The ferryman says the river will freeze before the week is out, and nobody believes him."
NOW = datetime(2026, 11, 20, tzinfo=UTC)


def fill(assistant_id: int) -> int:
    """Turns with a line heard, two messages, a call and an act each, over 400 days; all but the
    last thousand are out of reach of two undos. Returns the number of rows."""
    whose: dict[str, Any] = {"assistant_id": assistant_id}
    times = [NOW - timedelta(days=400) + timedelta(days=400) * n / TURNS for n in range(TURNS)]
    turns = models.Turn.objects.bulk_create(
        models.Turn(at=at, ended_at=at, outcome="answered", context="tick", **whose) for at in times
    )
    speakers = [f"#{900 + n % SPEAKERS}" for n in range(TURNS)]
    events = models.Event.objects.bulk_create(
        models.Event(
            at=turn.at, turn=turn, speaker=who, text=TEXT, state="answered", kind="say", **whose
        )
        for turn, who in zip(turns, speakers, strict=True)
    )
    messages = models.Message.objects.bulk_create(
        models.Message(at=e.at, role=role, content=TEXT, event=event, turn_id=e.turn_id, **whose)
        for e in events
        for role, event in (("user", e), ("assistant", None))
    )
    models.ModelCall.objects.bulk_create(
        models.ModelCall(at=t.at, turn=t, purpose="tick", profile="offline", **whose) for t in turns
    )
    models.ToolCall.objects.bulk_create(
        models.ToolCall(at=t.at, ended_at=t.at, turn=t, name="say", state="done", **whose)
        for t in turns
    )
    for upto in range(3):
        models.Compaction.objects.create(
            at=NOW, reason="sleep", from_seq=1, upto_seq=messages[-1_000 + upto].id,
            compacted_count=1, original_token_count=1, summary_token_count=1, **whose,
        )  # fmt: skip
    return sum(getattr(models, table).objects.count() for table in TABLES)


def walk(assistant_id: int, limit: RetentionLimit, is_dry: bool) -> Iterator[tuple[float, int]]:
    """For every step over all tables of an assistant, its milliseconds and how many rows went."""
    planned: list[TablePurge] | None = [] if is_dry else None
    for table in sorted(set(TABLES) - GAME_WIDE, key=TABLES.index):
        purge = TablePurge(table, assistant_id, limit, NOW, planned)
        more = True
        while more:
            began = time.perf_counter()
            more, came = purge.step()
            yield (time.perf_counter() - began) * 1_000, came.gone
        if planned is not None:
            planned.append(purge)


def test_no_step_of_a_purge_holds_the_reactor(db: None, sheet: Callable[[str], Sheet]) -> None:
    from evennia_ai.assistant_script import AssistantScript

    script = AssistantScript.create("assistant")[0]
    rows = fill(script.id)
    paper = sheet("a purge")
    for label, is_dry in (("dry", True), ("for good", False), ("once more", False)):
        steps = list(walk(script.id, LIMIT, is_dry))
        took = [ms for ms, _gone in steps]
        paper.add(f"{label}: rows gone, of {rows:,}", sum(gone for _ms, gone in steps))
        paper.add("  steps", len(steps))
        paper.add_held("  a step", took, p99_at_most=P99_AT_MOST_MS)
        paper.add("  all together", sum(took) / 1_000, "s")
    paper.check()

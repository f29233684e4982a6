"""The queries on the way of every line, and "forget me", at a million rows a table, on a file.

`tests.game.test_query_plans` shows why they are fast.
"""

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import pytest
from django.db import connection
from evennia.objects.models import ObjectDB
from evennia.scripts.models import ScriptDB

from evennia_ai import models
from evennia_ai.store.attributes import SCRIPT_KEY
from evennia_ai.store.forget import Forgetting
from tests.bench.figures import LONG_MS, Sheet
from tests.game.test_query_plans import NOW, QUERIES, RARE

ROWS = 1_000_000
ASSISTANTS, SPEAKERS = 40, 5_000
COUNT = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < {rows}) "
ROW = {
    models.Event: {
        "assistant_id": f"1 + x % {ASSISTANTS}",
        "at": "datetime('2024-01-01', '+' || x || ' minutes')",
        "kind": "'say'",
        "speaker": f"iif(x % 10, '#' || (1000 + x % {SPEAKERS}), '#' || (90000 + x % 40))",
        "speaker_name": "'Ann'",
        "text": "'The river will freeze before the week is out, and nobody believes him.'",
        "state": "'answered'",
        "turn_id": "x",
    },
    models.Turn: {
        "assistant_id": f"1 + x % {ASSISTANTS}",
        "at": "datetime('2024-01-01', '+' || x || ' minutes')",
        "ended_at": "datetime('2024-01-01', '+' || x || ' minutes')",
        "context": "'tick_event'",
        "outcome": "'answered'",
    },
    models.Message: {
        "assistant_id": f"1 + x % {ASSISTANTS}",
        "at": "datetime('2024-01-01', '+' || x || ' minutes')",
        "role": "iif(x % 2, 'user', 'assistant')",
        "content": "'The river will freeze before the week is out, and nobody believes him.'",
        "speaker": f"iif(x % 2, '#' || (1000 + x % {SPEAKERS}), '')",
        "authors": f"iif(x % 2, '', ' #' || (1000 + x % {SPEAKERS}) || ' ')",
        "turn_id": "x",
    },
    models.ToolCall: {
        "assistant_id": f"1 + x % {ASSISTANTS}",
        "at": "datetime('2024-01-01', '+' || x || ' minutes')",
        "turn_id": "x",
        "call_id": "'c' || x",
        "name": "'say'",
        "arguments": '\'{"text": "So be it."}\'',
        "state": "'done'",
    },
    models.DailyUse: {
        "assistant_id": "1 + x % 1000",
        "day": "date('2024-01-01', '+' || (x / 1000) || ' days')",
        "prompt_tokens": "10",
    },
    models.SpeakerUse: {
        "speaker": "'#' || (1000 + x % 300)",
        "day": "date('2017-01-01', '+' || (x / 300) || ' days')",
        "tokens": "10",
    },
}


def fill(model: Any, rows: int) -> None:
    """Fill a table by one statement; fields that `ROW` does not name get their defaults."""
    values = {field.column: default_of(field) for field in model._meta.local_fields[1:]}
    values |= ROW[model]
    columns, terms = ", ".join(values), ", ".join(values.values())
    table = model._meta.db_table
    with connection.cursor() as cursor:
        counted = COUNT.format(rows=rows)
        cursor.execute(f"INSERT INTO {table} ({columns}) {counted} SELECT {terms} FROM n")


def default_of(field: Any) -> str:
    """Return the default of a field as SQL."""
    value = field.get_default()
    if isinstance(value, (list, dict)):
        return "'[]'" if isinstance(value, list) else "'{}'"
    if value is None:
        return "NULL" if field.null else "''"
    return f"'{value}'" if isinstance(value, str) else str(int(value))


def add_assistants() -> None:
    """Add the characters whose logs these are, some of whose lines others heard."""
    numbers = range(ASSISTANTS)
    ObjectDB.objects.bulk_create(ObjectDB(id=90_000 + n, db_key=f"Npc{n}") for n in numbers)
    ScriptDB.objects.bulk_create(
        ScriptDB(id=1 + n, db_key=SCRIPT_KEY, db_obj_id=90_000 + n) for n in numbers
    )


def add_rare_speaker() -> None:
    """Let somebody speak once, without an answer yet."""
    models.Event.objects.create(
        assistant_id=3, at=NOW, kind="say", speaker=RARE, speaker_name="Bo", text="Hi.",
        state="waiting", audience=[RARE],
    )  # fmt: skip


@pytest.fixture
def million(db: None) -> None:
    """Fill every table of `ROW` with a million rows."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA foreign_keys=OFF")
    for model in ROW:
        fill(model, ROWS)
    add_assistants()
    add_rare_speaker()


@pytest.mark.soak
def test_at_a_million_rows_each_takes_a_millisecond(
    million: None, sheet: Callable[[str], Sheet]
) -> None:
    paper = sheet("a million rows a table")
    for name, query in QUERIES.items():
        paper.add(name, median(timed(query) for _ in range(9)), "ms", 1.0)
    for name, speaker in (("once", RARE), ("200 times", "#1003")):
        steps = timed_steps(Forgetting([speaker]))
        paper.add(f"forgetting somebody who spoke {name}: steps", len(steps))
        paper.add("  the longest", max(steps), "ms", LONG_MS)
        paper.add("  median", median(steps), "ms")
    paper.check()


def timed(work: Callable[[], Any]) -> float:
    """Return the milliseconds that something takes."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def timed_steps(forgetting: Forgetting) -> list[float]:
    """Return the milliseconds of each step of forgetting."""
    steps, took = forgetting.steps(), []
    done = object()
    found: Any = None
    while found is not done:
        began = time.perf_counter()
        found = next(steps, done)
        took.append((time.perf_counter() - began) * 1000)
    return took

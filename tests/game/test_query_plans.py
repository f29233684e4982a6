"""The plans of the queries on the way of every line, of "forget me" and of the sums of a day.

The tables are empty: SQLite has no statistics then, nor has a game's database unless somebody runs
ANALYZE. `tests.bench.test_million_rows` measures the same queries at a million rows a table.
PostgreSQL would scan an empty table whatever its indices; told to avoid that, it does so only where
no index serves.
"""

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection

from evennia_ai.policy.recallable_lines import LogFilter
from evennia_ai.store.call_records import CHARACTER, PROFILE, cached_on, uses_by
from evennia_ai.store.forget_traces import PersonalTraces
from evennia_ai.store.inbox import TableInbox
from evennia_ai.store.personal_data import assistants_who_know, count_traces, is_known, tokens_used
from evennia_ai.store.reports import RowPage, events_beside, unanswered_since
from evennia_ai.store.turns import assistants_with_work, has_unsorted_talk, open_turns

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
TODAY = NOW.date()
RARE = "#777777"
WHOLE_TABLE = re.compile(
    r"S(?:CAN|eq Scan on) (?:TABLE )?evennia_ai_(?:event|message|turn|toolcall|.*use)\b"
)
IS_SQLITE = connection.vendor == "sqlite"


def inbox() -> TableInbox:
    return TableInbox(3, lambda: NOW)


QUERIES: dict[str, Callable[[], Any]] = {
    "open events of an inbox": lambda: inbox().open_events(),
    "overheard events of an inbox": lambda: list(inbox().overheard()),
    "events on a page of messages": lambda: events_beside(
        RowPage(1, 2, [{"at": NOW}]), 3, LogFilter(), "", True
    ),
    "partners of the last minutes": lambda: inbox().recent_partners(300.0),
    "who owes an answer": assistants_with_work,
    "lines that nobody answered today": lambda: unanswered_since(NOW),
    "turns of an earlier process": open_turns,
    "talk since the last sleep": lambda: has_unsorted_talk(3),
    "cached tokens of today": lambda: cached_on(NOW.date()),
    "costs of a month": lambda: uses_by(TODAY - timedelta(days=30), TODAY, CHARACTER, PROFILE),
    "tokens of one speaker": lambda: tokens_used([RARE]),
    "who knows a speaker": lambda: assistants_who_know(RARE),
    "messages to forget": lambda: count_traces(RARE),
    "is there anything to forget": lambda: is_known(RARE),
}


class Statements:
    """The SELECT statements of our tables that were run, with their times in ms."""

    def __init__(self) -> None:
        self.run: list[tuple[str, Any, float]] = []

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        began = time.perf_counter()
        try:
            return execute(sql, params, many, context)
        finally:
            took = (time.perf_counter() - began) * 1000
            if sql.startswith("SELECT") and "evennia_ai_" in sql:
                self.run.append((sql, params, took))


def plan(sql: str, params: Any) -> list[str]:
    """Return the steps of the database's plan for a statement."""
    with connection.cursor() as cursor:
        if IS_SQLITE:
            cursor.execute(f"EXPLAIN QUERY PLAN {sql}", params)
            return [row[3] for row in cursor.fetchall()]
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {sql}", params)
        return [row[0].strip(" ->") for row in cursor.fetchall()]


@pytest.mark.parametrize("name", QUERIES)
def test_no_query_on_the_way_of_a_line_scans_a_table(name: str, db: None) -> None:
    assert_no_scan(QUERIES[name])


def assert_no_scan(work: Callable[[], object]) -> None:
    """Fail if a query scans one of the large tables."""
    statements = Statements()
    with connection.execute_wrapper(statements):
        work()
    assert statements.run
    for sql, params, _took in statements.run:
        steps = plan(sql, params)
        assert not [step for step in steps if WHOLE_TABLE.match(step)], (steps, sql)


def test_who_else_heard_an_answer_is_found_by_speaker_and_time(db: None) -> None:
    statements = Statements()
    traces = PersonalTraces(frozenset({RARE}))
    traces.characters = {3: "#21"}
    with connection.execute_wrapper(statements):
        traces.copies_of(1, 3, NOW, NOW)
    sql, params, _took = statements.run[0]
    steps = plan(sql, params)
    if IS_SQLITE:
        assert "ai_event_speaker (speaker=? AND at>? AND at<?)" in steps[0]
    else:  # which of the two it takes depends on what is in the table
        assert "using ai_event_speaker on" in steps[0] or "using ai_event_by on" in steps[0]


@pytest.mark.skipif(not IS_SQLITE, reason="PostgreSQL chooses by what is in the table")
@pytest.mark.parametrize("name", ["open events of an inbox", "events on a page of messages"])
def test_the_inbox_is_read_by_its_states(name: str, db: None) -> None:
    """Check that neither the index of the foreign key nor the order of the ids wins."""
    statements = Statements()
    with connection.execute_wrapper(statements):
        QUERIES[name]()
    ((sql, params, _took),) = statements.run
    assert "ai_event_state (state=? AND assistant_id=?" in plan(sql, params)[0]

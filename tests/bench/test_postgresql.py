"""The queries on the way of every line on PostgreSQL, at 100,000 rows a table, with their plans.

python -m tests.postgresql -s -m bench tests/bench/test_postgresql.py
"""

import re
from collections.abc import Callable, Generator
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from django.db import connection

from evennia_ai.policy.recallable_lines import LogFilter
from evennia_ai.store.conversation import TableConversation
from evennia_ai.store.reports import find_row, message_page, messages_by_seq
from tests.bench.figures import Sheet
from tests.bench.test_million_rows import ROW, add_assistants, add_rare_speaker, default_of, timed
from tests.faults.own_database import IS_POSTGRESQL, on_own_database
from tests.game.test_query_plans import NOW, QUERIES, Statements

pytestmark = pytest.mark.skipif(not IS_POSTGRESQL, reason="measures PostgreSQL")

ROWS = 100_000
FILLED = [model for model in ROW if "Use" not in model.__name__]
SCAN = re.compile(rf"Seq Scan on (?:{'|'.join(model._meta.db_table for model in FILLED)})\b")
IN_THIS_DIALECT = (
    (r"(datetime|date)\('([\d-]+)', '\+' \|\| (.+) \|\| ' (minutes|days)'\)",
     r"timestamp '\2' + (\3) * interval '1 \4'"),
    (r"iif\(x % (\d+), (.+), (.+)\)$", r"CASE WHEN x % \1 <> 0 THEN \2 ELSE \3 END"),
)  # fmt: skip
MORE: dict[str, Callable[[], Any]] = {
    "a page of the log": lambda: message_page(3, LogFilter(page=1), "", True, 20),
    "a page deep in the log": lambda: message_page(3, LogFilter(page=100), "", True, 20),
    "a search of the history": lambda: message_page(3, LogFilter(search="freeze"), "", True, 20),
    "one message by its number": lambda: find_row("Message", 3, 50_003),
    "recalled lines by number": lambda: messages_by_seq(3, range(3, 4_000, 40), 100),
    "the view of an assistant": lambda: TableConversation(3, lambda: NOW).view(),
}


def fill(model: Any, rows: int = ROWS) -> None:
    """Fill a table by one statement."""
    values = {field.column: default_of(field) for field in model._meta.local_fields[1:]}
    values |= ROW[model]
    flags = {field.column for field in model._meta.local_fields if "Bool" in type(field).__name__}
    for name, term in values.items():
        for pattern, form in IN_THIS_DIALECT:
            term = re.sub(pattern, form, term)  # noqa: PLW2901
        values[name] = f"({term})::int::bool" if name in flags else term
    columns, terms = ", ".join(values), ", ".join(values.values())
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {model._meta.db_table} ({columns}) "
            f"SELECT {terms} FROM generate_series(1, {rows}) AS n(x)"
        )


@pytest.fixture
def db(django_db_setup: None, django_db_blocker: Any, tmp_path: Path) -> Generator[None]:
    """Fill every table, as a game's own would be: with statistics."""
    with django_db_blocker.unblock(), on_own_database(tmp_path):
        add_assistants()
        with connection.cursor() as cursor:
            cursor.execute("SET session_replication_role = replica")  # no foreign keys
        for model in FILLED:
            fill(model)
        add_rare_speaker()
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
        yield


def test_no_query_on_the_way_of_a_line_scans_a_table_of_100_000_rows(
    db: None, sheet: Callable[[str], Sheet]
) -> None:
    paper, scanned = sheet("PostgreSQL, 100,000 rows a table"), []
    for name, query in (QUERIES | MORE).items():
        statements = Statements()
        with connection.execute_wrapper(statements):
            query()
        plans = [step for sql, params, _took in statements.run for step in plan(sql, params)]
        scanned += [(name, step) for step in plans if SCAN.match(step)]
        paper.add(name, median(timed(query) for _ in range(9)), "ms")
    paper.add("building an index on a table anew", timed(build_index), "ms")
    assert not scanned


def build_index() -> None:
    """Build an index as a migration does; nobody can write the table meanwhile."""
    with connection.cursor() as cursor:
        cursor.execute("REINDEX INDEX ai_message_seq")


def plan(sql: str, params: Any) -> list[str]:
    """Return the steps of the plan that PostgreSQL really takes."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN ANALYZE {sql}", params)
        return [row[0].strip(" ->") for row in cursor.fetchall()]

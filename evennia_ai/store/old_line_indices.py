"""The indices over the older lines of one long log: of their words, and of their vectors.

The index of vectors (IVFFlat) groups lines by likeness. A search reads the lists that are nearest
to a question.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

from django.db import connection, transaction

# A list has about 100 lines, or more. The lists that a search reads hold 26 times the root of all
# lines: then it finds .98 of the nearest ten or more, among 100,000 and among a million (measured).
LINES_EACH, READ_EACH = 100, 26
FEWEST_LISTS, MOST_LISTS = 10, 1_600  # to find the lists takes 200 bytes by their square
WIDEST = 8  # times as many lists at most, for those who may know few lines
GROWN = 3  # times as many lines as when the index was built: then it is built anew
BUILT_WITH = {
    "maintenance_work_mem": "640MB",
    "max_parallel_maintenance_workers": "0",  # containers have little memory for them to share
    "lock_timeout": "0",
    "statement_timeout": "0",
}
INDICES = {
    "words": "gin (words)",
    "near": "ivfflat (meaning halfvec_cosine_ops) WITH (lists = {lists})",
}
CREATE = "CREATE INDEX {how} {table}_{index}_new ON {table} USING {kind}"
SET_ASIDE = "ALTER INDEX IF EXISTS {table}_{index} RENAME TO {table}_{index}_old"
BUILT_FOR = "COMMENT ON INDEX {table}_near_new IS '{rows}'"
SIZE = """
SELECT reltuples, near.lists, near.built_for FROM pg_class LEFT JOIN (
  SELECT substring(reloptions[1] FROM 'lists=(.*)')::int AS lists,
    obj_description(oid, 'pg_class')::int AS built_for
  FROM pg_class JOIN pg_index ON indexrelid = oid WHERE oid = to_regclass(%s) AND indisvalid
) AS near ON true WHERE oid = to_regclass(%s)
"""

# Runs a statement for the log's table with these parameters and parts; returns its rows.
Run = Callable[..., list[Any]]


class Size(NamedTuple):
    """About how many rows a table has, 1 or more; its lists, and for how many rows they were made.

    Without an index the last two are 0.
    """

    rows: float
    lists: int
    built_for: int


class Indices:
    """The indices of a table, by its name."""

    def __init__(self, run: Run, table: str) -> None:
        self._run = run
        self._table = table

    @cached_property
    def size(self) -> Size:
        """The size of the table and of its index, as they were at the last `build`."""
        ((rows, lists, built_for),) = self._run(SIZE, [f"{self._table}_near", self._table])
        return Size(max(float(rows), 1.0), lists or 0, built_for or 0)

    def is_built(self, index: str) -> bool:
        """Return True if an index is there and complete."""
        built = "SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(%s) AND indisvalid"
        return bool(self._run(built, [f"{self._table}_{index}"]))

    def breadth(self) -> dict[str, str]:
        """Return the settings for how many lists a search reads."""
        rows, lists, _built_for = self.size
        lists = max(lists, 1)  # without an index a search reads all rows, whatever is set
        probes = min(lists, math.ceil(READ_EACH * lists / math.sqrt(rows)))
        return {
            "ivfflat.iterative_scan": "relaxed_order",  # more lists while few lines may be known
            "ivfflat.probes": str(probes),
            "ivfflat.max_probes": str(min(lists, WIDEST * probes)),
        }

    def build(self) -> None:
        """Build the indices that do not exist or are outgrown: 80 s for a million lines (measured).

        Rows come and go meanwhile, so that nobody who wants to be forgotten waits.
        """
        ((rows,),) = self._run("SELECT count(*) FROM {table}")
        lists = min(MOST_LISTS, max(FEWEST_LISTS, rows // LINES_EACH))
        configure(self._run, BUILT_WITH, local=False)
        try:
            self._drop("new", "old")  # there may be some if a build broke off
            if not self.is_built("words"):
                self._build("words")
            if self.size.built_for * GROWN <= rows:
                self._build("near", BUILT_FOR, rows=rows, lists=lists)
            self._run("ANALYZE {table}")
        finally:
            for name in BUILT_WITH:
                self._run("RESET {name}", name=name)
            self.__dict__.pop("size", None)

    def _build(self, index: str, *after: str, **options: int) -> None:
        """Build an index in place of the one there is; run the statements ``after`` before that."""
        kind = INDICES[index].format(**options)
        parts = {"how": concurrently(), "index": index, "kind": kind, **options}
        for statement in (CREATE, *after):
            self._run(statement, **parts)
        with transaction.atomic():  # there is one of this name at any time, for searches
            self._run(SET_ASIDE, **parts)
            self._run("ALTER INDEX {table}_{index}_new RENAME TO {table}_{index}", **parts)
        self._drop("old")

    def _drop(self, *kinds: str) -> None:
        """Drop new or old indices that have not, or no longer, the place of one."""
        for index, kind in product(INDICES, kinds):
            parts = {"how": concurrently(), "index": index, "kind": kind}
            self._run("DROP INDEX {how} IF EXISTS {table}_{index}_{kind}", **parts)


def concurrently() -> str:
    """Return how to make or drop an index while others write, "" in a transaction."""
    return "" if connection.in_atomic_block else "CONCURRENTLY"


def configure(run: Run, settings: Mapping[str, str], local: bool = True) -> None:
    """Change settings until the end of the transaction or, if not ``local``, until `RESET`."""
    run(
        "SELECT set_config(name, value, %s) FROM unnest(%s, %s) AS new (name, value)",
        [local, list(settings), list(settings.values())],
    )

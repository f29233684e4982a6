"""Look for damaged values in the tables, so that reading mends those columns from then on.

SQLite takes whatever another program, or a failing disk, writes into a column; PostgreSQL keeps the
kinds of its columns by itself.
"""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from django.apps import apps
from django.db import connection
from twisted.logger import Logger

from evennia_ai.models.fields import RepairingField, damage
from evennia_ai.store.rows import WINDOW
from evennia_ai.store.transactions import store_errors

log = Logger()


def look_for_damage() -> Iterator[int]:
    """Note each damaged column; yields the number of known ones after each `WINDOW` of rows.

    Raises StoreUnavailable.
    """
    if connection.vendor != "sqlite":
        return
    with store_errors():
        for table in apps.get_app_config("evennia_ai").get_models():
            fields = [
                field for field in table._meta.concrete_fields if isinstance(field, RepairingField)
            ]
            if fields:
                yield from _look_in(table._meta.db_table, fields)


def _look_in(table: str, fields: Sequence[Any]) -> Iterator[int]:
    misfits = ", ".join(f"max({_misfit(field)})" for field in fields)
    for start in count(step=WINDOW):
        # Only the names of our own tables and columns are put in.
        newest = f'(SELECT max(rowid) FROM "{table}")'  # noqa: S608
        rows = f'FROM "{table}" WHERE rowid > {start} AND rowid <= {start + WINDOW}'
        *damaged, last = _row(f"SELECT {misfits}, {newest} {rows}")
        for field, is_damaged in zip(fields, damaged, strict=True):
            if is_damaged:
                field.note_damage()
        if start + WINDOW >= (last or 0):
            return
        yield len(damage)


def _misfit(field: Any) -> str:
    column = f'"{field.column}"'
    misfit = field.misfit_sql(column)
    return f"{column} IS NOT NULL AND {misfit}" if field.null else misfit


def _row(query: str) -> tuple[Any, ...]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        row: tuple[Any, ...] = cursor.fetchone()
    return row

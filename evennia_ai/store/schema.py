"""Do the tables fit this code? Without `evennia migrate`, or after a step back, they may not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.apps import apps
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from evennia_ai import migrations

APP = "evennia_ai"
OLDER = (
    "The database is older than this version of evennia_ai ({names}). Run `evennia migrate`, then "
    "`evennia reload`."
)
NEWER = (
    "The database is newer than this version of evennia_ai ({names}). Install the version that it "
    "was migrated with, or undo those migrations with that version's `evennia migrate`."
)
UNUSABLE = " Until then no line is stored, and the characters answer from the offline brain."


def schema_trouble() -> tuple[str, bool]:
    """Return what an admin must do about the tables, "" if nothing, and whether they can be used.

    Raises Django's errors if the database cannot be read.
    """
    recorded = MigrationRecorder(connection).applied_migrations()
    applied = {name for app, name in recorded if app == APP}
    known = {path.stem for path in Path(migrations.__path__[0]).glob("[0-9]*.py")}
    gaps = misfits()
    missing = sorted(known - applied) if applied or gaps else []
    if missing:
        trouble = OLDER.format(names=f"not applied: {', '.join(missing)}")
    elif applied - known or gaps:
        trouble = NEWER.format(names=f"unknown: {', '.join(sorted(applied - known) or gaps)}")
    else:
        return "", True
    return trouble + UNUSABLE * bool(gaps), not gaps


def misfits() -> list[str]:
    """Return the columns that this code needs and the tables lack, or that it cannot fill."""
    with connection.cursor() as cursor:
        tables = set(connection.introspection.table_names(cursor))
        found: list[str] = []
        for model in apps.get_app_config(APP).get_models():
            found += gaps_of(model, cursor, tables)
    return found


def gaps_of(model: Any, cursor: Any, tables: set[str]) -> list[str]:
    """Return what one table lacks, and its columns that must have a value and get none."""
    table = model._meta.db_table
    if table not in tables:
        return [table]
    ours = {field.column for field in model._meta.local_concrete_fields}
    cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)} LIMIT 0")  # noqa: S608
    columns = {column[0] for column in cursor.description}
    needy = needy_columns(cursor, table) if columns - ours else set()
    return [f"{table}.{name}" for name in sorted((ours - columns) | (needy - ours))]


def needy_columns(cursor: Any, table: str) -> set[str]:
    """Return the columns that must have a value and have no default; slow on SQLite (4 ms)."""
    return {
        column.name
        for column in connection.introspection.get_table_description(cursor, table)
        if not column.null_ok and column.default is None
    }

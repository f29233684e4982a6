"""Statements of the turn, whose SQL is written once.

Django compiles a statement anew each time, which takes three to ten times as long as SQLite needs
to run it (measured: 0.35 ms against 0.05 ms); a turn has a dozen. These do what ``save``,
``update`` and ``filter`` do, for the columns' own values and equal conditions, without signals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

from django.db import connection, models

from evennia_ai.models.fields import CharField, TextField

Table = Any  # a model class
Steps = list[list[Callable[[Any], Any]]]  # of each column, what turns its value into a field's

NUMBERS = (models.IntegerField, models.BooleanField, models.ForeignKey)
MOST_ROWS = 20  # in one statement, so that few are written
PADDED = 8  # a list of values has a multiple of so many


def insert(*rows: models.Model) -> None:
    """Insert new rows of one table and set their keys, in the caller's transaction."""
    if not connection.features.can_return_rows_from_bulk_insert:  # MySQL
        for row in rows:
            row.save(force_insert=True)
        return
    for first in range(0, len(rows), MOST_ROWS):
        insert_some(rows[first : first + MOST_ROWS])


def insert_some(rows: Sequence[models.Model]) -> None:
    """Insert rows in one statement."""
    table: Table = type(rows[0])
    with_key = rows[0].pk is not None
    fields = fields_of(table, with_key)
    values = [written(field, row) for row in rows for field in fields]
    with connection.cursor() as cursor:
        cursor.execute(insert_sql(table, len(rows), with_key), values)
        keys = () if with_key else cursor.fetchall()
    for row, (key,) in zip(rows, keys, strict=False):
        row.pk = key
    for row in rows:
        row._state.adding, row._state.db = False, connection.alias


def written(field: Any, row: models.Model) -> Any:
    """Return a column's value as the driver takes it, after the row got what is stored of it."""
    value = getattr(row, field.attname)
    # Django's own way takes ten times as long, and most columns hold a number or short text.
    if isinstance(field, NUMBERS) and (value is None or type(value) in (int, bool)):
        return value
    if type(value) is str and isinstance(field, CharField | TextField):
        kept = field.fitting(value)
        setattr(row, field.attname, kept)
        return kept
    return field.get_db_prep_save(field.pre_save(row, True), connection)


def update(table: Table, where: Mapping[str, Any], **values: Any) -> int:
    """Set columns of the rows whose columns equal ``where``; returns how many rows."""
    return run(update_sql(table, tuple(values), (), tuple(where)), table, values, where)


def add(table: Table, where: Mapping[str, Any], **amounts: int) -> int:
    """Add to columns of the rows whose columns equal ``where``; returns how many rows."""
    return run(update_sql(table, (), tuple(amounts), tuple(where)), table, amounts, where)


def run(sql: str, table: Table, values: Mapping[str, Any], where: Mapping[str, Any]) -> int:
    """Run a statement with its values, then those of its condition; returns how many rows."""
    stored = [
        column(table, name).get_db_prep_save(value, connection)
        for name, value in (*values.items(), *where.items())
    ]
    with connection.cursor() as cursor:
        cursor.execute(sql, stored)
        return int(cursor.rowcount)


def select(table: Table, **where: Any) -> list[Any]:
    """Return the rows whose columns equal ``where``, or one of its tuple, by their keys."""
    names = names_of(table)
    found = values(table, names, **where)
    # Sorted here: with ORDER BY, SQLite would read all rows of an assistant by their keys.
    rows = [table.from_db(connection.alias, names, row) for row in found]
    return sorted(rows, key=lambda row: row.pk)


def values(table: Table, names: Sequence[str], **where: Any) -> list[list[Any]]:
    """Return these columns of the rows that `select` returns, in no order."""
    wanted = {k: padded(v) if is_many(v) else (v,) for k, v in where.items()}
    counts = tuple((k, len(v) if is_many(where[k]) else 0) for k, v in wanted.items())
    stored = [
        column(table, name).get_db_prep_save(one, connection)
        for name, some in wanted.items()
        for one in some
    ]
    with connection.cursor() as cursor:
        cursor.execute(select_sql(table, tuple(names), counts), stored)
        found = cursor.fetchall()
    converters = converters_of(table, tuple(names))
    return [converted(row, converters) for row in found]


def padded(some: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return values with the last one repeated, so that few statements are written."""
    return some + some[-1:] * (-len(some) % PADDED)


def is_many(value: Any) -> bool:
    """Return True for several values, of which a column may equal any."""
    return isinstance(value, tuple)


def converted(row: Sequence[Any], converters: Steps) -> list[Any]:
    """Return the values of a row as its fields have them."""
    values = list(row)
    for place, steps in enumerate(converters):
        for step in steps:
            values[place] = step(values[place])
    return values


@cache
def names_of(table: Table) -> tuple[str, ...]:
    """Return the names that a table's rows have for its columns."""
    return tuple(field.attname for field in table._meta.concrete_fields)


@cache
def converters_of(table: Table, names: Sequence[str]) -> Steps:
    """Return what makes values of what the database gives for these columns."""
    steps: Steps = []
    for field in (column(table, name) for name in names):
        shown = field.get_col(table._meta.db_table)
        given = (*connection.ops.get_db_converters(shown), *shown.get_db_converters(connection))
        steps.append([partial(convert, one, shown) for one in given])
    return steps


def convert(converter: Any, shown: Any, value: Any) -> Any:
    """Return what one of Django's converters makes of a column's value."""
    return converter(value, shown, connection)


@cache
def select_sql(table: Table, names: Sequence[str], where: Sequence[tuple[str, int]]) -> str:
    """Return the statement that reads columns where others have one of so many values, 0: one."""
    shown = ", ".join(shown_columns(table, names))
    tests = [
        f"{name} IN ({', '.join(['%s'] * many)})" if many else f"{name} = %s"
        for name, (_, many) in zip(
            shown_columns(table, [name for name, _ in where]), where, strict=True
        )
    ]
    return (
        f"SELECT {shown} FROM {quoted(table._meta.db_table)} "  # noqa: S608
        f"WHERE {' AND '.join(tests)}"
    )


@cache
def column(table: Table, name: str) -> Any:
    """Return the field of a column, by the name that a row has for it."""
    return next(field for field in table._meta.concrete_fields if field.attname == name)


@cache
def fields_of(table: Table, with_key: bool) -> Sequence[Any]:
    """Return the fields that an insert stores."""
    fields = table._meta.concrete_fields
    return fields if with_key else [field for field in fields if not field.primary_key]


@cache
def insert_sql(table: Table, rows: int, with_key: bool) -> str:
    """Return the statement that inserts so many rows, and returns the keys that it gave them."""
    fields = fields_of(table, with_key)
    names = ", ".join(quoted(field.column) for field in fields)
    places = f"({', '.join(['%s'] * len(fields))})"
    sql = f"INSERT INTO {quoted(table._meta.db_table)} ({names}) VALUES "  # noqa: S608
    sql += ", ".join([places] * rows)
    return sql if with_key else f"{sql} RETURNING {quoted(table._meta.pk.column)}"


@cache
def update_sql(
    table: Table, names: Sequence[str], sums: Sequence[str], where: Sequence[str]
) -> str:
    """Return the statement that sets columns, and adds to others, where some are equal."""
    sets = [f"{shown} = %s" for shown in shown_columns(table, names)]
    sets += [f"{shown} = {shown} + %s" for shown in shown_columns(table, sums)]
    tests = [f"{shown} = %s" for shown in shown_columns(table, where)]
    return (
        f"UPDATE {quoted(table._meta.db_table)} SET {', '.join(sets)} "  # noqa: S608
        f"WHERE {' AND '.join(tests)}"
    )


def shown_columns(table: Table, names: Sequence[str]) -> list[str]:
    """Return columns as a statement names them."""
    return [quoted(column(table, name).column) for name in names]


def quoted(name: str) -> str:
    """Return a name as a statement has it."""
    return str(connection.ops.quote_name(name))

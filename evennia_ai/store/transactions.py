"""The database on the reactor's thread: brief transactions, a guarded connection, fitting tables.

Django mends connections at the start of a web request; the reactor has none. A locked SQLite
database holds the reactor for its whole time-out, ten seconds in Evennia (measured), and a locked
table of PostgreSQL until its lock ends.
"""

import time
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import contextmanager, nullcontext
from operator import methodcaller
from sqlite3 import register_converter
from threading import get_ident
from typing import Any

from django.apps import apps
from django.db import Error, OperationalError, connection, transaction
from django.db.backends.signals import connection_created
from django.utils.dateparse import parse_date, parse_datetime
from twisted.logger import Logger

from evennia_ai.errors import StoreUnavailable
from evennia_ai.scheduling import loggable
from evennia_ai.store.server_lock import ensure_here, lock

log = Logger()

LOCK_WAIT_MS = 30
STATEMENT_MS = 2000  # of one of our transactions; PostgreSQL only
WAIT_AGAIN_AFTER_S = 0.1
# In one query, and for this transaction only. A lock_timeout of 0 would wait for ever.
LIMITS = "SELECT set_config('lock_timeout', %s, true), set_config('statement_timeout', %s, true)"
# For all queries of the game, also Evennia's own, which are not tried again. The limits that a game
# set in OPTIONS or for its user stay.
LIMITS_MS = {"lock_timeout": 300, "statement_timeout": 10_000}
SET = "SELECT set_config(name, %s, false) FROM pg_settings WHERE name = %s AND source = 'default'"

APP = "evennia_ai"
OLDER = (
    "The database is older than this version of evennia_ai (missing: {names}). Run `evennia "
    "migrate`, then `evennia reload`. "
)
NEWER = (
    "The database is newer than this version of evennia_ai (unknown: {names}). Install the version "
    "that it was migrated with. "
)
UNUSABLE = "Until then no line is stored: the characters say that they have no minds just now."


class LockBackoff:
    """The time to wait for a lock: none shortly after one was met, so that waits do not add up."""

    def __init__(self) -> None:
        self.met_at = float("-inf")

    def wait_ms(self, now: float) -> int:
        """Return the wait in ms for a write at ``now``, in seconds of a monotonic clock."""
        return 0 if now - self.met_at < WAIT_AGAIN_AFTER_S else LOCK_WAIT_MS


patience = LockBackoff()
_reactor_threads: set[int] = set()


@contextmanager
def brief_transaction(
    *assistants: int, characters: Collection[int] = (), is_one_statement: bool = False
) -> Generator[None]:
    """Run one transaction that waits at most `LOCK_WAIT_MS` for a lock.

    ``assistants`` and ``characters`` are the ids of those whose memory or talk it writes. One
    statement is a transaction by itself, unless its wait or a move between servers must be held
    off, or it is part of a larger one, which its error would spoil. Raises Moved if another server
    has one of them, and StoreUnavailable if the database refuses.
    """
    is_limited = connection.vendor == "postgresql"  # only there are shards, too
    is_whole = is_one_statement and not is_limited and not connection.in_atomic_block
    wait_before = None
    try:
        with store_errors("written"):
            wait_before = shorten_wait()
            is_outermost = not connection.in_atomic_block
            with nullcontext() if is_whole else transaction.atomic():
                lock.ensure()
                if is_outermost:
                    _limit_transaction()
                ensure_here(assistants, characters)
                yield
    except StoreUnavailable:
        patience.met_at = time.monotonic()
        raise
    finally:
        if wait_before is not None:
            _set_wait(wait_before)


class AddedWorkFailed(Exception):
    """Work that an extension adds to a transaction failed; all of it is rolled back."""

    def __init__(self, work: Callable[[Any], object]) -> None:
        super().__init__()  # without the work, which may hold words of a prompt
        self.work = work


def call_added(work: Callable[[Any], object], argument: Any) -> None:
    """Call work of an extension in a transaction; raises AddedWorkFailed for its own errors."""
    try:
        work(argument)
    except (StoreUnavailable, OperationalError):  # then all is tried again
        raise
    except Exception as error:
        line = "evennia_ai: an extension could not write; the rest is stored without it"
        log.failure(line, loggable(True))
        raise AddedWorkFailed(work) from error


def write_with(
    write: Callable[[Sequence[Callable[[Any], object]]], object],
    added: Sequence[Callable[[Any], object]],
) -> None:
    """Run a transaction that does what extensions add, without what fails."""
    pending = list(added)
    while True:
        try:
            write(pending)
        except AddedWorkFailed as failed:
            pending.remove(failed.work)
        else:
            return


@contextmanager
def store_errors(done: str = "read") -> Generator[None]:
    """Raise StoreUnavailable for any error of the database; drop a connection that it closed."""
    try:
        yield
    except Error as error:
        _drop_if_lost(connection)
        raise StoreUnavailable(f"The database cannot be {done} now ({error}).") from error


def shorten_wait() -> int | None:
    """Shorten SQLite's wait for a lock; returns the old one in ms, else None."""
    if connection.vendor != "sqlite":
        return None
    connection.ensure_connection()
    wait_before = int(connection.connection.execute("PRAGMA busy_timeout").fetchone()[0])
    _set_wait(patience.wait_ms(time.monotonic()))
    return wait_before


def _set_wait(wait_ms: int) -> None:
    connection.connection.execute(f"PRAGMA busy_timeout={wait_ms}")


def _limit_transaction() -> None:
    """Limit the waits of the transaction that has begun, if it holds the reactor."""
    if connection.vendor == "postgresql" and get_ident() in _reactor_threads:
        wait_ms = max(1, patience.wait_ms(time.monotonic()))
        with connection.cursor() as cursor:
            cursor.execute(LIMITS, [str(wait_ms), str(STATEMENT_MS)])


def guard_reactor() -> None:
    """Limit the waits of this thread's connection, now and whenever it is opened."""
    _reactor_threads.add(get_ident())
    connection_created.connect(_prepare_connection, dispatch_uid="evennia_ai.reactor")
    if connection.connection is not None:
        _prepare_connection(connection)


def _read_date(parse: Callable[[str], Any], raw: bytes) -> Any:
    """Return a date of SQLite, None if it is damaged."""
    try:
        return parse(raw.decode())
    except ValueError:
        return None


# Django's converter reads a damaged mark for a whisper as False.
register_converter("bool", {b"0": False, b"1": True}.get)
register_converter("date", lambda raw: _read_date(parse_date, raw))
register_converter("datetime", lambda raw: _read_date(parse_datetime, raw))


def _prepare_connection(connection: Any, **kwargs: Any) -> None:
    """Let SQLite read damaged letters, too; limit the reactor's waits; lock the world."""
    if connection.vendor == "sqlite":
        connection.connection.text_factory = methodcaller("decode", "utf-8", "replace")
    if connection.vendor != "postgresql" or get_ident() not in _reactor_threads:
        return
    with connection.cursor() as cursor:
        for name, limit_ms in LIMITS_MS.items():
            cursor.execute(SET, [str(limit_ms), name])
    if _mend not in connection.execute_wrappers:
        connection.execute_wrappers.append(_mend)
    lock.take_again(connection)


def _mend(execute: Any, sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
    """Run a statement; after an error, drop the connection if the server has closed it."""
    try:
        return execute(sql, params, many, context)
    except Error:
        _drop_if_lost(context["connection"])
        raise


def _drop_if_lost(connection: Any) -> None:
    """Close a connection that cannot be used any more; the next use opens another."""
    if connection.connection is None or connection.in_atomic_block:  # Django mends a transaction
        return
    is_closed = getattr(connection.connection, "closed", None)  # PostgreSQL's drivers know it
    if is_closed or (is_closed is None and not connection.is_usable()):
        connection.close()


def schema_trouble() -> str:
    """Return what an admin must do if the tables do not fit, else ""; raises Django's errors.

    The columns decide, not the names of migrations: a migration may have been changed, or left out.
    """
    missing: list[str] = []
    unknown: list[str] = []
    tables = _columns_by_table()
    for model in apps.get_app_config(APP).get_models():
        table = model._meta.db_table
        if table not in tables:
            missing.append(table)
            continue
        known, stored = {field.column for field in model._meta.local_concrete_fields}, tables[table]
        missing += [f"{table}.{name}" for name in known - stored.keys()]
        unknown += [f"{table}.{name}" for name in stored.keys() - known if stored[name]]
    if missing:
        return OLDER.format(names=", ".join(sorted(missing))) + UNUSABLE
    return NEWER.format(names=", ".join(sorted(unknown))) + UNUSABLE if unknown else ""


# In one query: Django's introspection takes 90 ms for our tables (measured).
SQLITE_COLUMNS = """
    SELECT tables.name, columns.name, columns."notnull" AND columns.dflt_value IS NULL
    FROM sqlite_master AS tables JOIN pragma_table_info(tables.name) AS columns
    WHERE tables.type = 'table'
"""


def _columns_by_table() -> dict[str, dict[str, bool]]:
    """Return by table and column whether a row must have a value for it."""
    columns_of: dict[str, dict[str, bool]] = {}
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(SQLITE_COLUMNS)
            for table, column, is_needed in cursor.fetchall():
                columns_of.setdefault(table, {})[column] = bool(is_needed)
            return columns_of
        for table in connection.introspection.table_names(cursor):
            if table.startswith(f"{APP}_"):
                columns = connection.introspection.get_table_description(cursor, table)
                columns_of[table] = {
                    item.name: not item.null_ok and item.default is None for item in columns
                }
    return columns_of

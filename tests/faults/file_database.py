"""The test database as a file, where a lock is a lock and a full disk is full."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from django.db import OperationalError, connection

NO_LIMIT = 2**30


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

    def __init__(self, path: Path) -> None:
        self.other = sqlite3.connect(path, isolation_level=None)

    def begin(self) -> None:
        self.other.execute("BEGIN IMMEDIATE")

    def end(self) -> None:
        if self.other.in_transaction:
            self.other.execute("ROLLBACK")


class Full:
    """A full disk: every write fails."""

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

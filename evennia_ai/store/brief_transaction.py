"""Transactions that do not hold the reactor, and the errors of a database as one of ours."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager

from django.db import Error, connection, transaction

from evennia_ai.errors import StoreUnavailable
from evennia_ai.store.reactor_connection import drop_if_lost, is_reactor_thread

LOCK_WAIT_MS = 30
STATEMENT_MS = 2000  # of one of our transactions; PostgreSQL only
WAIT_AGAIN_AFTER_S = 0.1
# In one query, and for this transaction only. A lock_timeout of 0 would wait for ever.
LIMITS = "SELECT set_config('lock_timeout', %s, true), set_config('statement_timeout', %s, true)"


class Patience:
    """The time to wait for a lock: none shortly after a lock was met.

    Many writes in a row, such as those of all assistants in a room who heard the same line, must
    not add up to a long wait.
    """

    def __init__(self) -> None:
        self.met_at = float("-inf")

    def wait_ms(self, now: float) -> int:
        """Return the wait in ms for a write at ``now``, in seconds of a monotonic clock."""
        return 0 if now - self.met_at < WAIT_AGAIN_AFTER_S else LOCK_WAIT_MS


patience = Patience()


@contextmanager
def brief_transaction() -> Generator[None]:
    """Run one transaction that waits at most `LOCK_WAIT_MS` for a lock.

    Without this, a locked SQLite database holds the reactor for its whole time-out, ten seconds in
    Evennia (measured), and a locked table of PostgreSQL until its lock ends. Raises
    StoreUnavailable if the database refuses, for whatever reason.
    """
    wait_before = None
    try:
        with store_errors("written"):
            wait_before = shorten_wait()
            is_outermost = not connection.in_atomic_block
            with transaction.atomic():
                if is_outermost:
                    limit_transaction()
                yield
    except StoreUnavailable:
        patience.met_at = time.monotonic()
        raise
    finally:
        if wait_before is not None:
            set_wait(wait_before)


@contextmanager
def store_errors(done: str = "read") -> Generator[None]:
    """Raise StoreUnavailable for any error of the database; drop a connection that it closed."""
    try:
        yield
    except Error as error:
        drop_if_lost(connection)
        raise StoreUnavailable(f"The database cannot be {done} now ({error}).") from error


def shorten_wait() -> int | None:
    """Shorten SQLite's wait for a lock; returns the old one in ms, else None."""
    if connection.vendor != "sqlite":
        return None
    connection.ensure_connection()
    wait_before = int(connection.connection.execute("PRAGMA busy_timeout").fetchone()[0])
    set_wait(patience.wait_ms(time.monotonic()))
    return wait_before


def limit_transaction() -> None:
    """Limit the waits of the transaction that has begun, if it holds the reactor."""
    if connection.vendor == "postgresql" and is_reactor_thread():
        wait_ms = max(1, patience.wait_ms(time.monotonic()))
        with connection.cursor() as cursor:
            cursor.execute(LIMITS, [str(wait_ms), str(STATEMENT_MS)])


def set_wait(wait_ms: int) -> None:
    """Set the time that SQLite waits for a lock, in ms."""
    connection.connection.execute(f"PRAGMA busy_timeout={wait_ms}")

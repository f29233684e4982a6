"""Transactions that never hold the reactor: a busy database is an error at once, not a wait."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager

from django.db import OperationalError, connection, transaction

from evennia_ai.errors import StoreUnavailable

LOCK_WAIT_MS = 30
WAIT_AGAIN_AFTER_S = 0.1


class Patience:
    """How long to wait for a lock. Not at all right after one was met: many writes in a row, such
    as those of everybody in a room who heard the same line, must not add up to a long wait."""

    def __init__(self) -> None:
        self.met_at = float("-inf")

    def wait_ms(self, now: float) -> int:
        """The wait in ms for a write that begins now, in seconds of a clock that never jumps."""
        return 0 if now - self.met_at < WAIT_AGAIN_AFTER_S else LOCK_WAIT_MS


patience = Patience()


@contextmanager
def brief_transaction() -> Generator[None]:
    """One transaction that waits `LOCK_WAIT_MS` at most for another writer, and see `Patience`; all
    of it or nothing.

    A locked SQLite would hold the reactor for its whole time-out, ten seconds in Evennia
    (measured). Raises StoreUnavailable where the database is locked, full or cannot be written.
    """
    wait_before = shorten_wait()
    try:
        with transaction.atomic():
            yield
    except OperationalError as error:
        patience.met_at = time.monotonic()
        raise StoreUnavailable(f"The database cannot be written now: {error}") from error
    finally:
        if wait_before is not None:
            set_wait(wait_before)


def shorten_wait() -> int | None:
    """Make SQLite give up a lock soon; returns its own wait in ms, None for another database."""
    if connection.vendor != "sqlite":
        return None
    connection.ensure_connection()
    wait_before = int(connection.connection.execute("PRAGMA busy_timeout").fetchone()[0])
    set_wait(patience.wait_ms(time.monotonic()))
    return wait_before


def set_wait(wait_ms: int) -> None:
    """Set how long SQLite waits for a lock."""
    connection.connection.execute(f"PRAGMA busy_timeout={wait_ms}")

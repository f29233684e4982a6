"""One server for one world: a lock on the database, held as long as this server lives.

On SQLite it is a lock of the operating system on a file beside the database, on PostgreSQL an
advisory lock of the connection that writes. Both end with the process, also when it is killed.
Only the server takes it: commands of `evennia` may run beside a server as before.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.db import DEFAULT_DB_ALIAS, Error, connection, connections

from evennia_ai.errors import StoreUnavailable

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

WAIT_S = 30.0  # for an earlier process of this server, which is going down
LOOK_S = 0.1
SUFFIX = "-ai-lock"
KEY = 0x45564149  # of our advisory locks, beside one for each schema

REFUSED = (
    "Another server uses this database, and a world has one server: this one starts no assistants "
    "and stores nothing for them. Stop one of the two, then `evennia reload` the other."
)
LOST = (
    "Another server took this database over while the connection to it was lost: the assistants of "
    "this one have stopped, and nothing more is stored for them. Stop one of the two servers."
)
UNUSABLE = (
    "The file {file}, which keeps a second server away, cannot be locked ({error}): no assistant "
    "starts, and nothing is stored for them. Let the server write there, then `evennia reload`."
)

PLACE = "%s, hashtext(current_schema())"
TAKE = f"SELECT pg_try_advisory_lock({PLACE}), pg_backend_pid()"
# A connection that only this side knows to be gone holds the lock for hours.
END_FORMER = (
    "SELECT pg_terminate_backend(pid, 2000) FROM pg_locks "
    "WHERE locktype = 'advisory' AND granted AND classid = %s AND pid = %s"
)


class WorldLock:
    """The lock of this process.

    Attributes:
        trouble: Why this process must not write, in a sentence for admins; "" if it may.
        is_newest: Returns False if another server has started since this one.
        on_lost: Called once another server has taken the lock over.
    """

    def __init__(self) -> None:
        self.trouble = ""
        self.is_newest: Callable[[], bool] = lambda: True
        self.on_lost: Callable[[], object] = lambda: None
        self._file = -1  # of the locked file
        self._backend = 0  # PostgreSQL's process that has the lock

    def take(self, wait_s: float | None = None) -> str:
        """Take the lock, and wait for another process that ends; return `trouble`.

        Call it before the reactor runs: it sleeps. Raises Django's errors if the database cannot
        be asked.
        """
        until = time.monotonic() + (WAIT_S if wait_s is None else wait_s)
        self.trouble = ""
        while not (self._try_file() if connection.vendor == "sqlite" else self._try_server()):
            if self.trouble or time.monotonic() >= until:
                self.trouble = self.trouble or REFUSED
                break
            time.sleep(LOOK_S)
        return self.trouble

    def ensure(self) -> None:
        """Raise StoreUnavailable if this process must not write."""
        if self.trouble:
            raise StoreUnavailable(self.trouble)

    def take_again(self, opened: Any) -> None:
        """Take the lock with a new connection to PostgreSQL, since it ended with the old one."""
        if not self._backend or self.trouble or opened is not connections[DEFAULT_DB_ALIAS]:
            return
        try:
            taken = self._try_server()
            if not taken:
                with connection.cursor() as cursor:
                    cursor.execute(END_FORMER, [KEY, self._backend])
                taken = self._try_server()
            if taken and self.is_newest():  # else what memory holds is old
                return
        except Error:
            connection.close()  # nothing may be written over it
            raise
        self.trouble = LOST
        self.on_lost()

    def _try_server(self) -> bool:
        if connection.vendor != "postgresql":
            return True
        with connection.cursor() as cursor:
            cursor.execute(TAKE, [KEY])
            taken, backend = cursor.fetchone()
        if taken:
            self._backend = backend
        return bool(taken)

    def _try_file(self) -> bool:
        path = lock_file()
        if self._file >= 0 or path is None:
            return True
        file = -1
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            is_locked = lock_at_once(file)
        except OSError as error:
            self.trouble, is_locked = UNUSABLE.format(file=path, error=error), False
        if is_locked:
            self._file = file
        elif file >= 0:
            os.close(file)
        return is_locked


def lock_at_once(file: int) -> bool:
    """Lock an open file for this process; return False if another process has the lock."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):  # the latter on Windows
        return False
    return True


def lock_file() -> Path | None:
    """Return the file beside an SQLite database that is locked; None for any other database."""
    database: Any = connection
    if database.vendor != "sqlite" or database.is_in_memory_db():
        return None
    file = Path(database.settings_dict["NAME"]).resolve()
    return file.with_name(file.name + SUFFIX)


lock = WorldLock()

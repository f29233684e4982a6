"""One server for one world: a lock on the database, held as long as this server lives.

On SQLite it is a lock of the operating system on a file beside the database, on PostgreSQL an
advisory lock of the connection that writes. Both end with the process, also when it is killed.
Only the server takes it: commands of `evennia` may run beside a server as before.

With `evennia-shards` on PostgreSQL each shard has a lock of its own, and the assistants whose
characters have its id in their rows. Each write of an assistant asks for that in its transaction.
"""

import os
import sys
import time
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zlib import crc32

from django.apps import apps
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, Error, connection, connections

from evennia_ai.errors import Moved, StoreUnavailable

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
NO_MINDS = (
    "This server is the router of evennia-shards: it has no assistants, the shards have them. This "
    "is as it should be."
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
# A transaction that moves a character waits until the one that asks has ended.
HOMES = (
    "SELECT id, shard_id FROM objects_objectdb WHERE id IN (SELECT unnest(%s::bigint[]) UNION "
    "SELECT db_obj_id FROM scripts_scriptdb WHERE id = ANY(%s)) FOR SHARE"
)
ROUTER = "router"  # the id that evennia-shards prescribes
EVERYWHERE = "*"  # the shard of what all shards see


def this_shard() -> str:
    """Return the id of this server for `evennia-shards`, "" if it is the only server."""
    role = getattr(settings, "SHARDS_ROLE", "monolith")
    is_one = role != "monolith" and "evennia_shards" in settings.INSTALLED_APPS
    return str(settings.SHARD_ID) if is_one and connection.vendor == "postgresql" else ""


def is_here(character: Any) -> bool:
    """Return True if this server has the character, as far as memory knows."""
    shard = this_shard()
    return not shard or character.shard_id == shard


def is_elsewhere(character_id: int) -> bool:
    """Return True if another server has a character, by its row."""
    if not (shard := this_shard()):
        return False
    rows = _objects()._base_manager.filter(id=character_id)  # of all shards
    return bool(rows.exclude(shard_id=shard).exists())


def of_this_shard(rows: Any, character: str = "assistant__db_obj") -> Any:
    """Return the rows whose ``character`` this server has; all, if it is the only server."""
    shard = this_shard()
    return rows.filter(**{f"{character}__shard_id": shard}) if shard else rows


def ensure_here(assistants: Collection[int] = (), characters: Collection[int] = ()) -> None:
    """Raise Moved if another shard has one; they cannot move until the transaction ends."""
    shard = this_shard()
    if lock.reaches_all or not (shard and (assistants or characters)):
        return
    with connection.cursor() as cursor:
        cursor.execute(HOMES, [list(characters), list(assistants)])
        moved = [row for row in cursor if row[1] not in (shard, EVERYWHERE)]
    for character_id, home in moved:
        if known := _objects().get_cached_instance(character_id):
            note_home(known, home)
        raise Moved(f"Another server has the character #{character_id} now: the shard {home}.")


def note_home(character: Any, home: str) -> None:
    """Note in memory which shard has a character; evennia-shards refuses the plain way."""
    object.__setattr__(character, "shard_id", home)


def _objects() -> Any:
    return apps.get_model("objects", "ObjectDB")  # not importable before the apps are ready


class WorldLock:
    """The lock of this process."""

    def __init__(self) -> None:
        self.trouble = ""  # why this process must not write, in a sentence for admins
        self.reaches_all = False  # True in `reaching_all`
        # Returns False if another server has started since this one.
        self.is_newest: Callable[[], bool] = lambda: True
        # Called once another server has taken the lock over.
        self.on_lost: Callable[[], object] = lambda: None
        self._file = -1  # of the locked file
        self._backend = 0  # PostgreSQL's process that has the lock

    def take(self, wait_s: float | None = None) -> str:
        """Take the lock, sleeping while another process ends; returns `trouble`."""
        until = time.monotonic() + (WAIT_S if wait_s is None else wait_s)
        self.trouble = NO_MINDS if this_shard() == ROUTER else ""
        try_once = self._try_file if connection.vendor == "sqlite" else self._try_server
        while not (self.trouble or try_once()):
            if self.trouble or time.monotonic() >= until:
                self.trouble = self.trouble or REFUSED
                break
            time.sleep(LOOK_S)
        return self.trouble

    def ensure(self) -> None:
        """Raise StoreUnavailable if this process must not write."""
        if self.trouble:
            raise StoreUnavailable(self.trouble)

    @contextmanager
    def reaching_all(self) -> Generator[None]:
        """Let writes reach characters of other servers, which read again what was changed."""
        self.reaches_all = True
        try:
            yield
        finally:
            self.reaches_all = False

    def take_again(self, opened: Any) -> None:
        """Take the lock with a new connection to PostgreSQL, since it ended with the old one."""
        if not self._backend or self.trouble or opened is not connections[DEFAULT_DB_ALIAS]:
            return
        try:
            taken = self._try_server()
            if not taken:
                with connection.cursor() as cursor:
                    cursor.execute(END_FORMER, [lock_key(), self._backend])
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
            cursor.execute(TAKE, [lock_key()])
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


def lock_key() -> int:
    """Return the first key of this server's advisory lock, one for each shard."""
    shard = this_shard()
    return crc32(shard.encode()) >> 1 if shard else KEY


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

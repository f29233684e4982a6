"""One server for one world: a lock on the database, held as long as this server lives.

On SQLite it is a lock of the operating system on a file beside the database, on PostgreSQL an
advisory lock of the connection that writes. Both end with the process, also when it is killed.
Only the server takes it: commands of `evennia` may run beside a server as before.

A file may be removed while it is locked. Its holder looks each `KEEP_S` whether it is still there,
and locks the one in its place; a server that starts leaves it `GRACE_S` for that.

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
KEEP_S = 1.0
GRACE_S = 2.5  # two looks of the holder, and half a second
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
REPLACED = (
    "The file {file}, which keeps a second server away, was removed, and another server took this "
    "database over: the assistants of this one have stopped, and nothing more is stored for them. "
    "Stop one of the two servers, and leave that file where it is."
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


class ServerLock:
    """The lock of this process."""

    def __init__(self) -> None:
        self.trouble = ""  # why this process must not write, in a sentence for admins
        self.reaches_all = False  # True in `reaching_all`
        # Returns False if another server has started since this one.
        self.is_newest: Callable[[], bool] = lambda: True
        # Called once another server has taken the lock over.
        self.on_lost: Callable[[], object] = lambda: None
        # Returns True if a server may run whose locked file was removed.
        self.had_server: Callable[[], bool] = lambda: False
        self._path = Path()
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
        if not self.trouble:
            self.keep()
        if self.trouble:
            raise StoreUnavailable(self.trouble)

    @property
    def has_file(self) -> bool:
        """True if what is locked is a file, which needs to be kept."""
        return self._file >= 0

    def keep(self) -> None:
        """Lock the file again if it was removed; raises StoreUnavailable while that fails."""
        if self.trouble or self._file < 0 or is_file_at(self._file, self._path):
            return
        is_newest = self.is_newest()
        try:
            file = lock_path(self._path)
        except OSError as error:  # such as too many open files
            raise StoreUnavailable(UNUSABLE.format(file=self._path, error=error)) from error
        if file >= 0:
            os.close(self._file)
            self._file = file
        if file < 0 or not is_newest:
            self.trouble = REPLACED.format(file=self._path)
            self.on_lost()

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
        if self.has_file or path is None:
            return True
        try:
            self._path, self._file = path, lock_path(path, GRACE_S if self.had_server() else 0.0)
        except OSError as error:
            self.trouble = UNUSABLE.format(file=path, error=error)
        return self.has_file


def lock_path(path: Path, grace_s: float = 0.0) -> int:
    """Return the descriptor of a file that is locked now, -1 if it is another's; raises OSError.

    Sleeps until the file has been there for ``grace_s``.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    age_s = time.time() - os.fstat(file).st_ctime
    if age_s < grace_s:
        time.sleep(grace_s - max(age_s, 0.0))
    if lock_at_once(file) and is_file_at(file, path):
        return file
    os.close(file)
    return -1


def is_file_at(file: int, path: Path) -> bool:
    """Return True if a path leads to an open file."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


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


lock = ServerLock()

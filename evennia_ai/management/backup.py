"""Backup and restore of a game's SQLite database, for ``ai_backup`` and ``ai_restore``."""

from __future__ import annotations

import os
import shlex
import socket
import sqlite3
import time
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError

from evennia_ai.apps import close_connections
from evennia_ai.game.file_modes import SIDE_FILES

CONNECT_TIMEOUT_S = 1.0
WAIT_S = 10.0
POLL_S = 0.1
TABLES = ("objects_objectdb", "server_serverconfig", "django_migrations")
OWNER_ONLY = 0o600
OTHER_DATABASE = "This game's database is no SQLite file, so nothing was done. Use: {line}"


def database_file(tool: str, *options: str) -> Path:
    """Return the game's SQLite file; raise CommandError with PostgreSQL's own line for others."""
    used = settings.DATABASES["default"]
    if used["ENGINE"].endswith("sqlite3"):
        return Path(used["NAME"])
    where = zip(("-h", "-p", "-U", "-d"), ("HOST", "PORT", "USER", "NAME"), strict=True)
    known = [str(word) for flag, key in where if used.get(key) for word in (flag, used[key])]
    raise CommandError(OTHER_DATABASE.format(line=shlex.join([tool, *known, *options])))


def copy_database(source: Path, target: Path) -> None:
    """Write a complete copy of an SQLite file that only its owner can read, also of one in use.

    Raises CommandError if there is no source or the target exists, `sqlite3.Error` otherwise.
    """
    if not source.is_file():
        raise CommandError(f"There is no file {source}.")
    try:
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY))
    except OSError as error:
        raise CommandError(f"{target} cannot be written: {error.strerror}.") from error
    address = f"{source.resolve().as_uri()}?mode=rw"
    try:
        with (
            closing(sqlite3.connect(address, uri=True)) as old,
            closing(sqlite3.connect(target)) as new,
        ):
            old.backup(new)
            new.execute("PRAGMA journal_mode=DELETE")
    except BaseException:
        target.unlink()
        raise


def fault_of(file: Path) -> str:
    """Return what is wrong with a copy of a game's database, "" if nothing is."""
    with closing(sqlite3.connect(file)) as copy:
        found = copy.execute("PRAGMA integrity_check(1)").fetchone()[0]
        names = {row[0] for row in copy.execute("SELECT name FROM sqlite_master")}
    if found != "ok":
        return f"it is damaged ({found})"
    return "" if names.issuperset(TABLES) else "it is not the database of an Evennia game"


def restore(database: Path, file: Path) -> Path | None:
    """Replace the game's database by a copy of a backup; return where the old one is kept.

    Raises CommandError if the backup cannot be used or the game does not end, and changes nothing.
    """
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    kept = database.with_stem(f"{database.stem}-{stamp}")
    copy = kept.with_suffix(".restoring")
    try:
        copy_database(file, copy)
        fault = fault_of(copy)
    except sqlite3.Error as error:
        fault = str(error)
    try:
        if fault:
            raise CommandError(f"{file} cannot be restored: {fault}. Nothing was changed.")
        wait_until_free(database)
        had = [side for side in SIDE_FILES if Path(f"{database}{side}").exists()]
        for side in had:
            Path(f"{database}{side}").replace(f"{kept}{side}").chmod(OWNER_ONLY)
        copy.replace(database)
    finally:
        copy.unlink(missing_ok=True)
    return kept if "" in had else None


def wait_until_free(database: Path) -> None:
    """Wait some seconds until no process uses the database; raise CommandError if one still does.

    `evennia stop` returns before the server's process has closed the file. A file that is replaced
    before that is damaged.
    """
    close_connections()
    deadline = time.monotonic() + WAIT_S
    while is_running() or not is_free(database):
        if time.monotonic() > deadline:
            raise CommandError(
                "The game is running, or another program has its database open. Type `evennia "
                "stop`, and close the program. Nothing was changed."
            )
        time.sleep(POLL_S)


def is_running() -> bool:
    """Return True if a portal answers on the game's AMP port."""
    with (
        suppress(OSError),
        socket.create_connection((settings.AMP_HOST, settings.AMP_PORT), CONNECT_TIMEOUT_S),
    ):
        return True
    return False


def is_free(database: Path) -> bool:
    """Return True if no other process has the file open; empties its write-ahead log then.

    SQLite leaves the write-ahead mode only for the one process that has the file open. A damaged
    file counts as free.
    """
    if not database.exists():
        return True
    try:
        with closing(sqlite3.connect(database, timeout=0)) as own:
            return bool(own.execute("PRAGMA journal_mode=DELETE").fetchone()[0] == "delete")
    except sqlite3.DatabaseError as error:
        return not isinstance(error, sqlite3.OperationalError)


def next_steps(kept: Path | None) -> list[str]:
    """Return what an admin does after a restore, in lines."""
    undo = f" The database before is {kept}; to undo this: evennia ai_restore {kept}"
    return [
        f"Restored.{undo if kept else ''}",
        "Next: `evennia migrate`, if the backup is of an older version; then `evennia start`.",
        "Players who were forgotten since the backup are back: type `aiforget` for them again.",
    ]

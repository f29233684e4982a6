"""Erase words: rows in chunks, bytes of an SQLite file, and the search for what is to go."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from django.db import connection
from evennia.objects.models import ObjectDB
from evennia.typeclasses.attributes import Attribute

from evennia_ai.store.attributes import attributes_of
from evennia_ai.store.forget import delete_newest
from evennia_ai.store.server_settings import mark_for_deletion
from evennia_ai.store.who_knows import LOGS, STORES

SEGMENTS_A_CHUNK = 50


def count_rows(assistant_id: int) -> dict[str, int]:
    """Return how many rows an assistant has in each table, by the table's model name."""
    return {
        model.__name__: model.objects.filter(assistant_id=assistant_id).count() for model in LOGS
    }


def erase_chunk(assistant_id: int) -> int:
    """Delete up to 100 rows, children first, then records; returns how many, 0 at the end."""
    for model in LOGS:
        if deleted := delete_newest(model.objects.filter(assistant_id=assistant_id)):
            return deleted
    for character in ObjectDB.objects.filter(scriptdb=assistant_id):
        for store in STORES.values():
            store.drop(character)
        ids = attributes_of(character, *STORES).values_list("id", flat=True)[:SEGMENTS_A_CHUNK]
        mark_for_deletion(character.id)
        return int(Attribute.objects.filter(id__in=list(ids)).delete()[0])
    return 0


WAIT_S = 5.0
MOST_BYTES = 200_000_000  # of a file that is written anew while the game runs: 2 s


def database_file() -> Path | None:
    """Return the SQLite file of the game, None for another database or one in memory."""
    path = Path(str(connection.settings_dict["NAME"]))
    return path if connection.vendor == "sqlite" and path.is_file() else None


def is_too_large(path: Path) -> bool:
    """Return True if writing a file anew would make the game's own writes wait too long."""
    return path.stat().st_size > MOST_BYTES


def overwrite_deleted(path: Path) -> tuple[float, bool]:
    """Write an SQLite file anew without what was deleted.

    Returns the seconds that it took and whether the write-ahead log is empty.

    Other connections can read meanwhile, but not write. It uses a connection of its own, so that
    any thread may call it. Of a file `is_too_large`, only the log is emptied. Raises
    `sqlite3.OperationalError` if others hold the file for more than `WAIT_S` seconds.
    """
    began = time.perf_counter()
    with closing(sqlite3.connect(path, timeout=WAIT_S, isolation_level=None)) as own:
        own.execute("PRAGMA secure_delete=ON")
        if not is_too_large(path):
            own.execute("VACUUM")
        busy, *_ = own.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return time.perf_counter() - began, not busy

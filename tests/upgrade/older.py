"""The games of old versions that lie in ``data``, and what their own code read from them."""

import json
import lzma
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from django.db import connection

DATA = Path(__file__).parent / "data"
GAMES = sorted(DATA.glob("*.sql.xz"))
NAMES = [file.name.partition(".")[0] for file in GAMES]

Records = Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]]


def read_game(file: Path) -> tuple[Records, str]:
    """Return the records of each character by dbref and store, and the dump of the database."""
    head, _, dump = lzma.decompress(file.read_bytes()).decode().partition("\n")
    return json.loads(head.removeprefix("-- ")), dump


def restore(file: Path, database: Path) -> Records:
    """Make the database file of an old game; return its records."""
    records, dump = read_game(file)
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript(dump)
    return records


@contextmanager
def connected(database: Path) -> Iterator[None]:
    """Use the database of an old game instead of the tests' own."""
    kept, name = connection.connection, connection.settings_dict["NAME"]
    connection.connection, connection.settings_dict["NAME"] = None, str(database)
    try:
        yield
    finally:
        connection.close()
        connection.connection, connection.settings_dict["NAME"] = kept, name

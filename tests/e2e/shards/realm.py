"""A world of `evennia-shards`: a router and two shards, on a PostgreSQL of their own.

The demo's common room with Mira is on shard0, an empty hall on shard1. Players use telnet, at the
shard that has their character: Ann on shard0, Ben on shard1.
"""

import os
import shutil
import signal
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg2

from server import running
from server.patience import OwnTime, Process, processes_of, wait_until
from tests.e2e.harness import GameServer, free_ports
from tests.postgresql import URL, running_server

POINTS = Path(__file__).parents[1] / "crash" / "crash_points.py"
ROUTER, FIRST, SECOND = "router", "shard0", "shard1"
HALL = "the hall"
LOCK_S = 3
BUS = """
from evennia_shards import MessageHandler, start_message_bus
from world.hooks import *
import world.hooks as own
def at_server_start():
    own.at_server_start()
    start_message_bus(MessageHandler())
"""
MAKE_HALL = f"""
from evennia import create_object
create_object("evennia.objects.objects.DefaultRoom", key={HALL!r}, nohome=True)
"""
SETTINGS = """
from evennia.settings_default import INSTALLED_APPS as BASE
INSTALLED_APPS = [*BASE, "evennia_shards"]
SHARDS_ROLE, SHARD_ID = {role!r}, {shard!r}
SHARD_URLS = {urls!r}
ROUTER_URL = "ws://127.0.0.1:{router}"
AT_SERVER_STARTSTOP_MODULE = ["world.bus"]
SERVER_SERVICES_PLUGIN_MODULES = ["world.crash_points"]
"""


class Shard(GameServer):
    """One server of the world."""

    def stop_at(self, moment: str) -> None:
        """Let the server process stop itself when it reaches a moment of `crash_points`."""
        (self.folder / "crash.order").write_text(moment)

    def is_stopped(self) -> bool:
        """Return True once the server process is stopped."""
        return "\nState:\tT" in Path(f"/proc/{self.pid}/status").read_text()

    def thaw(self) -> None:
        """Let a frozen server go on."""
        os.kill(self.pid, signal.SIGCONT)

    @property
    def pid(self) -> int:
        """Return the process id of the running server."""
        pid = running.server_pid(self.folder)
        assert pid and running.works_in(pid, self.folder), self.last_words()
        return pid


class Realm:
    """The servers by their names, and their database."""

    def __init__(self, folder: Path, url: str, **options: Any) -> None:
        self.url, self.model = url, None  # whoever starts the model sets it
        env = {URL: url, "CRASH_SIGNAL": "SIGSTOP"}
        first = GameServer.first_start(folder / "template", env=env, **options)
        ports = dict(zip((ROUTER, FIRST, SECOND), free_ports(3), strict=True))
        urls = {name: f"ws://127.0.0.1:{ports[name]}" for name in (FIRST, SECOND)}
        (first.folder / "world" / "bus.py").write_text(BUS)
        shutil.copy(POINTS, first.folder / "world" / POINTS.name)
        self.servers: dict[str, Shard] = {}
        for name in (ROUTER, FIRST, SECOND):
            role = ROUTER if name == ROUTER else "shard"
            lines = SETTINGS.format(role=role, shard=name, urls=urls, router=ports[ROUTER])
            options["settings"] = lines
            self.servers[name] = Shard.copy_of(first.folder, folder / name, env=env, **options)
        self.servers[ROUTER].launch("migrate")
        self.write("UPDATE objects_objectdb SET shard_id = %s", FIRST)
        self.servers[SECOND].python(MAKE_HALL)
        (self.hall,) = self.column("SELECT id FROM objects_objectdb WHERE db_key = %s", HALL)
        self.move("Ben")

    def move(self, name: str, shard: str = SECOND, place: int | None = None) -> None:
        """Move a character by SQL, as an operator would; its shard may be down."""
        place = place or (self.hall if shard == SECOND else 2)
        statement = (
            "UPDATE objects_objectdb SET shard_id = %s, db_location_id = %s WHERE db_key = %s"
        )
        self.write(statement, shard, place, name)

    def write(self, statement: str, *values: Any) -> None:
        """Change rows of the database; fails if a row is locked for `LOCK_S`."""
        with psycopg2.connect(self.url) as connection, connection.cursor() as cursor:
            cursor.execute(f"SET lock_timeout = '{LOCK_S}s'")
            cursor.execute(statement, values)
        connection.close()

    def column(self, query: str, *values: Any) -> list[Any]:
        """Return the first column of the rows of a query."""
        with psycopg2.connect(self.url) as connection, connection.cursor() as cursor:
            cursor.execute(query, values)
            rows = [row[0] for row in cursor.fetchall()]
        connection.close()
        return rows

    def pause(self, seconds: float) -> None:
        """Wait for some seconds of the servers' own time; see `server.patience`."""
        folders = [server.folder for server in self.servers.values()]

        def look(_game: Path) -> list[Process]:
            return [process for folder in folders for process in processes_of(folder)]

        wait_until(lambda: False, seconds, OwnTime(folders[0], look=look))

    def __getitem__(self, name: str) -> Shard:
        return self.servers[name]

    def discard(self) -> None:
        """Kill all servers."""
        for server in self.servers.values():
            server.discard()


@contextmanager
def running_realm(folder: Path, **options: Any) -> Generator[Realm]:
    """Make a world, without starting it; kill its servers at the end."""
    with running_server() as url:
        realm = Realm(folder, url, **options)
        try:
            yield realm
        finally:
            realm.discard()

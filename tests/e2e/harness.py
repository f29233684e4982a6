"""A real game server for tests: a copy of the demo in a folder of its own, on ports of its own.

    server = GameServer.copy_of(template, tmp_path / "game", assistant={"tick_rate": 1})
    server.start()
    with server.player("Ann") as ann: ...
    server.reload(); server.kill_server(); server.start(); server.stop()

Every wait is for a condition, with a limit in the game's own time; see `server.patience`.
"""

from __future__ import annotations

import itertools
import os
import secrets
import shutil
import signal
import socket
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from pprint import pformat
from typing import Any

from server import running
from server.patience import OwnTime, run_command, wait_until
from tests.e2e.portal_line import daemon, line_to
from tests.e2e.telnet import TelnetPlayer
from tests.postgresql import URL, read_postgresql

ROOT = Path(__file__).resolve().parents[2]
QUICK_IMPORTS = Path(__file__).parent / "site"
COPIED = ("server", "world")
LEFT_BEHIND = shutil.ignore_patterns(
    "__pycache__", "*.db3*", "*.pid", "*.log*", ".static", ".media", ".demo.json",
    "secret_settings.py", "connection_settings.py",
)  # fmt: skip

# The migrations of a game take 5 s of CPU; a test of something else starts with their result.
TABLES = "tables.db3"
ADMIN = "Warden"
OPEN_EVENTS = "SELECT text, state FROM evennia_ai_event WHERE state IN ('waiting', 'claimed')"
PLAYERS = ("Ann", "Ben", "Cid")
PASSWORD = "correct-horse-4711"

# Test runs side by side have ranges of ports that their process ids keep apart.
PORTS_OF_A_RUN = 100
FIRST_PORT, RUNS = 10_000, 200
PORTS = itertools.count()

START_TIMEOUT_S = 300.0
STOP_TIMEOUT_S = 30.0
COMMAND_TIMEOUT_S = 180.0
# Evennia takes two connections a second and lets further ones wait.
CONNECT_SPACING_S = 0.6
# Settings of a game in a test, where programs type faster than people.
FOR_TESTS = {
    "PLAYER_TOKENS_PER_DAY": None,
    "PLAYER_LIMITS": {"turns_per_minute": None},
    "EMBEDDER": "none",  # to load a model takes each server a second of CPU
}
# Evennia's own hash takes 0.3 s of CPU at each login, and hundreds of programs log in.
HASHERS = [f"django.contrib.auth.hashers.{kind}PasswordHasher" for kind in ("MD5", "PBKDF2")]
# A developer's own model, accounts and ports are no business of a test.
FOREIGN_VARIABLES = ("OPENAI_", "EVENNIA_", "DJANGO_SETTINGS_MODULE", "TEST_DB_PATH")

MAKE_PLAYERS = """
from evennia.accounts.accounts import DefaultAccount
from world.accounts import send_outside
for name in {names!r}:
    account, errors = DefaultAccount.create(username=name, password={password!r})
    assert not errors, errors
    for character in account.characters:
        send_outside(character)
"""


class ServerTrouble(AssertionError):
    """The server did not do what it was told. The text holds the ends of its logs."""


class GameServer:
    """One game directory with its server.

    Args:
        folder: The game directory; use `copy_of` or `first_start` to fill it.
        assistant: The Django setting ``AI_ASSISTANT``; with `FOR_TESTS`, unless it asks for others.
        settings: Further lines for its secret_settings.py.
        env: Further environment variables of the server.
        interpreter: The Python that runs it, by its path.
    """

    def __init__(  # by name, each with a default
        self,
        folder: Path,
        *,
        interpreter: str = sys.executable,
        assistant: Mapping[str, Any] | None = None,
        settings: str | Iterable[str] = (),
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = self.cwd = folder.resolve()
        self.launcher_log = self.folder / "server" / "logs" / "launcher.log"
        self.clock = OwnTime(self.folder)
        self.assistant = dict(assistant or {})
        self.settings = [settings] if isinstance(settings, str) else list(settings)
        self.env = dict(env or {})
        self.interpreter = interpreter
        self.telnet_port, self.web_port, self.websocket_port, *self._inner_ports = free_ports(5)
        self._connect_lock = threading.Lock()
        self._last_connect = 0.0

    @classmethod
    def copy_of(cls, template: Path, folder: Path, **options: Any) -> GameServer:
        """Copy a stopped server's directory, database and all; see `__init__` for the options."""
        shutil.copytree(template, folder)
        server = cls(folder, **options)
        server.write_settings()
        return server

    @classmethod
    def first_start(cls, folder: Path, **options: Any) -> GameServer:
        """Make a game directory as new, run its very first start, and stop it again.

        It has the superuser `ADMIN` and the accounts `PLAYERS`, all with the password `PASSWORD`,
        whose characters wait to enter the common room.
        """
        for name in COPIED:
            shutil.copytree(ROOT / name, folder / name, ignore=LEFT_BEHIND)
        server = cls(folder, **options)
        server.write_settings()
        server.launch("migrate")
        server.keep_tables()
        try:
            server.start(by_launcher=True)
        finally:
            server.stop()
        server.python(MAKE_PLAYERS.format(names=PLAYERS, password=PASSWORD))
        return server

    def keep_tables(self) -> None:
        """Keep a copy of an SQLite database for new games, while its tables are empty."""
        if not self.env.get(URL):
            with closing(sqlite3.connect(self.database)) as full:
                full.execute("VACUUM INTO ?", [str(self.folder / TABLES)])

    def write_settings(self) -> None:
        """(Re)write secret_settings.py; takes effect at the next start or reload."""
        web_inner, amp = self._inner_ports
        lines = [
            f"SECRET_KEY = {secrets.token_urlsafe(40)!r}",
            f"TELNET_PORTS = [{self.telnet_port}]",
            f"WEBSERVER_PORTS = [({self.web_port}, {web_inner})]",
            f"WEBSOCKET_CLIENT_PORT = {self.websocket_port}",
            f"AMP_PORT = {amp}",
            f"PASSWORD_HASHERS = {HASHERS}",
            f"AI_ASSISTANT = {pformat({**FOR_TESTS, **self.assistant})}",
            *self.settings,
        ]
        file = self.folder / "server" / "conf" / "secret_settings.py"
        file.write_text("\n".join(lines) + "\n")

    @property
    def database(self) -> Path:
        """Return the file of the game's database, unless that is PostgreSQL."""
        return self.folder / "server" / "evennia.db3"

    def start(self, *, by_launcher: bool = False) -> float:
        """Start portal and server unless they run; return the seconds until both were up."""
        began = time.monotonic()
        self._ready_file.unlink(missing_ok=True)
        output = self.launch_start() if by_launcher else self._start_quickly()
        if not running.portal_pid(self.folder):
            raise ServerTrouble(f"It did not start:\n{output}")
        self._wait_for(lambda: running.is_ready(self.folder), "start")
        return time.monotonic() - began

    def _start_quickly(self) -> str:
        output = ""
        if running.server_pid(self.folder):
            return output
        if not running.portal_pid(self.folder):
            output = self._run(self._daemon("portal"))
            if not self.wait_until(lambda: running.taken_ports([self._amp_port]), START_TIMEOUT_S):
                return output
        with line_to(self._amp_port) as portal:
            portal.start(self._daemon("server"))
        return output

    def _daemon(self, name: str) -> list[str]:
        return daemon(Path(self.interpreter).with_name("twistd"), self.folder, name)

    def reload(self, *, by_launcher: bool = False) -> float:
        """Reload the server; return the seconds until it was up. Players stay connected."""
        began = time.monotonic()
        before = self._ready_file.read_text()
        if by_launcher:
            self.launch("reload")
        else:
            with line_to(self._amp_port) as portal:
                portal.reload(self._daemon("server"))
        self._wait_for(lambda: self._ready_text() not in ("", before), "reload")
        self._wait_for(lambda: running.is_ready(self.folder), "reload")
        return time.monotonic() - began

    def kill_server(self) -> None:
        """Kill the server process (not the portal) with SIGKILL; return when it is gone."""
        pid = running.server_pid(self.folder)
        if pid is None or not running.works_in(pid, self.folder):
            raise ServerTrouble(f"There is no server to kill.\n{self.last_words()}")
        os.kill(pid, signal.SIGKILL)
        self._wait_for(lambda: not running.is_alive(pid), "die")
        # Until init takes note of its death, the next server would believe that it runs.
        (self.folder / "server" / "server.pid").unlink(missing_ok=True)

    def stop(self, *, by_launcher: bool = False) -> None:
        """Stop portal and server, by force if need be. It may be called at any time."""
        try:
            if not self.is_down():
                if by_launcher:
                    self.launch("stop")
                else:
                    with suppress(OSError), line_to(self._amp_port) as portal:
                        portal.stop()
                self.wait_until(self.is_down, STOP_TIMEOUT_S)
        finally:
            running.kill_game(self.folder)

    def discard(self) -> None:
        """Kill portal and server; nobody reads this game directory again."""
        running.kill_game(self.folder)

    def is_down(self) -> bool:
        """Tell whether neither portal nor server runs."""
        return not (running.server_pid(self.folder) or running.portal_pid(self.folder))

    def connect(self, name: str = "", accept: Collection[int] = ()) -> TelnetPlayer:
        """Open a telnet connection without a login, at a rate that the portal accepts."""
        with self._connect_lock:
            pause = self._last_connect + CONNECT_SPACING_S - time.monotonic()
            time.sleep(max(0.0, pause))
            self._last_connect = time.monotonic()
        return TelnetPlayer(self.telnet_port, name, accept, self.clock)

    def player(self, name: str, accept: Collection[int] = ()) -> TelnetPlayer:
        """Connect and log in as one of `PLAYERS` or `ADMIN`; they start in the common room."""
        return self.connect(name, accept).login(name, PASSWORD)

    def log(self) -> str:
        """Return the server's log."""
        return (self.folder / "server" / "logs" / "server.log").read_text(errors="replace")

    def sql(self, query: str, parameters: Iterable[Any] = ()) -> list[Any]:
        """Read from the game's database, whether it runs or not; rows go by index or name."""
        if url := self.env.get(URL):
            return read_postgresql(url, query, parameters)
        connection = sqlite3.connect(f"{self.database.as_uri()}?mode=ro", uri=True, timeout=60)
        try:
            connection.row_factory = sqlite3.Row
            return connection.execute(query, tuple(parameters)).fetchall()
        finally:
            connection.close()

    def wait_for_sql(self, query: str, rows: list[tuple[Any, ...]], timeout_s: float = 20) -> None:
        """Wait until a query returns these rows, or raise ServerTrouble after ``timeout_s``."""

        def is_so() -> bool:
            return [tuple(row) for row in self.sql(query)] == rows

        self._wait_for(is_so, f"come to {rows} by {query!r}", timeout_s)

    def wait_until(self, condition: Callable[[], object], timeout_s: float) -> bool:
        """Wait for a condition; return False if it did not come in ``timeout_s`` of the game."""
        return wait_until(condition, timeout_s, self.clock)

    def python(self, code: str, timeout_s: float = COMMAND_TIMEOUT_S) -> str:
        """Run a snippet in a process of its own under the game's settings; return its output.

        While the server runs, only read: its process does not see what another one writes.
        """
        setup = "import django; django.setup(); import evennia; evennia._init()\n"
        return self._run([self.interpreter, "-c", setup + code], timeout_s)

    def launch(self, command: str) -> str:
        """Run ``evennia <command>`` in the game directory; return its output."""
        return self._run([self.interpreter, "-m", "evennia", command])

    def launch_start(self) -> str:
        """Run ``evennia start`` until the launcher no longer gives up; return its last output."""
        return running.finish_start(self.folder, self.launch("start"), lambda: self.launch("start"))

    def last_words(self, lines: int = 25) -> str:
        """Return the ends of the logs, for a failing test's message."""
        ends = []
        for file in sorted((self.folder / "server" / "logs").glob("*.log")):
            tail = file.read_text(errors="replace").splitlines()[-lines:]
            ends.append("\n".join([f"--- {file.name}", *tail]))
        return "\n".join(ends)

    def environ(self) -> dict[str, str]:
        """Return the environment of the server and of every command about it."""
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(FOREIGN_VARIABLES)
        }
        # Evennia's launcher writes over the first folder in the path that it gives its daemons.
        path = [str(self.folder), str(QUICK_IMPORTS)]
        path += filter(None, [os.environ.get("PYTHONPATH")])
        own = {
            "PYTHONPATH": os.pathsep.join(path),
            "PATH": f"{Path(self.interpreter).parent}{os.pathsep}{os.environ.get('PATH', '')}",
            "DJANGO_SETTINGS_MODULE": "server.conf.settings",
            "EVENNIA_SUPERUSER_USERNAME": ADMIN,
            "EVENNIA_SUPERUSER_PASSWORD": PASSWORD,
            "EVENNIA_SUPERUSER_EMAIL": "",
        }
        return inherited | own | self.env

    def _run(self, command: list[str], timeout_s: float = COMMAND_TIMEOUT_S) -> str:
        place = {"cwd": self.cwd, "env": self.environ()}
        status, output = run_command(command, self.launcher_log, timeout_s, self.folder, **place)
        if status:
            raise ServerTrouble(f"{command} ended with {status}:\n{output}")
        return output

    @property
    def _amp_port(self) -> int:
        return self._inner_ports[1]

    @property
    def _ready_file(self) -> Path:
        return self.folder / "server" / "ready.pid"

    def _ready_text(self) -> str:
        return self._ready_file.read_text() if self._ready_file.exists() else ""

    def _wait_for(self, condition: Any, what: str, timeout_s: float = START_TIMEOUT_S) -> None:
        clock = OwnTime(self.folder)
        if not wait_until(condition, timeout_s, clock):
            raise ServerTrouble(f"It did not {what} in {clock}.\n{self.last_words()}")


def free_ports(count: int) -> list[int]:
    """Return ports of the loopback address on which nobody listens.

    They lie below the range from which systems take the ports of outgoing connections: one of
    those, opened before the server starts, would take its port away.
    """
    found: list[int] = []
    while len(found) < count:
        port = FIRST_PORT + os.getpid() % RUNS * PORTS_OF_A_RUN + next(PORTS) % PORTS_OF_A_RUN
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)):
                found.append(port)
    return found

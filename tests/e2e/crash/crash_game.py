"""A game whose server starts as a direct child, in a second, and is killed at will."""

import os
import shutil
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import evennia

from server import running
from tests.e2e.harness import GameServer, ServerTrouble

HERE = Path(__file__).parent
MODULE = "world.crash_points"
SETTINGS = (f"SERVER_SERVICES_PLUGIN_MODULES = [{MODULE!r}]",)
PORTAL = Path(evennia.__file__).parent / "server" / "portal" / "portal.py"
START_S = 60.0
DEATH_S = 10.0


class CrashGame(GameServer):
    """A `GameServer` with `crash_points` in it, whose portal lives on while its server dies.

    `open` and `close` stand for `start` and `stop`; between them, `start_server` and `kill_server`.
    """

    def __init__(self, folder: Path, **options: Any) -> None:
        super().__init__(folder, settings=SETTINGS, **options)
        self._children = ExitStack()
        self._warm: subprocess.Popen[str] | None = None
        self._pid = 0

    @property
    def order_file(self) -> Path:
        """Return the file that names the point at which the server kills itself."""
        return self.folder / "crash.order"

    @property
    def journal(self) -> Path:
        """Return the file in which the server writes its promises and acts."""
        return self.folder / "crash.journal"

    def open(self) -> None:
        """Start the portal and the process that forks servers, but no server."""
        shutil.copy(HERE / "crash_points.py", self.folder / "world" / "crash_points.py")
        twistd = str(Path(sys.executable).with_name("twistd"))
        pidfile = f"--pidfile={self.folder / 'server' / 'portal.pid'}"
        self._child("portal", [twistd, "--nodaemon", f"--python={PORTAL}", pidfile])
        # `works_in` knows a server of this game by the folder in its command line.
        self._warm = self._child(
            "warm_server",
            [sys.executable, str(HERE / "warm_server.py"), str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._wait_for(lambda: running.taken_ports([self.telnet_port]), "open its door", START_S)

    def close(self) -> None:
        """Kill all processes of the game."""
        self.discard()
        self._children.close()

    def plant(self, bug: str) -> None:
        """Plant a bug of `crash_points.PLANTS`, in force from the next start."""
        (self.folder / "crash.plant").write_text(bug)

    def start_server(self) -> None:
        """Start a server without waiting for it; see `await_server`."""
        assert self._warm and self._warm.stdin and self._warm.stdout
        self._warm.stdin.write("start\n")
        self._warm.stdin.flush()
        answer = self._warm.stdout.readline()
        if not answer:
            raise ServerTrouble(f"There is nothing to start servers with.\n{self.last_words()}")
        self._pid = int(answer)

    def await_server(self) -> bool:
        """Wait until the server is up; return False if it died before."""
        self._wait_for(lambda: self.is_dead() or running.is_ready(self.folder), "start", START_S)
        return not self.is_dead()

    def is_dead(self) -> bool:
        """Return True if the server that was started last is gone."""
        return not running.is_alive(self._pid)

    def kill_server(self) -> None:
        """Kill the server with SIGKILL and wait until it is gone."""
        os.kill(self._pid, signal.SIGKILL)
        self._wait_for(self.is_dead, "die", DEATH_S)

    def _child(self, name: str, command: list[str], **options: Any) -> subprocess.Popen[str]:
        env = self.environ()
        env["PYTHONPATH"] = os.pathsep.join([str(self.folder), env["PYTHONPATH"]])
        with (self.folder / "server" / "logs" / f"{name}.out.log").open("ab") as log:
            child = subprocess.Popen(
                command,
                cwd=self.folder,
                env=env,
                text=True,
                **{"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log} | options,
            )
        self._children.callback(child.wait)
        self._children.callback(child.kill)
        return child

"""Tell a game's portal what Evennia's launcher would, which takes 1.5 s of CPU to import itself.

The launcher also collects static files and looks through the game's modules; a copy of a game that
it has started needs neither.
"""

from __future__ import annotations

import pickle
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import evennia

from server.patience import POLL_S
from server.running import LOOPBACK

SERVER = Path(evennia.__file__).parent / "server"
# Evennia's codes of what a portal is to do; see evennia.server.portal.amp.
RELOAD, START, STOP_PORTAL, STOP_SERVER = "\x0e", "\x0f", "\x10", "\x11"
# Only against a portal that hangs for ever: it answers once the server has loaded its modules.
ANSWER_S = 600.0


def daemon(twistd: Path, game: Path, name: str) -> list[str]:
    """Return the launcher's command line for a game's "portal" or "server"."""
    module = SERVER / "portal" / "portal.py" if name == "portal" else SERVER / "server.py"
    observer = f"evennia.utils.logger.Get{name.capitalize()}LogObserver"
    pidfile = game / "server" / f"{name}.pid"
    return [str(twistd), f"--python={module}", f"--logger={observer}", f"--pidfile={pidfile}"]


class PortalLine:
    """A connection to a portal, by the protocol AMP: boxes of named values."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._file = connection, connection.makefile("rb")
        self._numbers = count(1)

    def start(self, command: Sequence[str]) -> None:
        """Let the portal start a server by this command, once it knows that the last is gone."""
        self._wait_for_the_end()
        self._tell(START, command)

    def reload(self, command: Sequence[str]) -> None:
        """Let the portal end its server so that players stay, and start the next one."""
        self._tell(RELOAD, {})
        self.start(command)

    def stop(self) -> None:
        """Let the portal end its server, and itself."""
        self._tell(STOP_SERVER, {})
        self._wait_for_the_end()
        self._tell(STOP_PORTAL, {})

    def _wait_for_the_end(self) -> None:
        while pickle.loads(self._ask("MsgStatus", status=b"")["status"])[1]:
            time.sleep(POLL_S)

    def _tell(self, operation: str, arguments: Any) -> None:
        words = pickle.dumps(arguments)
        self._ask("MsgLauncher2Portal", operation=operation.encode(), arguments=words)

    def _ask(self, command: str, **values: bytes) -> dict[str, bytes]:
        number = str(next(self._numbers)).encode()
        self._send(_command=command.encode(), _ask=number, **values)
        while (box := self._receive()).get("_answer") != number:
            assert "_error" not in box, box
            self._send(
                _answer=box["_ask"], status=pickle.dumps(b"")
            )  # what a server does meanwhile
        return box

    def _send(self, **values: bytes) -> None:
        parts = [part for name, value in values.items() for part in (name.encode(), value)]
        box = b"".join(len(part).to_bytes(2) + part for part in parts)
        self._connection.sendall(box + b"\0\0")

    def _receive(self) -> dict[str, bytes]:
        box = {}
        while name := self._part():
            box[name.decode()] = self._part()
        if not box:
            raise ConnectionError("The portal is gone.")
        return box

    def _part(self) -> bytes:
        length = int.from_bytes(self._file.read(2))
        return self._file.read(length)


@contextmanager
def line_to(port: int) -> Iterator[PortalLine]:
    """Connect to the portal that listens on this port."""
    with socket.create_connection((LOOPBACK, port), ANSWER_S) as connection:
        yield PortalLine(connection)

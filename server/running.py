"""Look at a game directory's running server from outside: pids, readiness, ports.

Used by the demo and by the end-to-end tests. Standard library only.
"""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterable
from pathlib import Path

from server.patience import PROC, OwnTime, daemons_of, wait_until

LOOPBACK = "127.0.0.1"
LAUNCHER_GAVE_UP = "Connection to Evennia timed out"
LAUNCHES = 4
SLOW_PORTAL_S = 60.0


def read_pid(file: Path) -> int | None:
    """Return the pid in the file if that process lives, else None."""
    try:
        pid = int(file.read_text())
    except (OSError, ValueError):
        return None
    return pid if is_alive(pid) else None


def is_alive(pid: int) -> bool:
    """Return True if the process runs; a zombie does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return True


def server_pid(game: Path) -> int | None:
    """Return the pid of the game's living server process, or None."""
    return read_pid(game / "server" / "server.pid")


def portal_pid(game: Path) -> int | None:
    """Return the pid of the game's living portal process, or None."""
    return read_pid(game / "server" / "portal.pid")


def is_ready(game: Path) -> bool:
    """Return True if the server is ready and will not restart; see `world.hooks`."""
    pid = server_pid(game)
    return pid is not None and pid == read_pid(game / "server" / "ready.pid")


def finish_start(game: Path, output: str, launch: Callable[[], str]) -> str:
    """Run Evennia's ``start`` by ``launch`` while it timed out; return the last ``output``.

    The launcher waits ten seconds for the portal to answer, and leaves one that is only late
    without a server. Started again it goes on from there; but before the portal has its pid file,
    it would start a second one, and each would take the other's ports and pid file away.
    """
    for _ in range(LAUNCHES - 1):
        if LAUNCHER_GAVE_UP not in output or not comes_up(game):
            break
        output = launch()
    return output


def comes_up(game: Path) -> bool:
    """Wait for a late portal; return False if it hangs. One that is gone may be started again."""

    def is_settled() -> bool:
        return bool(portal_pid(game)) or (PROC.exists() and not daemons_of(game))

    return wait_until(is_settled, SLOW_PORTAL_S, OwnTime(game))


def kill_game(game: Path) -> None:
    """Kill the server and the portal of this game directory, also before they have pid files."""
    for pid in {portal_pid(game), server_pid(game), *daemons_of(game)} - {None}:
        if works_in(pid, game):
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda pid=pid: not is_alive(pid), 10)


def works_in(pid: int, game: Path) -> bool:
    """Return True if the process belongs to this game directory; no other may be killed."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return not Path("/proc/self").exists()
    return str(game) in words


def taken_ports(ports: Iterable[int]) -> list[int]:
    """Return the ports on which another program listens already."""
    return [port for port in ports if not can_bind(port)]


def can_bind(port: int) -> bool:
    """Return True if we can listen on this port of the loopback address."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
        return True


def answers(port: int, timeout_s: float = 5.0) -> bool:
    """Return True if a server on this port speaks first, as telnet servers do."""
    try:
        with socket.create_connection((LOOPBACK, port), timeout_s) as client:
            return bool(client.recv(1))
    except OSError:
        return False

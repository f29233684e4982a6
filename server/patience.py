"""Wait for the processes of a game, in their own time.

Beside other work a process may get a tenth of a CPU, so seconds on the wall say nothing about it.
Its own time is CPU time while it works and wall time while it is idle; the time for which it waits
for a CPU or a disk does not count. Without ``/proc`` all time counts. Standard library only.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROC = Path("/proc")
POLL_S = 0.05
LOOK_S = 0.5
# A longer step is one in which the waiting process itself got no CPU.
LONGEST_STEP_S = 2 * LOOK_S
BUSY = frozenset("RD")  # runs, waits for a CPU, or waits for a disk


class Stalled(Exception):
    """A command did not end. The text says which, what was last seen, and its output."""


@dataclass(frozen=True)
class Process:
    """What a process was seen to do: `state` is a letter of ``/proc``, of its busiest thread."""

    pid: int
    name: str
    state: str
    cpu_s: float

    def __str__(self) -> str:
        return f"{self.name} {self.pid} ({self.state}, {self.cpu_s:.1f} s of CPU)"


class OwnTime:
    """A clock of a game's own seconds; call it to read it.

    Args:
        game: The game directory.
        wall: The clock of the wall, in seconds.
        look: Returns what the game's processes do now.
    """

    def __init__(
        self,
        game: Path,
        wall: Callable[[], float] = time.monotonic,
        look: Callable[[Path], Sequence[Process]] | None = None,
    ) -> None:
        self._game, self._wall, self._look = game, wall, look or processes_of
        self._began = self._at = wall()
        self._own_s = 0.0
        self._processes: Sequence[Process] = self._look(game)

    def __call__(self) -> float:
        now = self._wall()
        if now - self._at >= LOOK_S:
            step, self._at = min(now - self._at, LONGEST_STEP_S), now
            before = {process.pid: process.cpu_s for process in self._processes}
            self._processes = self._look(self._game)
            steps = [
                process.cpu_s - before.get(process.pid, process.cpu_s)
                for process in self._processes
                if process.state in BUSY
            ]
            self._own_s += min([step, *steps])
        return self._own_s

    def __str__(self) -> str:
        last = ", ".join(map(str, self._processes)) or "no process"
        wall_s = self._wall() - self._began
        return f"{self._own_s:.0f} s of its own time, {wall_s:.0f} s on the wall; last seen: {last}"


def wait_until(
    condition: Callable[[], object], timeout_s: float, clock: Callable[[], float] = time.monotonic
) -> bool:
    """Wait until the condition holds; return False if it did not in ``timeout_s`` of the clock."""
    end = clock() + timeout_s
    while not condition():
        if clock() > end:
            return bool(condition())  # it may hold by now, if we got no CPU
        time.sleep(POLL_S)
    return True


def run_command(
    command: Sequence[str], log: Path, timeout_s: float, game: Path, **options: Any
) -> tuple[int, str]:
    """Run a command about a game; return its status and output.

    The output goes through the file, because the daemons of Evennia's launcher inherit it. The
    ``options`` are those of `subprocess.Popen`.

    Raises:
        Stalled: It did not end within ``timeout_s`` of its own time, and was killed.
    """
    clock = OwnTime(game)
    with log.open("w+", errors="replace") as out:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, **options
        )
        try:
            has_ended = wait_until(lambda: child.poll() is not None, timeout_s, clock)
        finally:
            if child.returncode is None:
                child.kill()
                child.wait()
        out.seek(0)
        output = out.read()
    if not has_ended:
        raise Stalled(f"`{' '.join(command)}` did not end in {clock}.\n{output}")
    return child.returncode, output


def processes_of(game: Path) -> list[Process]:
    """Return the processes of a game, and all that this process started.

    Portal and server are there before they have written their pid files.
    """
    children: dict[int, list[int]] = {}
    for pid in all_pids():
        if fields := stat_fields(PROC / str(pid) / "stat"):
            children.setdefault(int(fields[1]), []).append(pid)
    family = [os.getpid()]
    for pid in family:
        family += children.get(pid, ())
    pids = sorted({*family[1:], *daemons_of(game)})
    return [process for process in map(read_process, pids) if process]


def daemons_of(game: Path) -> list[int]:
    """Return the pids of a game's portal and server, starting or started."""
    mark = f"--pidfile={game / 'server'}{os.sep}".encode()
    return [pid for pid in all_pids() if mark in read_bytes(pid, "cmdline")]


def all_pids() -> list[int]:
    """Return the pids of all processes that can be seen."""
    with suppress(OSError):
        return [int(folder.name) for folder in PROC.iterdir() if folder.name.isdecimal()]
    return []


def read_process(pid: int) -> Process | None:
    """Return what a process does, or None if it is gone or a zombie."""
    fields = stat_fields(PROC / str(pid) / "stat")
    if not fields or fields[0] in "ZX":
        return None
    threads = map(stat_fields, (PROC / str(pid) / "task").glob("*/stat"))
    states = {thread[0] for thread in threads if thread}
    state = min(states & BUSY, default=fields[0])
    cpu_s = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    name = read_bytes(pid, "comm").decode(errors="replace").strip()
    return Process(pid, name, state, cpu_s)


def stat_fields(file: Path) -> list[str]:
    """Return the fields of a stat file after the program's name, none if the process is gone."""
    with suppress(OSError):
        return file.read_text(errors="replace").rpartition(")")[2].split()
    return []


def read_bytes(pid: int, name: str) -> bytes:
    """Return a file of ``/proc`` about a process, b"" if the process is gone."""
    with suppress(OSError):
        return (PROC / str(pid) / name).read_bytes()
    return b""

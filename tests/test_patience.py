"""Waiting for a game's processes in their own time, whatever else the machine does."""

import itertools
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from server import patience, running
from server.patience import OwnTime, Process, Stalled, run_command, wait_until

LATE_PORTAL = "import time; time.sleep(600)"


class Machine:
    """A game's processes on a fake wall: each look is half a second after the last."""

    def __init__(self, **cpu_per_s):
        """`cpu_per_s` is the CPU time in a second of the wall of each process, None if idle."""
        self.now, self.cpu_per_s = 0.0, cpu_per_s

    def wall(self):
        return self.now

    def look(self, game):
        return [
            Process(pid, name, "S" if rate is None else "R", (rate or 0.0) * self.now)
            for pid, (name, rate) in enumerate(self.cpu_per_s.items())
        ]

    def own_time(self):
        return OwnTime("game", self.wall, self.look)

    def after(self, seconds, step=0.5):
        """Return what the game's own clock shows after these seconds of the wall."""
        clock = self.own_time()
        while self.now < seconds:
            self.now += step
            clock()
        return pytest.approx(clock())


def test_idle_or_alone_a_game_has_all_the_time_there_is():
    assert Machine().after(100) == 100
    assert Machine(portal=None, server=None).after(100) == 100
    assert Machine(portal=None, server=1.0).after(100) == 100


def test_beside_other_work_only_its_cpu_time_counts():
    assert Machine(server=0.01).after(1000) == 10
    assert Machine(portal=None, server=0.01, stub=None).after(1000) == 10


def test_while_one_waits_for_a_cpu_the_work_of_another_does_not_count():
    assert Machine(server=0.01, browser=0.9).after(1000) == 10


def test_what_the_waiting_process_itself_missed_does_not_count():
    assert Machine(server=None).after(1000, step=100) == 10 * patience.LONGEST_STEP_S


def test_a_new_process_is_progress():
    machine = Machine()
    clock = machine.own_time()
    for number in range(10):
        machine.cpu_per_s = {f"command{n}": 1.0 for n in range(number + 1)}
        machine.now += 0.5
        clock()
    assert clock() == 0


def test_the_clock_says_what_was_seen_last():
    machine = Machine(portal=None, server=0.01)
    clock = machine.own_time()
    while machine.now < 400:
        machine.now += 0.5
        clock()
    assert str(clock) == (
        "4 s of its own time, 400 s on the wall; last seen: "
        "portal 0 (S, 0.0 s of CPU), server 1 (R, 4.0 s of CPU)"
    )


def test_a_wait_ends_when_its_clock_does(monkeypatch):
    monkeypatch.setattr(patience, "POLL_S", 0.0)
    ticks = itertools.count()
    assert not wait_until(lambda: False, 10, lambda: next(ticks))
    assert next(ticks) == 12


def test_what_holds_when_a_wait_is_over_is_seen(monkeypatch):
    monkeypatch.setattr(patience, "POLL_S", 0.0)
    ticks, answers = itertools.count(step=100), iter([False, True])
    assert wait_until(lambda: next(answers), 10, lambda: next(ticks))


needs_proc = pytest.mark.skipif(not patience.PROC.exists(), reason="there is no /proc")


@pytest.fixture
def start(tmp_path):
    """Return a function that starts a Python with a snippet and arguments."""
    children = []

    def start(snippet, *arguments):
        children.append(subprocess.Popen([sys.executable, "-c", snippet, *arguments]))
        return children[-1]

    yield start
    for child in children:
        child.kill()
        child.wait()


@pytest.fixture
def portal(start, tmp_path):
    """Return a portal that is late: a process without its pid file."""
    (tmp_path / "server").mkdir()
    return start(LATE_PORTAL, f"--pidfile={tmp_path}/server/portal.pid")


def state_of(pid, game):
    return next((one.state for one in patience.processes_of(game) if one.pid == pid), None)


@needs_proc
def test_what_a_process_does_is_seen(start, tmp_path):
    busy, idle = start("while True: pass"), start(LATE_PORTAL)
    assert wait_until(lambda: state_of(busy.pid, tmp_path) == "R", 60)
    assert wait_until(lambda: state_of(idle.pid, tmp_path) == "S", 60)
    assert os.getpid() not in [one.pid for one in patience.processes_of(tmp_path)]
    idle.kill()
    assert wait_until(lambda: state_of(idle.pid, tmp_path) is None, 60)


@needs_proc
def test_a_busy_thread_is_seen(start, tmp_path):
    spin = "while True: pass"
    process = start(f"import threading; threading.Thread(target=exec, args=[{spin!r}]).start()")
    assert wait_until(lambda: state_of(process.pid, tmp_path) == "R", 60)


@needs_proc
def test_a_late_portal_is_seen_and_another_games_is_not(portal, tmp_path):
    assert wait_until(lambda: patience.daemons_of(tmp_path) == [portal.pid], 60)
    assert patience.daemons_of(tmp_path / "server") == []


@needs_proc
def test_a_portal_that_is_only_late_is_never_doubled(portal, tmp_path, monkeypatch):
    assert wait_until(lambda: patience.daemons_of(tmp_path), 60)
    launches = []
    monkeypatch.setattr(running, "SLOW_PORTAL_S", 0.0)
    gave_up = running.LAUNCHER_GAVE_UP
    assert running.finish_start(tmp_path, gave_up, lambda: launches.append(1)) == gave_up
    assert not launches


@needs_proc
def test_a_start_goes_on_when_the_late_portal_has_come(portal, tmp_path, monkeypatch):
    file = tmp_path / "server" / "portal.pid"
    looks = itertools.count()

    def look(game):
        if next(looks) == 1:
            file.write_text(str(portal.pid))
        return [portal.pid]

    monkeypatch.setattr(running, "daemons_of", look)
    output = running.finish_start(tmp_path, running.LAUNCHER_GAVE_UP, file.read_text)
    assert output == str(portal.pid)
    assert next(looks) > 1


@needs_proc
def test_a_late_portal_is_killed_with_its_game(portal, tmp_path):
    assert wait_until(lambda: patience.daemons_of(tmp_path), 60)
    running.kill_game(tmp_path)
    assert portal.wait() == -signal.SIGKILL


def test_a_command_returns_its_status_and_output(tmp_path):
    command = [sys.executable, "-c", "print('done'); raise SystemExit(3)"]
    assert run_command(command, tmp_path / "log", 60, tmp_path) == (3, "done\n")


def test_a_command_that_does_not_end_is_killed_with_a_sentence(tmp_path):
    snippet = "import time; print('so far', flush=True); time.sleep(600)"
    with pytest.raises(Stalled, match=r"sleep\(600\)` did not end in \d+ s of its own") as stop:
        run_command([sys.executable, "-c", snippet], tmp_path / "log", 1, tmp_path)
    assert "so far" in str(stop.value)
    assert not patience.PROC.exists() or "last seen: python" in str(stop.value)


FAILING = """
from tests.e2e import conftest
from tests.e2e.conftest import *

def first_start(folder):
    raise conftest.ServerTrouble("no tables\\nTraceback ...")

conftest.GameServer.first_start = first_start
"""
NEEDING = "".join(f"def test_{n}(game_template): pass\n" for n in range(10))


def test_a_game_that_cannot_be_made_is_one_error(tmp_path):
    """All other tests are skipped, here and in the runs that share the folder."""
    (tmp_path / "conftest.py").write_text(FAILING)
    (tmp_path / "test_game.py").write_text(NEEDING + "def test_of_its_own(): pass\n")
    (tmp_path / "shared").mkdir()
    command = [sys.executable, "-m", "pytest", "-p", "no:django", "-p", "no:cacheprovider", "-rsE"]
    env = {
        **os.environ,
        "PYTHONPATH": str(Path.cwd()),
        "EVENNIA_AI_TEMPLATE": str(tmp_path / "shared"),
    }
    run = [*command, f"--rootdir={tmp_path}", str(tmp_path / "test_game.py")]
    first, second = (
        subprocess.run(
            run, cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        ).stdout
        for _ in range(2)
    )
    assert "1 passed, 9 skipped, 1 error" in first
    assert "could not be made: no tables" in first
    assert "1 passed, 10 skipped" in second
    assert "could not be made: no tables" in second

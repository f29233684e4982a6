"""P7: ten thousand assistants with no player near cost nothing."""

import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.bench.figures import Sheet
from tests.bench.probed import ProbedServer, Record

ROOMS, A_ROOM = 1_000, 10
ASSISTANTS = ROOMS * A_ROOM
WINDOW_S = 60.0
# Evennia's maintenance runs every 60 s from the start: a window from here holds it just once. The
# look at ten thousand visited ones takes 30 s of CPU before it (3 ms each, measured).
WINDOW_FROM_S = 85.0
VISIT_AT_S = 3.0
MOST_OF_A_CORE = 0.5


def until(moment: float) -> None:
    """Sleep until a unix time."""
    time.sleep(max(0.0, moment - time.time()))


def take_window(server: ProbedServer, visited: bool) -> tuple[Record, Record]:
    """Return snapshots of the beginning and the end of the window."""
    started = server.started_at()
    if visited:
        until(started + VISIT_AT_S)
        assert server.order("visit")["attended"] == ASSISTANTS
    until(started + WINDOW_FROM_S)
    before = server.order("snapshot")
    until(before["at"] + WINDOW_S)
    return before, server.order("snapshot")


def core_percent(window: tuple[Record, Record]) -> float:
    """Return the CPU time of the window in per cent of one core."""
    before, after = window
    return 100 * (after["cpu_s"] - before["cpu_s"]) / (after["at"] - before["at"])


def queries(window: tuple[Record, Record]) -> Counter[str]:
    """Return the window's queries, by caller, verb and table."""
    before, after = window
    return Counter(after["queries"]) - Counter(before["queries"])


@dataclass(frozen=True)
class Idle:
    """What a server did in the window."""

    core_percent: float
    queries: Counter[str]
    model_calls: int
    still_ticked: int

    @property
    def queries_of_ours(self) -> int:
        """Return how many queries evennia_ai asked."""
        return sum(n for kind, n in self.queries.items() if kind.startswith("evennia_ai "))


def watch(server: ProbedServer, visited: bool) -> Idle:
    """Measure one server through its window."""
    window = take_window(server, visited)
    calls = server.game.sql("SELECT COUNT(*) FROM evennia_ai_modelcall")[0][0]
    still = server.order("attended")["attended"]
    return Idle(core_percent(window), queries(window), calls, still)


@pytest.fixture(scope="module")
def idle(empty_template: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Idle]:
    """Measure three servers: without assistants, with all of them, with all visited once."""
    folder = tmp_path_factory.mktemp("idle")
    with ExitStack() as stack:
        servers = {}
        for name in ("none", "never", "once"):
            server = ProbedServer(empty_template, folder / name, "queries")
            if name != "none":
                server.furnish([(A_ROOM, 0)] * ROOMS)
            servers[name] = stack.enter_context(server)
        pool = stack.enter_context(ThreadPoolExecutor())
        watched = {
            name: pool.submit(watch, server, name == "once") for name, server in servers.items()
        }
        return {name: future.result() for name, future in watched.items()}


def test_ten_thousand_assistants_that_nobody_visited_cost_nothing(
    idle: dict[str, Idle], sheet: Callable[[str], Sheet]
) -> None:
    paper = sheet(f"idle, {WINDOW_S:.0f} s, none")
    paper.add("CPU", idle["none"].core_percent, "% of a core")
    paper.add("queries (Evennia's own)", idle["none"].queries.total())
    compare(sheet(f"idle, {WINDOW_S:.0f} s, {ASSISTANTS:,}"), idle["never"], idle["none"])


def test_ten_thousand_assistants_that_were_visited_and_left_cost_nothing(
    idle: dict[str, Idle], sheet: Callable[[str], Sheet]
) -> None:
    """They stand in rooms of ten: other assistants do not count as players."""
    compare(sheet(f"idle, {WINDOW_S:.0f} s, once visited"), idle["once"], idle["none"])


def compare(paper: Sheet, crowd: Idle, none: Idle) -> None:
    """Keep what a crowd costs more than none, and check the bars."""
    more = crowd.core_percent - none.core_percent
    paper.add("CPU", crowd.core_percent, "% of a core")
    paper.add("  more than with none", more, "% of a core", MOST_OF_A_CORE)
    paper.add("queries more or less than with none", difference(crowd, none), "", 0)
    paper.add("queries asked by evennia_ai", crowd.queries_of_ours, "", 0)
    paper.add("model calls", crowd.model_calls, "", 0)
    paper.add("assistants still ticked", crowd.still_ticked, "", 0)
    paper.check()


def difference(one: Idle, other: Idle) -> int:
    """Return how many queries are in one and not in the other."""
    return ((one.queries - other.queries) + (other.queries - one.queries)).total()

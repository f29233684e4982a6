"""A reload: with a thousand assistants, during one model call, and during a hundred."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import pytest

from tests.bench import worlds
from tests.bench.figures import Sheet
from tests.bench.probed import ProbedServer, Record, longest_gap
from tests.bench.worlds import ASSISTANTS
from tests.e2e import hanging
from tests.e2e.harness import OPEN_EVENTS, GameServer
from tests.e2e.telnet import TelnetPlayer
from tests.e2e.test_talk import thinking_with
from tests.provider import FaultyProvider

RELOADS = 2
SETTLE_S = 2.0
MOST_HELD_MS = 200.0
RELOAD_HOOK = "scripts' at_server_reload"
START_HOOK = "scripts' at_server_start"

HANGING = worlds.GATHERED
MOST = 0.95  # a turn may begin just after the reload has
HANGING_PAIRS = 2
INTERRUPTED = "SELECT COUNT(*) FROM evennia_ai_turn WHERE outcome = 'interrupted'"

SLOW_S = 10.0
PAIRS = 3
MOST_LONGER_S = 1.0
MOST_TIMES = 1.25


class Reload:
    """One reload of a probed server whose characters and assistants are all in memory."""

    def __init__(self, server: ProbedServer) -> None:
        server.order("live_in")
        old = server.pid
        time.sleep(0.5)
        began = time.time()
        self.seconds = server.game.reload()
        time.sleep(SETTLE_S)
        before = server.await_record("stopped", pid=old)
        after = server.order("snapshot")
        self.stop_ms = longest_gap(before, began)
        self.start_ms = longest_gap(after)
        self.hooks_ms = hooks_of(before, after)
        self.told = before["hook_calls"].get(RELOAD_HOOK, 0)
        self.woken = after["hook_calls"].get(START_HOOK, 0)


def hooks_of(before: Record, after: Record) -> dict[str, float]:
    """Return the ms in each hook, of the old process at the stop and the new one at the start."""
    stopping = {name: ms for name, ms in before["hooks_ms"].items() if is_of_the_stop(name)}
    starting = {name: ms for name, ms in after["hooks_ms"].items() if not is_of_the_stop(name)}
    return stopping | starting


def is_of_the_stop(hook: str) -> bool:
    """Tell whether a hook runs in the process that ends."""
    return "stop" in hook or "reload" in hook


def reloads(template: Path, folder: Path) -> list[Reload]:
    """Reload a copy of a game a few times and return the measurements."""
    with ProbedServer(template, folder, "beat") as server:
        return [Reload(server) for _ in range(RELOADS)]


def test_a_reload_with_a_thousand_assistants_takes_little_longer(
    empty_template: Path, crowd_template: Path, tmp_path: Path, sheet: Callable[[str], Sheet]
) -> None:
    none = reloads(empty_template, tmp_path / "none")
    crowd = reloads(crowd_template, tmp_path / "crowd")
    assert {(one.told, one.woken) for one in crowd} == {(ASSISTANTS, ASSISTANTS)}
    paper = sheet(f"reload, {ASSISTANTS:,} assistants")
    compare(paper, none, crowd)
    for name in sorted(crowd[0].hooks_ms):
        paper.add(f"in {name}", median(one.hooks_ms.get(name, 0.0) for one in crowd), "ms")
    paper.check()


def compare(paper: Sheet, none: list[Reload], many: list[Reload]) -> None:
    """Keep the longest stretches on the reactor and the wall clock of both."""
    for what, side in (("stop", "stop_ms"), ("start", "start_ms")):
        held = [median(getattr(one, side) for one in runs) for runs in (none, many)]
        paper.add(f"longest stretch at the {what}, none", held[0], "ms")
        paper.add(f"  {ASSISTANTS:,}", held[1], "ms")
        paper.add(f"  {ASSISTANTS:,} less none", held[1] - held[0], "ms", MOST_HELD_MS)
    wall = [median(one.seconds for one in runs) for runs in (none, many)]
    paper.add("wall clock, none", wall[0], "s")
    paper.add(f"  {ASSISTANTS:,}", wall[1], "s")
    paper.add(f"  {ASSISTANTS:,}, times that with none", wall[1] / wall[0])


@pytest.fixture
def game(demo_template: Path, tmp_path: Path, stub: FaultyProvider) -> Iterator[GameServer]:
    """Return the demo, running, with the stub as its model."""
    server = GameServer.copy_of(demo_template, tmp_path / "game", assistant=thinking_with(stub))
    try:
        server.start()
        yield server
    finally:
        server.discard()


def reload_in_flight(game: GameServer, stub: FaultyProvider, ann: TelnetPlayer, line: str) -> float:
    """Reload during a model call of ten seconds; return the seconds of the reload.

    Another call answers the line afterwards.
    """
    stub.control(latency=SLOW_S)
    asked = len(stub.requests())
    ann.send(f"say {line}")
    assert game.wait_until(lambda: len(stub.requests()) > asked, 20.0)
    stub.control(latency=0.0)
    seconds = game.reload()
    game.wait_for_sql(OPEN_EVENTS, [], 40)
    return seconds


def test_a_reload_in_the_middle_of_a_model_call_is_no_longer(
    game: GameServer, stub: FaultyProvider, sheet: Callable[[str], Sheet]
) -> None:
    quiet, busy = [], []
    with game.player("Ann") as ann:
        for number in range(PAIRS):
            quiet.append(game.reload())
            busy.append(reload_in_flight(game, stub, ann, f"hello Mira, number {number}"))
    assert game.sql(INTERRUPTED)[0][0] == PAIRS, "not every reload was in the middle of a call"
    paper = sheet(f"reload in a call of {SLOW_S:.0f} s")
    paper.add(f"nothing in flight, median of {PAIRS}", median(quiet), "s")
    paper.add(f"a call in flight, median of {PAIRS}", median(busy), "s")
    paper.add("  longer by", median(busy) - median(quiet), "s", MOST_LONGER_S)
    paper.add("  times that with nothing in flight", median(busy) / median(quiet), "", MOST_TIMES)
    paper.check()


@dataclass
class Pause:
    """How long players waited for a reload, in seconds."""

    hooks_s: float
    talk_s: float

    @classmethod
    def of(cls, server: ProbedServer, player: TelnetPlayer) -> Pause:
        """Reload, let a player speak at once, and measure both."""
        old, began = server.pid, time.monotonic()
        server.game.reload()
        player.mark()
        player.send("say Still here.")
        player.expect('You say, "Still here')
        talk_s = time.monotonic() - began
        stopped = server.await_record("reload began", pid=old)
        return cls(server.started_at() - stopped["at"], talk_s)


def test_a_reload_with_a_hundred_calls_hanging_is_no_longer_and_all_are_answered_after_it(
    gathering_template: Path, tmp_path: Path, stub: FaultyProvider, sheet: Callable[[str], Sheet]
) -> None:
    settings = thinking_with(stub, **hanging.UNDISTURBED)
    quiet, busy = [], []
    with (
        ProbedServer(
            gathering_template, tmp_path / "game", "", [hanging.MANY_COMMANDS], assistant=settings
        ) as server,
        server.game.player("Ann") as ann,
        server.game.player("Ben") as ben,
    ):
        for _ in range(HANGING_PAIRS):
            quiet.append(Pause.of(server, ben))
            hanging.ask_all(stub, ann, HANGING)
            busy.append(Pause.of(server, ben))
            server.game.wait_for_sql(OPEN_EVENTS, [], 120)
        ends = dict(map(tuple, server.game.sql(hanging.ENDS)))
        interrupted = server.game.sql(hanging.INTERRUPTED)[0][0]
    asked = HANGING * HANGING_PAIRS
    assert sum(ends.values()) == asked
    assert interrupted >= MOST * asked, "a reload was not in the middle of most calls"
    paper = sheet(f"reload with {HANGING} calls hanging")
    for what, side in (("hook to hook", "hooks_s"), ("until players talk", "talk_s")):
        waits = [median(getattr(one, side) for one in runs) for runs in (quiet, busy)]
        paper.add(f"{what}, nothing in flight", waits[0], "s")
        paper.add(f"  {HANGING} calls hanging, median of {HANGING_PAIRS}", waits[1], "s")
        paper.add("  longer by", waits[1] - waits[0], "s", MOST_LONGER_S)
    for end in ("answered", "excused"):
        paper.add(f"lines {end} afterwards", ends.pop(end, 0))
    paper.add("lines that ended otherwise", sum(ends.values()), "", 0)
    paper.check()

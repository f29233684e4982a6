"""The time from hearing to the model call, and the reactor under two hundred talks."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from server import running
from tests.bench import worlds
from tests.bench.figures import Sheet
from tests.bench.probed import ProbedServer, Record
from tests.e2e.harness import OPEN_EVENTS, PASSWORD, GameServer
from tests.e2e.telnet import TelnetPlayer
from tests.e2e.test_talk import thinking_with
from tests.provider import FaultyProvider

pytestmark = pytest.mark.timeout(600)

PLAYERS = 200
HISTORY = 100
SINGLE = 15
RUSH_S = 2.0
LATENCY_S = 0.2
SILENCE_S = 15.0
LONG_MS = 50.0
LOGINS_AT_A_TIME = 4
HASHERS = [f"django.contrib.auth.hashers.{name}PasswordHasher" for name in ("MD5", "PBKDF2")]
SETTINGS = (
    # Two hundred players come in within seconds; hashing their passwords would take minutes.
    "MAX_CONNECTION_RATE = 1000",
    "MAX_COMMAND_RATE = 1000",
    f"PASSWORD_HASHERS = {HASHERS}",
)


@dataclass
class Scene:
    """A server, its provider, and its players, each alone with an assistant."""

    server: ProbedServer
    stub: FaultyProvider
    players: list[TelnetPlayer]

    def speak(self, number: int, line: str) -> None:
        """Let a player say a line that names the player."""
        self.players[number].send(f"say {line}, says guest {number:04}")

    def asked_at(self) -> dict[str, float]:
        """Return when the provider was asked about each line."""
        at: dict[str, float] = {}
        for request in self.stub.requests():
            for line in new_lines(request["body"]):
                at.setdefault(line, request["at"])
        return at


def answering_only(stub: FaultyProvider) -> dict[str, object]:
    """Return AI_ASSISTANT for a game that calls the model only after speech."""
    return thinking_with(stub, autonomous_calls_per_hour=0)


def new_lines(body: dict[str, Any]) -> list[str]:
    """Return the lines of this benchmark in a request."""
    said = [str(m["content"]) for m in body["messages"] if m["role"] == "user"]
    return [line for text in said for line in re.findall(r"\w+ \d+ hail, says guest \d{4}", text)]


def enter(server: GameServer, number: int) -> TelnetPlayer:
    """Log a player in and wait until the character stands in its room."""
    name = f"Guest{number:04}"
    player = TelnetPlayer(server.telnet_port, name)
    player.expect("connect <", 30)
    player.send(f"connect {name} {PASSWORD}")
    player.expect(f"You become {name}", 60)
    return player


@pytest.fixture(scope="module")
def scene(demo_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """Make two hundred rooms, each with a player and an assistant who have talked before."""
    folder = tmp_path_factory.mktemp("pairs")
    with FaultyProvider(folder / "requests.jsonl") as stub:
        server = ProbedServer(
            demo_template, folder / "game", "beat", SETTINGS, assistant=answering_only(stub)
        )
        server.game.python(worlds.pairs(PLAYERS, HISTORY, PASSWORD))
        players: list[TelnetPlayer] = []
        try:
            with server, ThreadPoolExecutor(LOGINS_AT_A_TIME) as pool:
                for player in pool.map(lambda n: enter(server.game, n), range(PLAYERS)):
                    players.append(player)  # noqa: PERF402  # those who came in are closed below
                yield Scene(server, stub, players)
        finally:
            for player in players:
                player.close()


def settled(scene: Scene, turns: int) -> None:
    """Wait until ``turns`` turns have ended and nobody waits for an answer."""
    ended = f"SELECT COUNT(*) >= {turns} FROM evennia_ai_turn WHERE ended_at IS NOT NULL"
    scene.server.game.wait_for_sql(ended, [(1,)], 120)
    scene.server.game.wait_for_sql(OPEN_EVENTS, [], 60)


def turns_so_far(scene: Scene) -> int:
    """Return the number of turns in the database."""
    return int(scene.server.game.sql("SELECT COUNT(*) FROM evennia_ai_turn")[0][0])


def heard_to_asked(scene: Scene, heard: list[tuple[float, str]]) -> list[float]:
    """Return the milliseconds from hearing to the provider, for each line."""
    asked = scene.asked_at()
    return [(asked[line] - at) * 1000 for at, line in heard if line in asked]


def test_from_hearing_to_asking_with_a_hundred_messages(
    scene: Scene, sheet: Callable[[str], Sheet]
) -> None:
    scene.server.order("snapshot")
    paper = sheet("heard to asked, 100 messages")
    for number, title in enumerate(("history read from the database", "history in memory")):
        for player in range(SINGLE):
            before = turns_so_far(scene)
            scene.speak(player, f"single {number} hail")
            settled(scene, before + 1)
        heard = scene.server.order("snapshot")["heard"]
        took = heard_to_asked(scene, [tuple(pair) for pair in heard])
        assert len(took) == SINGLE
        paper.add_spread(title, took)
    paper.check()


def rush(scene: Scene, word: str) -> float:
    """Let everybody speak within two seconds; return the unix time of the first line."""
    began = time.time()
    for number in range(PLAYERS):
        wait = began + number * RUSH_S / PLAYERS - time.time()
        time.sleep(max(0.0, wait))
        scene.speak(number, word)
    return began


def test_the_reactor_while_two_hundred_are_spoken_to_within_two_seconds(
    scene: Scene, sheet: Callable[[str], Sheet]
) -> None:
    """Printed only. The control is the same speech to assistants that ignore it."""
    paper = sheet(f"{PLAYERS} spoken to in {RUSH_S:.0f} s")
    scene.stub.control(latency=LATENCY_S)
    scene.server.order("ignore_speech")
    for number in range(2):  # at their first words players cost Evennia much more
        before = scene.server.order("snapshot")
        rush(scene, f"control {number} hail")
        await_echo(scene, f"control {number}")
    add_stalls(paper, "assistants that ignore it", before, scene.server.order("snapshot"))
    scene.server.order("hear_speech")
    for number, title in enumerate(("first time", "second time")):
        add_rush(paper, title, scene, f"rush {number} hail")
    before = scene.server.order("snapshot")
    time.sleep(SILENCE_S)
    after = scene.server.order("snapshot")
    add_stalls(paper, f"{SILENCE_S:.0f} s of silence, players near", before, after, lines=0)
    paper.check()


def await_echo(scene: Scene, word: str) -> None:
    """Wait until every player has seen the own line."""
    for player in scene.players:
        assert running.wait_until(lambda: word in player.clean, 30)  # noqa: B023


def add_rush(paper: Sheet, title: str, scene: Scene, word: str) -> None:
    """Measure one rush from its first word to its last answer."""
    turns = turns_so_far(scene)
    before = scene.server.order("snapshot")
    began = rush(scene, word)
    settled(scene, turns + PLAYERS)
    ended = time.time()
    after = scene.server.order("snapshot")
    took = heard_to_asked(scene, [tuple(pair) for pair in after["heard"]])
    assert len(took) == PLAYERS
    add_stalls(paper, title, before, after)
    paper.add_spread(f"{title}: heard to asked", took)
    paper.add(f"{title}: first word to last answer", ended - began, "s")


def add_stalls(
    paper: Sheet, title: str, before: Record, after: Record, lines: int = PLAYERS
) -> None:
    """Keep how long the reactor was held between two snapshots, and the CPU time of a line."""
    held = [ms for _, ms in after["gaps"]]
    paper.add_spread(f"{title}: reactor held", held)
    paper.add(f"{title}: held over {LONG_MS:.0f} ms", sum(ms > LONG_MS for ms in held), "times")
    spent_ms = 1000 * (after["cpu_s"] - before["cpu_s"])
    if lines:
        paper.add(f"{title}: CPU of the server for each line", spent_ms / lines, "ms")
    else:
        paper.add(f"{title}: CPU of the server", spent_ms, "ms")

"""How many turns a second one server takes, with a model that answers at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.bench import worlds
from tests.bench.figures import Sheet
from tests.bench.probed import ProbedServer
from tests.bench.test_talk_speed import SETTINGS
from tests.e2e.harness import PASSWORD, GameServer
from tests.postgresql import URL, running_server

pytestmark = pytest.mark.timeout(900)

PAIRS, ROUNDS = 300, 3
# The first round, which loads all logs, adds two; the mean of the others is 20.
HISTORY = 16
LEAST = {"sqlite": 300, "postgresql": 200}
ASSISTANT = {
    "profile": "stub",
    "PROFILES": {"stub": {"client": "openai", "base_url": "http://127.0.0.1:9/v1", "model": "x"}},
    "autonomous_calls_per_hour": 0,
    "GAME_TOKENS_PER_DAY": None,
}


@contextmanager
def database(kind: str) -> Iterator[dict[str, str]]:
    """Yield the environment of a game that uses a database of this kind."""
    if kind == "sqlite":
        yield {}
    else:
        with running_server() as url:
            yield {URL: url}


@pytest.mark.parametrize("kind", LEAST)
def test_turns_a_second(kind: str, tmp_path: Path, sheet: Callable[[str], Sheet]) -> None:
    """Many assistants, each alone with a player. The bar is for a machine with nothing beside."""
    paper = sheet(f"turns a second, {kind}")
    with database(kind) as env:
        GameServer.first_start(tmp_path / "first", env=env)
        server = ProbedServer(
            tmp_path / "first", tmp_path / "game", "", SETTINGS, assistant=ASSISTANT, env=env
        )
        server.game.python(worlds.pairs(PAIRS, HISTORY, PASSWORD))
        with server:
            assert server.order("bring_players")["players"] == PAIRS
            server.order("talk", 1)
            figures = server.order("talk", ROUNDS)
        rows = server.game.sql("SELECT outcome FROM evennia_ai_turn")
    assert [row["outcome"] for row in rows] == ["answered"] * PAIRS * (ROUNDS + 1)
    turns = figures["turns"]
    paper.add("CPU of a turn", 1000 * figures["cpu_s"] / turns, "ms")
    paper.add("a turn", 1000 * figures["wall_s"] / turns, "ms", 1000 / LEAST[kind])
    paper.add("turns a second", turns / figures["wall_s"], "/s")
    paper.check()

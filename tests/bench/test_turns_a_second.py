"""How many turns a second one server takes, with a model that answers at once."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bench import stores
from tests.bench.figures import Sheet

PAIRS, ROUNDS = 300, 3
# The first round, which loads all logs, adds two; the mean of the others is 20.
HISTORY = 16
LINES = 1_000
# The 22 statements of a turn cost by themselves, through the ORM, what some eight lines cost.
MOST_LINES_A_TURN = 25.0
LEAST = {"sqlite": 300, "postgresql": 200}


@pytest.mark.parametrize("database", LEAST)
def test_turns_a_second(database: str, tmp_path: Path, sheet: Callable[[str], Sheet]) -> None:
    """Many assistants, each alone with a player. The bar is for a machine with nothing beside."""
    paper = sheet(f"turns a second, {database}")
    with stores.games_on(database, tmp_path) as games:
        with games.make([(1, HISTORY)] * PAIRS) as server:
            server.order("think_at_once")
            assert server.order("bring_players", PAIRS)["players"] == PAIRS
            server.order("talk", 0, PAIRS, 1)
            figures = server.order("talk", 0, PAIRS, ROUNDS)
            line_s = server.order("say_in_a_plain_room", LINES)["cpu_s"] / LINES
        rows = server.game.sql("SELECT outcome FROM evennia_ai_turn")
    assert [row["outcome"] for row in rows] == ["answered"] * PAIRS * (ROUNDS + 1)
    turns = figures["turns"]
    turn_s = figures["cpu_s"] / turns
    paper.add("CPU of a turn", 1000 * turn_s, "ms")
    paper.add("CPU of a line in a plain room", 1000 * line_s, "ms")
    paper.add("a turn / a line", turn_s / line_s, "", MOST_LINES_A_TURN)
    paper.add("a turn", 1000 * figures["wall_s"] / turns, "ms", 1000 / LEAST[database])
    paper.add("turns a second", turns / figures["wall_s"], "/s")
    paper.check()

"""How long the reactor is held with a thousand assistants awake."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bench import stores
from tests.bench.figures import Sheet

AWAKE, TALK_S, LINE_EVERY_S = 1_000, 30.0, 30.0
P99_MS, MAX_MS = 20.0, 100.0


@pytest.mark.parametrize("database", stores.DATABASES)
def test_the_reactor_with_a_thousand_awake(
    database: str, tmp_path: Path, sheet: Callable[[str], Sheet]
) -> None:
    """Each is alone with a player, who says a line in the measured time."""
    paper = sheet(f"{AWAKE:,} awake, {database}")
    with (
        stores.games_on(database, tmp_path) as games,
        games.make([(1, 20)] * AWAKE, "beat") as server,
    ):
        server.order("think_at_once")
        server.order("bring_players", AWAKE)
        server.order("talk", 0, AWAKE, 1)
        server.order("snapshot")
        spoken = server.order("speak", AWAKE, TALK_S, LINE_EVERY_S)
        held = [ms for _, ms in server.order("snapshot")["gaps"]]
    assert spoken["drained"]
    paper.add_held("reactor held", held, P99_MS)
    paper.add("  at most", max(held), "ms", MAX_MS)
    paper.add("CPU of a turn", 1000 * spoken["cpu_s"] / spoken["turns"], "ms")
    paper.add("the last answer, after the first line", spoken["last_s"], "s")
    paper.check()

"""How much memory assistants take: while nobody uses them, and after all have talked."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bench import worlds
from tests.bench.figures import Sheet
from tests.bench.probed import ProbedServer
from tests.e2e.harness import GameServer

pytestmark = pytest.mark.timeout(14_400)

SETTLE_S = 8.0
AWAKEN_TIMEOUT_S = 10_000.0
FEW = 10
MOST_IDLE_KB, MOST_MB = 20.0, 1_500.0


def peopled(empty: Path, folder: Path, thousands: int, messages: int) -> Path:
    """Return a game with many characters who have talked; without messages, with few assistants."""
    game = GameServer.copy_of(empty, folder / "game")
    for _ in range(thousands):
        game.python(worlds.crowd(assistants=messages > 0))
        if messages:
            game.python(worlds.talks(messages))
    if not messages:  # so that the embedder is loaded here too
        game.python(worlds.crowd(assistants=True, count=FEW))
    return game.folder


@pytest.mark.parametrize(
    ("thousands", "messages"), [(1, 200), pytest.param(10, 1_000, marks=pytest.mark.soak)]
)
def test_memory_is_bounded(
    empty_template: Path,
    tmp_path: Path,
    sheet: Callable[[str], Sheet],
    thousands: int,
    messages: int,
) -> None:
    paper = sheet(f"memory of {thousands},000 assistants, {messages:,} messages each")
    assistants = thousands * worlds.ASSISTANTS
    plain = peopled(empty_template, tmp_path / "plain", thousands, 0)
    with ProbedServer(plain, tmp_path / "one", "") as server:
        time.sleep(SETTLE_S)
        none_mb = server.order("memory")["mb"]
    many = peopled(empty_template, tmp_path / "many", thousands, messages)
    with ProbedServer(many, tmp_path / "two", "") as server:
        time.sleep(SETTLE_S)
        idle_mb = server.order("memory")["mb"]
        server.order("characters")
        server.order("awaken")
        talked = server.await_record("awakened", AWAKEN_TIMEOUT_S)
        after = server.order("memory")
        (answered,) = server.game.sql(
            "SELECT COUNT(*) FROM evennia_ai_event WHERE state='answered'"
        )
    assert answered[0] == assistants
    paper.add("RSS at the start, without assistants", none_mb, "MB")
    paper.add("RSS at the start, with them", idle_mb, "MB")
    paper.add("  more by", (idle_mb - none_mb) / thousands, "KB each", MOST_IDLE_KB)
    paper.add(f"most RSS while {assistants:,} answer", talked["most_mb"], "MB", MOST_MB)
    paper.add("  that is more by", talked["most_mb"] - idle_mb, "MB")
    paper.add("of it minds, as estimated", after["minds_mb"], "MB")
    paper.check()

"""A character falls asleep in front of players, is spoken to, and is killed in its sleep."""

from collections.abc import Callable

import pytest

from tests.e2e.harness import ADMIN, GameServer
from tests.e2e.test_talk import hello, thinking_with
from tests.provider import FaultyProvider

OUTCOMES = "SELECT outcome FROM evennia_ai_sleeppass ORDER BY id"
LONG_S = 20.0
SHORT_WAIT_S = 3.0
STORY = "listen, Mira: " + "the ferry leaves at noon with forty crowns of wool. " * 14
# Little room for talk, so that there is something to sort after a few lines.
FULL_HEAD = {
    "max_context_tokens": 12_000,
    "mask_threshold": 0.1,
    "compact_sleep_threshold": 0.15,
    "compact_preserve_window": 2,
    "sleep_wake_within": SHORT_WAIT_S,
    "autonomous_calls_per_hour": 0,
}


@pytest.fixture
def game(make_server: Callable[..., GameServer], stub: FaultyProvider) -> GameServer:
    """Return a game whose assistants soon need a compaction."""
    return make_server(assistant=thinking_with(stub, **FULL_HEAD))


def test_it_sleeps_for_all_to_see_and_nothing_is_lost_by_a_kill(
    game: GameServer, stub: FaultyProvider
) -> None:
    with game.player("Ann") as ann, game.player(ADMIN) as admin:
        for _ in range(10):
            ann.mark()
            hello(ann, STORY.strip())
        stub.control(latency=LONG_S)
        ann.mark()
        admin.send("aisleep Mira")
        ann.expect("Mira yawns and falls asleep")
        ann.send("look Mira")
        ann.expect("Mira is asleep")
        admin.send("aihistory/sleep Mira")
        admin.expect("it was told to: in progress")

        ann.send("say Mira, are you awake?")
        ann.expect("Mira mumbles in the middle of a dream")
        ann.expect("Mira wakes up and blinks", timeout=SHORT_WAIT_S + 5)
        stub.control(latency=0.0)
        ann.expect('Mira says, "', timeout=LONG_S + 5)
        admin.send("aihistory/sleep Mira")
        admin.expect(r"broken off after 3\.\d s, since it was woken")

        stub.control(latency=LONG_S)
        admin.send("aisleep Mira")
        ann.expect("Mira yawns and falls asleep")
        admin.send("aihistory/sleep Mira")
        admin.expect("it was told to: in progress")
        game.kill_server()
    stub.control(latency=0.0)
    game.start()
    with game.player("Ann") as ann, game.player(ADMIN) as admin:
        admin.send("aihistory/sleep Mira")
        admin.expect("interrupted by the server.s stop")
        game.wait_for_sql(OUTCOMES, [("woken",), ("interrupted",), ("done",)])
        hello(ann, "Mira, good morning")

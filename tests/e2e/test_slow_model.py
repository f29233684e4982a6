"""A model call of ten seconds delays no other assistant and no script."""

import time
from collections.abc import Callable
from itertools import pairwise

import pytest

from tests.e2e.harness import GameServer
from tests.e2e.test_talk import thinking_with
from tests.provider import FaultyProvider

pytestmark = pytest.mark.alone

SLOW_S = 10.0
UNASKED = "stay silent and do nothing."  # she may greet who comes
TICKER = """
import time
from evennia.scripts.scripts import DefaultScript

class Ticker(DefaultScript):
    def at_script_creation(self):
        self.key, self.interval, self.persistent = "ticker", 1, True

    def at_server_start(self):
        self.start(force_restart=True)  # made in another process, it has no running task

    def at_repeat(self):
        with open("ticks.txt", "a") as file:
            file.write(f"{time.time()}\\n")
"""
MAKE_SCENE = """
from evennia.utils.create import create_script, create_object
from evennia.objects.models import ObjectDB
create_script("world.ticker.Ticker")
create_object(
    "evennia_ai.assistant_character.AssistantCharacter",
    key="Otto",
    location=ObjectDB.objects.get(id=2),
    attributes=[("ai_persona", "You are Otto, a fiddler.")],
)
"""


@pytest.fixture
def stub(stub: FaultyProvider) -> FaultyProvider:
    """Return a stub that is slow for Mira only."""
    stub.rules({r"Mira\Z": {"text": "At last.", "latency": SLOW_S}})  # the line to answer is last
    return stub


@pytest.fixture
def game(make_server: Callable[..., GameServer], stub: FaultyProvider) -> GameServer:
    """Return a game with a second assistant and a script that ticks every second."""
    game = make_server(start=False, assistant=thinking_with(stub))
    (game.folder / "world" / "ticker.py").write_text(TICKER)
    game.python(MAKE_SCENE)
    game.start()
    return game


def tick_gaps(game: GameServer, since: float) -> list[float]:
    """Return the seconds between the script's ticks since a time."""
    lines = (game.folder / "ticks.txt").read_text().split()
    times = [float(line) for line in lines if float(line) >= since]
    return [after - before for before, after in pairwise(times)]


def asked_by_mira(stub: FaultyProvider) -> list[float]:
    """Return when Mira's model was called to answer somebody, in unix seconds."""
    asked = [(one["at"], one["body"]["messages"]) for one in stub.requests()]
    return [
        at
        for at, messages in asked
        if "You are Mira" in str(messages) and not messages[-1]["content"].endswith(UNASKED)
    ]


def test_a_call_of_ten_seconds_is_one_turn_and_holds_up_nobody(
    game: GameServer, stub: FaultyProvider
) -> None:
    with game.player("Ann") as ann, game.player("Ben") as ben:
        began = time.time()
        ann.send("say hello Mira")
        assert game.wait_until(lambda: asked_by_mira(stub), 20.0)
        ben.send("say hello Otto")
        ben.expect('Otto says, "', SLOW_S / 2)
        ann.send("say are you there, Mira")
        ann.expect('Mira says, "At last."', SLOW_S + 10)
        gaps = tick_gaps(game, began)
        assert len(gaps) >= SLOW_S - 3
        assert max(gaps) < 1.5
        assert game.wait_until(lambda: len(asked_by_mira(stub)) == 2, 5.0)
    first, second = asked_by_mira(stub)
    assert second - first >= SLOW_S - 0.5, "two turns of one assistant overlapped"

"""If a game's own hook raises in a reload, its assistants still answer.

This is what Evennia 5.0.1 and 6.1 do. If a script's or an object's hook or
``at_server_reload_stop`` raises, the server logs it and goes on, and some of its objects were told
of a reload. If ``at_server_reload_start`` raises, the new server calls no further hook and has lost
all connections: players must connect again.
"""

from collections.abc import Callable

import pytest

from server import running
from tests.e2e.harness import ADMIN, OPEN_EVENTS, GameServer
from tests.e2e.telnet import TelnetPlayer
from tests.e2e.test_talk import thinking_with
from tests.provider import FaultyProvider

GAMES_OWN = """
from pathlib import Path
from django.conf import settings
from evennia.scripts.scripts import DefaultScript
from evennia_ai.services import assistant_service as services

services.REVIVAL_S = 2.0  # what a test need not wait for

def fail_at(where):
    if Path(settings.GAME_DIR, "raise at " + where).exists():
        raise RuntimeError("planned: " + where)

class Stubborn(DefaultScript):
    def at_server_reload(self):
        fail_at("script")

def at_server_reload_stop():
    fail_at("stop")

def at_server_reload_start():
    fail_at("start")
"""
MAKE_STUBBORN = """
from evennia.utils.create import create_script
create_script("world.own.Stubborn", key="stubborn")
"""
HOOKS = 'AT_SERVER_STARTSTOP_MODULE = ["world.hooks", "world.own"]'
HANGS_S = 60.0
REVIVED = "the reload did not happen"


@pytest.fixture
def game(make_server: Callable[..., GameServer], stub: FaultyProvider) -> GameServer:
    """Return a game whose own hooks raise on demand."""
    mind = thinking_with(stub, autonomous_calls_per_hour=0, turn_deadline=HANGS_S)
    game = make_server(start=False, assistant=mind, settings=HOOKS)
    (game.folder / "world" / "own.py").write_text(GAMES_OWN)
    game.python(MAKE_STUBBORN)
    game.start()
    return game


def reload_failing(
    game: GameServer, stub: FaultyProvider, ann: TelnetPlayer, admin: TelnetPlayer, where: str
) -> None:
    """Reload a game whose hook raises, during a model call; wait until the log shows it."""
    (game.folder / f"raise at {where}").touch()
    admin.send("scripts")  # what is not in memory is not told of a reload
    admin.expect("-[+]\n")
    asked = len(stub.requests())
    stub.control(latency=HANGS_S)
    ann.send(f"say Mira, what of the {where}?")
    assert game.wait_until(lambda: len(stub.requests()) > asked, 20.0)
    stub.control(latency=0.0)
    revivals = game.log().count(REVIVED)
    admin.send("reload")
    sign, times = ("planned: start", 1) if where == "start" else (REVIVED, revivals + 1)
    assert game.wait_until(lambda: game.log().count(sign) >= times, 60.0)
    (game.folder / f"raise at {where}").unlink()


def test_the_assistants_answer_after_a_reload_that_failed(
    game: GameServer, stub: FaultyProvider
) -> None:
    before = running.server_pid(game.folder)
    with game.player("Ann") as ann, game.player(ADMIN) as admin:
        for where in ("script", "stop"):
            reload_failing(game, stub, ann, admin, where)
            ann.expect(f'Mira says, ".*what of the {where}')
            ann.send(f"say Mira, and after the {where}?")
            ann.expect(f'Mira says, ".*after the {where}')
        assert running.server_pid(game.folder) == before, "it reloaded all the same"
        reload_failing(game, stub, ann, admin, "start")
    assert running.server_pid(game.folder) != before
    with game.player("Ann") as ann:
        ann.expect('Mira says, ".*what of the start', 30)
        ann.send("say Mira, and after the start?")
        ann.expect('Mira says, ".*after the start')
    game.wait_for_sql(OPEN_EVENTS, [])

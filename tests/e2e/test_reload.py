"""A reload during model calls takes no longer, and nothing of ours outlives the server."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.bench import worlds
from tests.e2e import hanging
from tests.e2e.harness import OPEN_EVENTS, GameServer
from tests.e2e.test_talk import thinking_with
from tests.provider import FaultyProvider

pytestmark = pytest.mark.alone

HANGING = 20
TRIES = 3
MOST_LONGER_S = 1.0
MOST_TO_STOP_S = 0.5
SETTINGS = (hanging.MANY_COMMANDS, 'SERVER_SERVICES_PLUGIN_MODULES = ["world.last_words"]')
# Notes who is still at work when the reactor has stopped, and what the interpreter must yet do.
LAST_WORDS = """
import atexit
import concurrent.futures.thread as executors
import json
import threading
import time
from pathlib import Path
from django.conf import settings
from evennia_ai.services.assistant_service import AssistantService
from twisted.internet import reactor

FILE = Path(settings.GAME_DIR, "last_words.json")
seen = {"at_exit": [], "in_thread": []}

def noting(name, call):
    def noted(function, *args, **kwargs):
        seen[name].append(getattr(function, "__module__", None) or repr(function))
        return call(function, *args, **kwargs)
    return noted

atexit.register = noting("at_exit", atexit.register)
reactor.callInThread = noting("in_thread", reactor.callInThread)
stop = AssistantService.stopService

def stopService(service):
    began = time.perf_counter()
    seen["returned"] = stop(service)
    seen["stop_s"] = time.perf_counter() - began

def write():
    others = [t for t in threading.enumerate() if t is not threading.main_thread()]
    seen["waited_for"] = [t.name for t in others if not t.daemon]
    seen["executors"] = [t.name for t in executors._threads_queues]
    FILE.write_text(json.dumps(seen))

def start_plugin_services(server):
    AssistantService.stopService = stopService
    reactor.addSystemEventTrigger("after", "shutdown", write)
"""


@pytest.fixture
def game(make_server: Callable[..., GameServer], stub: FaultyProvider) -> GameServer:
    """Return a game in which Ann stands among many assistants."""
    mind = thinking_with(stub, **hanging.UNDISTURBED)
    game = make_server(start=False, assistant=mind, settings=SETTINGS)
    (game.folder / "world" / "last_words.py").write_text(LAST_WORDS)
    game.python(worlds.gathering("Ann", HANGING))
    game.start()
    return game


def last_words(game: GameServer) -> dict[str, Any]:
    """Return what the last server wrote at its end."""
    words: dict[str, Any] = json.loads((game.folder / "last_words.json").read_text())
    return words


def test_with_many_calls_hanging_it_is_as_quick_and_all_lines_are_answered_after_it(
    game: GameServer, stub: FaultyProvider
) -> None:
    longer = []
    with game.player("Ann") as ann:
        while len(longer) < TRIES and min(longer, default=MOST_LONGER_S + 1) > MOST_LONGER_S:
            quiet = game.reload()
            hanging.ask_all(stub, ann, HANGING)
            longer.append(game.reload() - quiet)
            words = last_words(game)
            game.wait_for_sql(OPEN_EVENTS, [], 60)
    asked = HANGING * len(longer)
    assert game.sql(hanging.INTERRUPTED)[0][0] == asked, "it was not in the middle of all calls"
    ends = dict(map(tuple, game.sql(hanging.ENDS)))
    assert ends.pop("answered", 0) + ends.pop("excused", 0) == asked and not ends
    assert min(longer) <= MOST_LONGER_S
    assert words["returned"] is None and words["stop_s"] <= MOST_TO_STOP_S
    assert words["waited_for"] == words["executors"] == []
    ours = [name for name in words["at_exit"] + words["in_thread"] if "evennia_ai" in name]
    assert not ours

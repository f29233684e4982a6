"""Servers for the end-to-end tests. Each one is killed when its test or module is over.

An orderly stop takes four seconds, and nobody looks at the folder again; tests of an orderly stop
call `GameServer.stop`.
"""

import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from server.patience import Stalled
from tests.e2e.harness import GameServer, ServerTrouble
from tests.provider import FaultyProvider

TEMPLATE = "EVENNIA_AI_TEMPLATE"
FAILURE = pytest.StashKey[str]()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs the template when it could not be made: that is one error, told once."""
    if "game_template" in getattr(item, "fixturenames", ()) and FAILURE in item.config.stash:
        pytest.skip(item.config.stash[FAILURE])


@pytest.fixture(scope="session")
def game_template(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a stopped game directory whose first start is done; tests copy it.

    It is made once: for this run, or for all runs that share the folder in the environment variable
    `TEMPLATE`. If that fails, the first test has an error, and all others are skipped.
    """
    folder = Path(os.environ.get(TEMPLATE) or tmp_path_factory.mktemp("template")) / "game"
    failure = folder.with_name("failure")
    with folder.with_name("lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another run may be making it
        if failure.exists():
            pytestconfig.stash[FAILURE] = failure.read_text(encoding="utf-8")
            pytest.skip(pytestconfig.stash[FAILURE])
        if not folder.exists():
            try:
                GameServer.first_start(folder.with_name("unfinished")).folder.rename(folder)
            except (ServerTrouble, Stalled, OSError, sqlite3.Error) as error:
                sentence = f"The game that all tests copy could not be made: {error}"
                pytestconfig.stash[FAILURE] = sentence.partition("\n")[0]
                failure.write_text(pytestconfig.stash[FAILURE], encoding="utf-8")
                pytest.fail(sentence, pytrace=False)
    return folder


@pytest.fixture
def make_server(game_template: Path, tmp_path: Path) -> Iterator[Callable[..., GameServer]]:
    """Return a function that makes and starts a server: ``make_server(assistant={…}, env={…})``.

    With ``start=False`` it is not started. See `GameServer` for the other options.
    """
    servers: list[GameServer] = []

    def make(*, start: bool = True, **options: Any) -> GameServer:
        folder = tmp_path / f"game{len(servers)}"
        server = GameServer.copy_of(game_template, folder, **options)
        servers.append(server)
        if start:
            server.start()
        return server

    yield make
    for server in servers:
        server.discard()


@pytest.fixture
def game(make_server: Callable[..., GameServer]) -> GameServer:
    """Return a running server for one test, with default settings and the stand-in."""
    return make_server()


@pytest.fixture
def stub(tmp_path: Path) -> Iterator[FaultyProvider]:
    """Return a provider that answers at once, unless a test tells it otherwise."""
    with FaultyProvider(tmp_path / "requests.jsonl") as process:
        yield process


@pytest.fixture(scope="module")
def shared_game(
    game_template: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GameServer]:
    """Return a running server for a module whose tests leave the world as they found it."""
    server = GameServer.copy_of(game_template, tmp_path_factory.mktemp("shared") / "game")
    try:
        server.start()
        yield server
    finally:
        server.discard()

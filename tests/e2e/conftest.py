"""Servers for the end-to-end tests. Each one is killed when its test or module is over.

An orderly stop takes four seconds, and nobody looks at the folder again; tests of an orderly stop
call `GameServer.stop`.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.harness import GameServer
from tests.provider import FaultyProvider

TEMPLATE = "EVENNIA_AI_TEMPLATE"


@pytest.fixture(scope="session")
def game_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a stopped game directory whose first start is done; tests copy it.

    It is made once: for this run, or for all runs that share the folder in the environment variable
    `TEMPLATE`.
    """
    folder = Path(os.environ.get(TEMPLATE) or tmp_path_factory.mktemp("template")) / "game"
    with folder.with_name("lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another run may be making it
        if not folder.exists():
            GameServer.first_start(folder.with_name("unfinished")).folder.rename(folder)
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
    """Return a running server for one test, with default settings and the offline brain."""
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

"""Servers for the end-to-end tests; every one is ended when its test is over.

Ended by a kill: an orderly stop takes four seconds and the folder is thrown away. What an orderly
stop does is tested where a test calls `GameServer.stop`.
"""

from __future__ import annotations

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
    """A stopped game directory whose first start is done, made once per run; or once for several
    runs, in the folder that `TEMPLATE` of the environment names."""
    folder = Path(os.environ.get(TEMPLATE) or tmp_path_factory.mktemp("template")) / "game"
    if not folder.exists():
        GameServer.first_start(folder.with_name("unfinished")).folder.rename(folder)
    return folder


@pytest.fixture
def make_server(game_template: Path, tmp_path: Path) -> Iterator[Callable[..., GameServer]]:
    """Return a function that makes and starts a server: ``make_server(assistant={…}, env={…})``.

    With ``start=False`` it is only made. See `GameServer` for the other options.
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
    """A running server of the test's own, with default settings and the offline brain."""
    return make_server()


@pytest.fixture
def stub(tmp_path: Path) -> Iterator[FaultyProvider]:
    """A provider that answers at once, unless told otherwise."""
    with FaultyProvider(tmp_path / "requests.jsonl") as process:
        yield process


@pytest.fixture(scope="module")
def shared_game(
    game_template: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GameServer]:
    """A running server for all tests of a module that leave the world as they found it."""
    server = GameServer.copy_of(game_template, tmp_path_factory.mktemp("shared") / "game")
    try:
        server.start()
        yield server
    finally:
        server.discard()

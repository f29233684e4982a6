"""Game directories to measure in, and the table of figures at the end."""

from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from pytest_django import DjangoDbBlocker

from tests.bench import figures, worlds
from tests.bench.figures import Figure, Sheet
from tests.e2e.conftest import stub
from tests.e2e.harness import GameServer
from tests.faults.own_database import on_file
from tests.game.fresh_state import forget_everything

__all__ = ["stub"]

BOOK = pytest.StashKey[list[Figure]]()


def pytest_configure(config: pytest.Config) -> None:
    """Make the list that collects the figures of all benchmarks."""
    config.stash[BOOK] = []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the figures and write them to the results folder."""
    book = terminalreporter.config.stash[BOOK]
    if book:
        figures.write_json(book)
        terminalreporter.section("figures")
        terminalreporter.write_line(figures.table(book))
        terminalreporter.write_line(
            f"\nAlso in {figures.LATEST.relative_to(terminalreporter.config.rootpath)}"
        )


@pytest.fixture
def sheet(request: pytest.FixtureRequest) -> Callable[[str], Sheet]:
    """Return a function that opens the sheet of a benchmark by its name."""
    book = request.config.stash[BOOK]
    return lambda benchmark: Sheet(benchmark, book)


@pytest.fixture
def db(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path: Path
) -> Generator[None]:
    """Use the test database as a file, with a game's settings."""
    from django.db import connection

    from evennia_ai.apps import prepare_sqlite

    with django_db_blocker.unblock(), on_file(tmp_path / "game.db3"):
        prepare_sqlite(connection)
        yield
        forget_everything()  # what is cached is of a database that is gone


@pytest.fixture(scope="session")
def demo_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the demo, stopped after its first start."""
    return GameServer.first_start(tmp_path_factory.mktemp("demo") / "game").folder


@pytest.fixture(scope="session")
def empty_template(demo_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the demo without assistants."""
    return furnished(demo_template, tmp_path_factory.mktemp("empty"), worlds.EMPTY)


@pytest.fixture(scope="session")
def crowd_template(empty_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with a thousand assistants in rooms of ten, and nobody else."""
    return furnished(
        empty_template, tmp_path_factory.mktemp("crowd"), worlds.crowd(assistants=True)
    )


@pytest.fixture(scope="session")
def gathering_template(demo_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with a hundred assistants and Ann in one room."""
    snippet = worlds.gathering("Ann")
    return furnished(demo_template, tmp_path_factory.mktemp("gathering"), snippet)


def furnished(template: Path, folder: Path, snippet: str) -> Path:
    """Return a copy of a game directory in which a snippet has run."""
    game = GameServer.copy_of(template, folder / "game")
    print(game.python(snippet))
    return game.folder

"""The quick start and its way back, done word for word in a newly initialised game."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.e2e.fresh_game import ADMIN, FreshGame

PAGE = "quick-start.md"
WAY_BACK = "Uninstall"
OUR_WORDS = re.compile(r"evennia_ai|\bai_\w+|assistant|Good evening", re.I)


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FreshGame]:
    """Return the game that all tests of this module share, in their order."""
    game = FreshGame(tmp_path_factory.mktemp("quick"))
    try:
        game.follow(PAGE, "Install")
        yield game
    finally:
        game.discard()


def stored(game: FreshGame) -> list[str]:
    """Return every text in the game's database."""
    tables = [row[0] for row in game.sql("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return tables + [
        f"{table}: {value}"
        for table in tables
        for row in game.sql(f'SELECT * FROM "{table}"')
        for value in tuple(row)
        if isinstance(value, str)
    ]


def test_the_quick_start_does_what_it_says(game: FreshGame) -> None:
    game.follow(PAGE, "Create a character and talk to it")
    assert "Traceback" not in game.log()
    assert [line for line in stored(game) if "Good evening, Otto." in line]


def test_the_admins_guide_shows_what_the_game_says(game: FreshGame) -> None:
    game.follow("admins-guide.md")
    backup = sqlite3.connect(game.folder / "backup.db3")
    with closing(backup):
        heard = backup.execute("SELECT text FROM evennia_ai_event").fetchall()
    assert ("Good evening, Otto.",) in heard


def test_the_players_guide_shows_what_players_read(game: FreshGame) -> None:
    game.follow("players-guide.md")
    assert "Traceback" not in game.log()


def test_the_way_back_leaves_nothing_behind(game: FreshGame) -> None:
    assert [line for line in stored(game) if "evennia_ai" in line]
    game.follow(PAGE, WAY_BACK)
    assert "Traceback" not in game.log()
    assert [line for line in stored(game) if OUR_WORDS.search(line)] == []
    assert game.sql("PRAGMA journal_mode")[0][0] == "delete"
    classes = dict(game.sql("SELECT db_key, db_typeclass_path FROM objects_objectdb"))
    assert classes["Otto"] == classes["Guard"] == "typeclasses.characters.Character"
    admin = game.enter(ADMIN)
    admin.send("look Otto")
    admin.expect("Otto")
    admin.send("aistatus")
    admin.expect("Command 'aistatus' is not available")

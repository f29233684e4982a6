"""A game of an old version goes on after what docs/upgrade.md says, word for word."""

import re
from collections.abc import Callable
from textwrap import dedent

import pytest

from server import running
from tests.e2e.fresh_game import DOCS, read_blocks
from tests.e2e.harness import ADMIN, START_TIMEOUT_S, GameServer
from tests.e2e.test_talk import thinking_with
from tests.provider import FaultyProvider
from tests.upgrade import older
from tests.upgrade.play import SECRET, UNANSWERED
from tests.upgrade.stored import names_in_pickles

INSTALL, BACKUP = "pip install", "before.db3"
ENDED = ("answered", "excused", "expired")


def commands() -> list[str]:
    """Return the commands of the page's steps, in order; the tests' environment has the package."""
    page = "\n".join(map(dedent, (DOCS / "upgrade.md").read_text().split("\n\n")))
    blocks = [block for block in read_blocks(page) if block.heading == "Step by step"]
    return [block.body for block in blocks if block.language == "sh" and INSTALL not in block.body]


@pytest.fixture(params=older.GAMES, ids=older.NAMES)
def game(
    request: pytest.FixtureRequest, make_server: Callable[..., GameServer], stub: FaultyProvider
) -> GameServer:
    """Return a running game that an old version played, after the upgrade."""
    game = make_server(start=False, assistant=thinking_with(stub))
    game.database.unlink()
    older.restore(request.param, game.database)
    for script in commands():
        game._run(["sh", "-c", f"set -e\n{script}"])
    assert (game.folder / BACKUP).exists()
    assert running.wait_until(lambda: running.is_ready(game.folder), START_TIMEOUT_S)
    return game


@pytest.mark.timeout(300)
def test_an_old_game_goes_on_after_its_upgrade(game: GameServer) -> None:
    with game.player("Ann") as ann, game.player(ADMIN) as admin:
        state = f"SELECT state FROM evennia_ai_event WHERE text LIKE '%{UNANSWERED}%'"
        assert running.wait_until(lambda: game.sql(state)[0]["state"] in ENDED, 60)
        ann.mark()
        ann.send("say Mira, do you know me still?")
        ann.expect("Mira says, ", 30)
        admin.send("aistatus")
        admin.expect("Mira")
        assert "migrate" not in admin.clean
        admin.send("aimemory Mira")
        admin.expect("The harbour master is called Osk")
        admin.send("aigoals Mira")
        admin.expect("Find out who waters the ale")
        admin.send("aihistory Mira")
        admin.expect("do you know me still")
        ann.mark()
        ann.send("aboutme")
        ann.expect(re.escape(SECRET))
        ann.send("forgetme")
        ann.expect(r"yes/\[no\]")
        ann.send("yes")
        ann.expect("It is forgotten", 60)
        assert running.wait_until(lambda: "spoons" not in lines(game), 60)
    assert "Traceback" not in game.log()
    assert names_in_pickles(lambda table: game.sql(f"SELECT * FROM {table}")) == {}


def lines(game: GameServer) -> str:
    return " ".join(row["content"] for row in game.sql("SELECT content FROM evennia_ai_message"))

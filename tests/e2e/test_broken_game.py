"""Where our service cannot start, the game does, and tells whoever looks why."""

from __future__ import annotations

from collections.abc import Callable

from server import running
from tests.e2e.harness import ADMIN, GameServer

NO_MINDS = "evennia_ai is not running: the characters of this game have no minds."
GO_BACK = 'from django.core.management import call_command; call_command("migrate", {args})'


def test_a_broken_module_of_the_game_leaves_it_without_minds_and_is_named(
    make_server: Callable[..., GameServer],
) -> None:
    game = make_server(start=False, assistant={"TOOLS": ["world.broken"]})
    broken = game.folder / "world" / "broken.py"
    broken.write_text("speak = volume * 2\n")
    game.start()
    with game.player("Ann") as ann:
        ann.send("say Mira, are you there?")
        ann.expect('You say, "Mira, are you there')
        ann.send("mute Mira")
        ann.expect("no minds just now")
    with game.player(ADMIN) as admin:
        admin.send("aistatus")
        admin.expect("The server's log says what, and what to do")
    log = game.log()
    assert f"{NO_MINDS} The last lines" in log
    assert "name 'volume' is not defined" in log
    broken.unlink()
    game.assistant = {}
    game.write_settings()
    game.reload()
    with game.player("Ben") as ben:
        ben.send("say Mira, are you there?")
        ben.expect('Mira says, "')


def test_without_its_tables_the_game_starts_and_its_log_names_the_way_out(
    make_server: Callable[..., GameServer],
) -> None:
    game = make_server(start=False)
    game.python(GO_BACK.format(args='"evennia_ai", "zero"'))
    game.start()
    with game.player("Ann") as ann:
        ann.send("look")
        ann.expect("The Gilded Gull")
    assert running.wait_until(lambda: NO_MINDS in game.log(), 5.0)
    assert "Run `evennia migrate`, and restart the game." in game.log()

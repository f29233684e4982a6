"""With broken tools or without our tables the game starts all the same and logs why."""

from __future__ import annotations

from collections.abc import Callable

from server import running
from tests.e2e.harness import ADMIN, GameServer

WAY_OUT = "Run `evennia migrate`, then `evennia reload`."
GO_BACK = 'from django.core.management import call_command; call_command("migrate", {args})'


def test_a_broken_module_of_the_game_costs_its_tools_only_and_is_named(
    make_server: Callable[..., GameServer],
) -> None:
    game = make_server(start=False, assistant={"TOOLS": ["world.broken"]})
    (game.folder / "world" / "broken.py").write_text("speak = volume * 2\n")
    game.start()
    with game.player("Ben") as ben:
        ben.send("say Mira, are you there?")
        ben.expect('Mira says, "')
    with game.player(ADMIN) as admin:
        admin.send("aistatus")
        admin.expect("NameError: name 'volume' is not defined")


def test_without_its_tables_the_characters_answer_and_the_log_names_the_way_out(
    make_server: Callable[..., GameServer],
) -> None:
    game = make_server(start=False)
    game.python(GO_BACK.format(args='"evennia_ai", "zero"'))
    game.start()
    with game.player("Ann") as ann:
        ann.send("look")
        ann.expect("The Gilded Gull")
        ann.send("say Mira, are you there?")
        ann.expect('Mira says, "')
    assert running.wait_until(lambda: WAY_OUT in game.log(), 5.0)
    assert "Traceback" not in game.log()

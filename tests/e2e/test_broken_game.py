"""With broken tools, without our tables or beside another server the game starts and logs why."""

from collections.abc import Callable

from evennia_ai.store.server_lock import REFUSED
from tests.e2e.harness import ADMIN, GameServer

WAY_OUT = "Run `evennia migrate`, then `evennia reload`."
IMPATIENT = """
from evennia_ai.store import world_lock
world_lock.WAIT_S = 0.5  # what a test need not wait for
def start_plugin_services(server):
    pass
"""
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
        ann.expect("have no minds just now")
    assert game.wait_until(lambda: WAY_OUT in game.log(), 5.0)
    assert "Traceback" not in game.log()


def test_a_second_server_on_a_database_is_refused_and_the_first_one_goes_on(
    make_server: Callable[..., GameServer],
) -> None:
    plugin = 'SERVER_SERVICES_PLUGIN_MODULES = ["world.impatient"]'
    first, second = make_server(), make_server(start=False, settings=plugin)
    second.database.unlink()
    second.database.symlink_to(first.database)
    (second.folder / "world" / "impatient.py").write_text(IMPATIENT)
    said = second.launch_start()
    # On a busy machine Evennia's portal may give its server up, and must be asked again.
    if not second.wait_until(lambda: REFUSED in second.log(), 20.0):
        said = second.launch_start()
    assert REFUSED in said or REFUSED in second.launch("info")
    with second.player("Ben") as ben:
        ben.send("say Mira, are you there?")
        ben.expect("have no minds just now")
    assert REFUSED in second.log()
    second.discard()
    with first.player("Ann") as ann:
        ann.send("say Mira, are you there?")
        ann.expect('Mira says, "')
    first.kill_server()
    first.start()
    assert REFUSED not in first.log()


def test_where_the_disk_of_the_logs_is_full_players_are_answered_also_after_a_reload(
    make_server: Callable[..., GameServer],
) -> None:
    game = make_server(start=False)
    log = game.folder / "server" / "logs" / "server.log"
    log.unlink(missing_ok=True)
    log.symlink_to("/dev/full")
    game.start()
    with game.player("Ann") as ann:
        for words in ("are you there?", "and now?"):
            ann.send(f"say Mira, {words}")
            ann.expect('Mira says, "')
            game.reload()

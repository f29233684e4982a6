"""One server for one world: a second one is refused, and leaves the work of the first alone."""

import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.db import connection, connections
from evennia.server.models import ServerConfig

from evennia_ai.errors import StoreUnavailable
from evennia_ai.game.texts import text
from evennia_ai.models import Event, ToolCall, Turn
from evennia_ai.services import assistant_service
from evennia_ai.services.startup import StartupRecovery
from evennia_ai.store import server_lock, transactions
from evennia_ai.store.server_lock import LOST, REFUSED, ServerLock, lock_file
from evennia_ai.store.server_settings import NEWEST, of_shard
from tests.faults import storage_scene as scene
from tests.faults.own_database import IS_POSTGRESQL, NEEDS_OWN_SERVER
from tests.game import conftest as game_scene
from tests.game.conftest import flat, gateway_to
from tests.postgresql import URL
from tests.scripted import call

pytestmark = pytest.mark.game

db = scene.db
admin = game_scene.admin

SERVER = """
import sys
from evennia_ai.store.server_lock import WorldLock
lock = WorldLock()
lock.had_server = lambda: "late" in sys.argv
print("begins", flush=True)
print(lock.take(0.0) or "has it", flush=True)
sys.stdin.read()
"""


def raising(error):
    def fail(*_arguments):
        raise error

    return fail


class Unlocked(ServerLock):
    """The lock of a test's first service, which no test is about."""

    def take(self, wait_s=None):
        return ""


def use(monkeypatch, found):
    """Let the services that start from now on be those of a process of their own."""
    for module in (assistant_service, transactions):
        monkeypatch.setattr(module, "lock", found)


@pytest.fixture(autouse=True)
def unlocked(db, monkeypatch):
    monkeypatch.setattr(server_lock, "WAIT_S", 0.3)
    use(monkeypatch, Unlocked())


@pytest.fixture
def restart(game, mira, monkeypatch):
    """Return a function that starts the service of the next process, with a lock of its own."""

    def start():
        use(monkeypatch, ServerLock())
        service = game.next_process(mira.assistant)
        service.gateway = gateway_to(game.model, game.clock)
        service.at_start()
        game.run(3)
        return service

    yield start
    connection.close()  # an advisory lock ends with it


@contextmanager
def other_process(*arguments):
    """Run another process that takes the lock of the database in use."""
    name = str(connection.settings_dict["NAME"])
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.crash.child_settings"}
    env["CRASH_DATABASE"] = name
    if IS_POSTGRESQL:
        env["DJANGO_SETTINGS_MODULE"] = "server.conf.settings"
        env[URL] = urlsplit(os.environ[URL])._replace(path=f"/{name}").geturl()
    command = [sys.executable, "-c", SERVER, *arguments]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=env, **pipes) as process:
        try:
            assert process.stdout.readline() == "begins\n"
            yield process
        finally:
            process.kill()


@contextmanager
def other_server():
    """Run another process that has the lock of the database in use."""
    with other_process() as process:
        assert process.stdout.readline() == "has it\n"
        yield process


def left_open(mira):
    """Store a turn that another process began, with an act whose outcome is not known."""
    whose = {"assistant_id": mira.assistant.id, "at": mira.assistant.services.now()}
    turn = Turn.objects.create(**whose, context="tick_event")
    ToolCall.objects.create(
        **whose, turn=turn, call_id="1", name="give", world=True, state="intended"
    )
    return turn


def states(turn):
    """Return the outcome of a turn, "" while it is open, and the state of its act."""
    turn.refresh_from_db()
    return turn.outcome, turn.tool_calls.get().state


def test_a_second_server_is_refused_and_leaves_the_turns_of_the_first_alone(
    game, mira, ann, admin, restart, logged, monkeypatch
):
    turn, begun = left_open(mira), []
    monkeypatch.setattr(StartupRecovery, "begin", begun.append)
    with other_server():
        service = restart()
        assert not service.accepting and not begun
        ann.do("say Mira, hello")
        ann.do("say Mira, are you there?")
        game.run(60)
        assert service.store_trouble == REFUSED
        assert states(turn) == ("", "intended")
        assert not Event.objects.exists()
        assert not game.model.requests
        assert ann.heard().count(text("minds_off")) == 1
        assert flat(REFUSED) in flat(admin.told("aistatus"))
        assert [line for line in logged if REFUSED in line]
        with pytest.raises(StoreUnavailable, match="Another server"):
            mira.journal.add("The bridge is closed.")


def test_a_server_that_lost_its_world_stays_stopped(game, mira, monkeypatch):
    monkeypatch.setattr(assistant_service.lock, "trouble", REFUSED)
    game.service.lose_world()
    game.run(assistant_service.REVIVAL_S + 1)
    assert game.service.quiet and not game.service.accepting
    game.service.revive()
    assert not game.service.accepting


@pytest.mark.parametrize(("is_newest", "trouble"), [(True, ""), (False, LOST)])
def test_a_lock_taken_again_behind_a_newer_server(db, is_newest, trouble):
    found, stopped = ServerLock(), []
    found.is_newest, found.on_lost = (lambda: is_newest), (lambda: stopped.append(True))
    found._backend = 1  # as after PostgreSQL lost the connection
    found.take_again(connections["default"])
    assert (found.trouble, bool(stopped)) == (trouble, not is_newest)


def test_what_a_killed_server_left_is_taken_over_at_the_next_start(game, mira, ann, restart):
    turn = left_open(mira)
    with other_server() as process:
        process.kill()
        process.wait()
        service = restart()
    game.model.add(call("say", text="Here I am."))
    ann.do("say Mira, hello")
    game.run(5)
    assert service.store_trouble == ""
    assert states(turn) == ("interrupted", "unknown")
    assert ann.last() == 'Mira says, "Here I am."'


def test_a_reload_waits_for_the_process_that_goes_down(game, mira, restart, monkeypatch):
    monkeypatch.setattr(server_lock, "WAIT_S", 30.0)
    with other_server() as process:
        threading.Timer(0.5, process.kill).start()
        assert restart().store_trouble == ""


@pytest.mark.skipif(IS_POSTGRESQL, reason="has no file")
def test_a_file_that_cannot_be_locked_is_named(game, mira, restart):
    lock_file().mkdir()
    trouble = restart().store_trouble
    assert str(lock_file()) in trouble
    assert "no assistant starts" in trouble


@pytest.mark.skipif(IS_POSTGRESQL, reason="has no file")
def test_another_name_of_the_same_file_is_the_same_world(db, tmp_path, monkeypatch):
    (tmp_path / "link.db3").symlink_to(connection.settings_dict["NAME"])
    with other_server():
        monkeypatch.setitem(connection.settings_dict, "NAME", str(tmp_path / "link.db3"))
        assert ServerLock().take(0.0) == REFUSED


def move(file):
    file.rename(file.with_name("moved"))


def replace(file):
    file.unlink()
    file.touch()


NEEDS_FILE = pytest.mark.skipif(IS_POSTGRESQL, reason="has no file")


@NEEDS_FILE
@pytest.mark.parametrize("change", [Path.unlink, move, replace])
def test_a_removed_file_lets_no_second_server_in(game, mira, restart, change):
    service = restart()
    change(lock_file())
    with other_process("late") as other:
        deadline = 100
        while not lock_file().exists() and (deadline := deadline - 1):
            time.sleep(0.05)
        game.run(server_lock.KEEP_S)
        assert other.stdout.readline().strip() == REFUSED
    mira.journal.add("The bridge is closed.")
    assert service.store_trouble == ""
    with other_process("late") as other:
        assert other.stdout.readline().strip() == REFUSED


@NEEDS_FILE
def test_who_lost_its_world_with_its_file_stops_before_it_writes(game, mira, ann, restart, logged):
    service = restart()
    lock_file().unlink()
    with other_server():
        with pytest.raises(StoreUnavailable, match="was removed, and another server"):
            mira.journal.add("The bridge is closed.")
        game.run(1)
        assert not service.accepting
        assert [line for line in logged if "leave that file where it is" in line]


@NEEDS_FILE
def test_memory_that_another_server_made_old_is_not_used(game, mira, restart):
    restart()
    lock_file().unlink()
    ServerConfig.objects.conf(of_shard(NEWEST), 1)  # of a server that has come and gone
    with pytest.raises(StoreUnavailable, match="was removed"):
        mira.journal.add("The bridge is closed.")


@NEEDS_FILE
def test_a_file_that_cannot_be_locked_for_a_while_stops_nothing_for_good(
    game, mira, restart, monkeypatch
):
    service = restart()
    lock_file().unlink()
    with monkeypatch.context() as broken:
        broken.setattr(server_lock, "lock_path", raising(OSError("Too many open files")))
        with pytest.raises(StoreUnavailable, match="cannot be locked"):
            mira.journal.add("The bridge is closed.")
        game.run(3)
    mira.journal.add("The bridge is closed.")
    assert service.accepting


@NEEDS_OWN_SERVER
def test_two_worlds_of_one_postgresql_are_two_worlds(db):
    with other_server(), connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA other; SET search_path TO other")
        assert ServerLock().take(0.0) == ""

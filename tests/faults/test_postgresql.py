"""PostgreSQL ends the connection, or stops and starts again, in the middle of a turn.

Run with `python -m tests.postgresql`; on SQLite there is nothing that could be cut.
"""

import pytest
from django.db import OperationalError, connection
from evennia.objects.models import ObjectDB
from evennia.server.models import ServerConfig
from twisted.internet.defer import Deferred

from evennia_ai.errors import Moved, StoreUnavailable
from evennia_ai.models import Event, ModelCall, Turn
from evennia_ai.services import assistant_service
from evennia_ai.store import server_lock
from evennia_ai.store import transactions as brief_transaction_of
from evennia_ai.store.forget import Forgetting
from evennia_ai.store.server_lock import KEY, LOST, TAKE, ServerLock
from evennia_ai.store.server_settings import NEWEST, newest_server
from evennia_ai.store.transactions import LIMITS_MS, brief_transaction
from evennia_ai.store.turns import TableTurns
from tests.faults import storage_scene as scene
from tests.faults.own_database import NEEDS_OWN_SERVER, Killed, ServerStopped, TablesLocked
from tests.faults.seen import ends, refusals, seems_sane, spoken_by, tracebacks
from tests.faults.storage_scene import (
    LONG_S,
    UNHEARD,
    WRITES,
    a_moment_changes_nothing,
    begin_at,
    memory_equals_rows,
    pass_time,
)
from tests.game import conftest as game_scene
from tests.reading_requests import step_of
from tests.scripted import call

pytestmark = [pytest.mark.game, NEEDS_OWN_SERVER]

admin = game_scene.admin
db, patience = scene.db, scene.patience

KINDS = {"killed": Killed, "stopped": ServerStopped}


@pytest.fixture(params=KINDS)
def trouble(request, db):
    found = KINDS[request.param]()
    yield found
    found.end()


@pytest.fixture
def stopped(db):
    found = ServerStopped()
    yield found
    found.end()


@pytest.fixture
def tables(db, tmp_path):
    found = TablesLocked(tmp_path)
    yield found
    found.end()


@pytest.mark.parametrize("method", WRITES)
def test_a_connection_that_is_cut_at_any_write_changes_nothing(
    game, ann, mira, trouble, monkeypatch, method, logged
):
    a_moment_changes_nothing(game, ann, mira, trouble, monkeypatch, method, logged)


@pytest.mark.parametrize("method", WRITES)
def test_a_server_that_is_down_for_long_loses_nothing_and_repeats_nothing(
    game, ann, mira, stopped, monkeypatch, method, logged
):
    game.thing("mug", mira)
    game.thing("mug", mira)
    begin_at(monkeypatch, game, stopped, method, LONG_S)
    give, speak = call("give", item="mug", to="Ann"), call("say", text="There.")
    game.model.add(*[lambda request: give if step_of(request) == 1 else speak] * 12)
    ann.do("say a mug, please")
    pass_time(game, 60)
    assert len(ann.character.contents) <= 1
    assert spoken_by("Mira", ann)
    assert ends()["a mug, please"] in ("answered", "excused")
    assert not Turn.objects.filter(ended_at=None)
    assert memory_equals_rows(mira.assistant)
    assert seems_sane(ann)


def test_what_is_said_while_the_server_is_down_is_answered_afterwards(
    game, ann, mira, stopped, logged
):
    game.model.add(call("say", text="One and two."))
    ann.do("look")  # Evennia reads a player's nicks at their first command
    stopped.begin()
    ann.do("say Mira, one")
    ann.do("say Mira, two")
    pass_time(game, 1)
    stopped.end()
    pass_time(game, 3)
    assert ann.last() == 'Mira says, "One and two."'
    assert ends() == {"Mira, one": "answered", "Mira, two": "answered"}
    assert not tracebacks(logged)


def test_what_cannot_be_stored_while_the_server_is_down_is_told_to_its_speaker(
    game, ann, mira, stopped, logged
):
    ann.do("look")
    ann.forget()
    stopped.begin()
    ann.do("say Mira, one")
    pass_time(game, 20)
    assert ann.heard() == ['You say, "Mira, one"', UNHEARD]
    stopped.end()
    assert not Event.objects.exists()


def test_a_connection_that_was_cut_is_opened_again_for_the_game_s_own_queries(game, ann):
    Killed().begin()
    with pytest.raises(OperationalError):
        ann.character.attributes.add("mood", "gloomy")
    ann.character.attributes.add("mood", "glad")
    assert limits() == {"lock_timeout": "300ms", "statement_timeout": "10s"}


def test_a_statement_that_takes_too_long_is_ended_and_may_be_tried_again(game):
    with pytest.raises(StoreUnavailable, match="statement timeout"):
        sleep_in_a_transaction()
    with brief_transaction():
        assert Event.objects.count() == 0


def test_a_table_that_nobody_may_even_read_holds_a_line_for_a_moment_only(
    game, ann, mira, tables, logged
):
    tables.begin("ACCESS EXCLUSIVE", of="evennia_ai_")
    with refusals() as errors:
        ann.do("say Mira, one")
    assert 0 < len(errors) <= 3  # two reads, and a write, each for the limits that `limits` shows
    assert all(TablesLocked.error in error for error in errors)
    tables.end()
    game.model.add(call("say", text="One."))
    pass_time(game, 3)
    assert ann.last() == 'Mira says, "One."'
    assert not tracebacks(logged)


def test_the_limits_are_those_of_the_reactor_and_leave_what_the_game_has_set(game):
    assert limits() == {"lock_timeout": "300ms", "statement_timeout": "10s"}
    with brief_transaction():
        assert limits() == {"lock_timeout": "30ms", "statement_timeout": "2s"}
    assert limits() == {"lock_timeout": "300ms", "statement_timeout": "10s"}
    options = connection.settings_dict["OPTIONS"]
    options["options"] = "-c lock_timeout=7s"
    connection.close()
    try:
        assert limits() == {"lock_timeout": "7s", "statement_timeout": "10s"}
    finally:
        del options["options"]
        connection.close()


def test_another_thread_s_connection_waits_as_long_as_the_server_says(game):
    from concurrent.futures import ThreadPoolExecutor

    def read():
        try:
            with brief_transaction():
                return limits()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(read).result() == dict.fromkeys(LIMITS_MS, "0")


def sleep_in_a_transaction():
    with brief_transaction():
        run("SET LOCAL statement_timeout = 50")
        run("SELECT pg_sleep(5)")


def run(statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()[0] if cursor.description else None


def limits():
    return {name: run(f"SHOW {name}") for name in LIMITS_MS}


@pytest.fixture
def locked(game, mira, monkeypatch):
    """Return the service of a process that has the world's lock on this connection."""
    found = ServerLock()
    monkeypatch.setattr(assistant_service, "lock", found)
    monkeypatch.setattr(brief_transaction_of, "lock", found)
    service = game.next_process(mira.assistant)
    service.gateway = game.service.gateway
    assert service.store_trouble == ""
    yield service
    connection.close()


@pytest.fixture
def other(db):
    """Return another server's connection to the database."""
    found = connection.copy()
    yield found
    found.close()


def take(other):
    """Let another server take the lock; return True if it got it."""
    with other.cursor() as cursor:
        cursor.execute(TAKE, [KEY])
        return cursor.fetchone()[0]


def test_a_connection_that_was_cut_gets_its_lock_again(game, ann, locked, other):
    Killed().begin()
    pass_time(game, 1)
    game.model.add(call("say", text="One."))
    with pytest.raises(OperationalError):
        ann.character.attributes.add("mood", "gloomy")
    ann.do("say Mira, one")
    pass_time(game, 3)
    assert ann.last() == 'Mira says, "One."'
    assert not take(other)


def test_a_connection_that_only_the_server_still_sees_does_not_keep_its_game_out(locked, other):
    former, connection.connection = connection.connection, None
    run("SELECT 1")
    assert locked.store_trouble == ""
    assert not take(other)
    former.close()


def test_a_server_that_ran_meanwhile_leaves_nothing_to_a_connection_that_comes_back(game, locked):
    ServerConfig.objects.filter(db_key=NEWEST).update(db_value=newest_server() + 1)
    Killed().begin()
    with pytest.raises(OperationalError):
        run("SELECT 1")
    run("SELECT 1")
    assert locked.store_trouble == LOST


def test_whose_lock_another_server_took_over_acts_and_stores_no_more(
    game, ann, admin, mira, locked, other, logged
):
    late = Deferred()
    game.model.add(late)
    ann.do("say Mira, one")
    pass_time(game, 1)
    turn = Turn.objects.get(ended_at=None)
    Killed().begin()
    assert take(other)
    late.callback(call("say", text="One."))
    pass_time(game, 30)
    ann.do("say Mira, two")
    pass_time(game, 30)
    assert not spoken_by("Mira", ann)
    turn.refresh_from_db()
    assert turn.outcome == ""
    assert not ModelCall.objects.exists()
    assert [event.text for event in Event.objects.all()] == ["Mira, one"]
    assert locked.store_trouble == LOST
    assert [line for line in logged if LOST in line]
    assert "Another server took" in admin.told("aistatus")


@pytest.fixture
def shard(game, ann, mira, monkeypatch):
    """Let this server be the shard one of several; return a function that moves Mira's row."""
    run("ALTER TABLE objects_objectdb ADD COLUMN shard_id varchar(64)")
    run("UPDATE objects_objectdb SET shard_id = 'one'")
    monkeypatch.setattr(server_lock, "this_shard", lambda: "one")
    monkeypatch.setattr(ObjectDB, "shard_id", "one", raising=False)
    number = mira.id
    yield lambda to: run(f"UPDATE objects_objectdb SET shard_id = '{to}' WHERE id = {number}")
    connection.close()


def test_each_shard_has_a_lock_of_its_own(shard, other, monkeypatch):
    assert ServerLock().take(0.0) == ""
    with other.cursor() as cursor:
        cursor.execute(TAKE, [server_lock.lock_key()])
        assert not cursor.fetchone()[0]
        monkeypatch.setattr(server_lock, "this_shard", lambda: "two")
        cursor.execute(TAKE, [server_lock.lock_key()])
        assert cursor.fetchone()[0]


def test_whose_character_moved_to_another_shard_says_and_stores_no_more(game, ann, mira, shard):
    late = Deferred()
    game.model.add(late)
    ann.do("say Mira, one")
    pass_time(game, 1)
    shard("two")
    late.callback(call("say", text="One."))
    pass_time(game, 30)
    ann.do("say Mira, two")
    pass_time(game, 30)
    assert spoken_by("Mira", ann) == [UNHEARD]
    assert not ModelCall.objects.exists()
    assert [event.text for event in Event.objects.all()] == ["Mira, one"]
    with pytest.raises(Moved):
        mira.journal.add("The bridge is closed.")
    shard("one")
    mira.shard_id = "one"
    mira.journal.add("The bridge is open.")


def test_a_character_cannot_move_while_its_mind_is_written(game, ann, mira, shard, other):
    with brief_transaction(mira.assistant.id), other.cursor() as cursor:
        cursor.execute("SET lock_timeout = 100")
        with pytest.raises(OperationalError, match="lock timeout"):
            cursor.execute("UPDATE objects_objectdb SET shard_id = 'two'")
    shard("two")
    with pytest.raises(Moved), brief_transaction(mira.assistant.id):
        pytest.fail("began")


def test_an_act_whose_intent_was_stored_before_the_move_is_not_done(
    game, ann, mira, shard, monkeypatch
):
    intend = TableTurns.intend

    def stopped_after_it(*args):
        act = intend(*args)
        shard("two")
        return act

    monkeypatch.setattr(TableTurns, "intend", stopped_after_it)
    game.model.add(call("say", text="One."))
    ann.do("say Mira, one")
    pass_time(game, 30)
    assert not spoken_by("Mira", ann)


def test_a_player_is_forgotten_by_the_characters_of_other_shards_too(game, ann, mira, shard):
    mira.journal.add("Ann likes plums.", source_entity=ann.dbref)
    mira.journal.add("The bridge is closed.")
    shard("two")
    for _ in Forgetting([ann.dbref]).steps():
        pass
    mira.journal.unload()
    assert [entry["content"] for entry in mira.journal.all()] == ["The bridge is closed."]

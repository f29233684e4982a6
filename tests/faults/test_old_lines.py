"""The indices of a long log's table: built while rows are deleted, after a broken build, and anew.

Run with `python -m tests.postgresql`; on SQLite there are no such tables.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest
from django.db import connection

from evennia_ai.errors import StoreUnavailable
from evennia_ai.models import LineVector, Message
from evennia_ai.ports import LineQuery, OldLine
from evennia_ai.store import old_line_indices, old_lines
from evennia_ai.store.brief_transaction import brief_transaction
from evennia_ai.store.old_lines import OldLineTable
from tests.faults import storage_scene as scene
from tests.faults.own_database import NEEDS_OWN_SERVER
from tests.scripted import call

pytestmark = [pytest.mark.game, NEEDS_OWN_SERVER]

service, model, game, tavern = scene.service, scene.model, scene.game, scene.tavern
mira, ann, bob = scene.mira, scene.ann, scene.bob
db, patience = scene.db, scene.patience
PACKED = bytes([0, 0, 128, 63, 1, 2, 3, 4])


@pytest.fixture
def table(game, ann, mira):
    """The table of a log with some lines, without indices."""
    game.model.add(call("say", text="Two silver coins."))
    ann.do("say Mira, what is a coil of rope?")
    scene.pass_time(game, 2)
    made = OldLineTable(mira.assistant.id, "8:bytes", len(PACKED))
    made.open(0, 0)
    seqs = list(Message.objects.order_by("id").values_list("id", flat=True))
    LineVector.objects.bulk_create(LineVector(pk=seq, embedder="e", packed=PACKED) for seq in seqs)
    made.store(OldLine(seq, 0.0, "Ann", None, [1], 0, PACKED) for seq in seqs)
    yield made
    old_lines.drop_tables()


@pytest.fixture
def writer(table):
    """Another connection in a transaction that changed the table; builds wait for its end."""
    other = connection.copy()
    other.set_autocommit(False)
    with other.cursor() as cursor:
        cursor.execute(f"DELETE FROM {table._name} WHERE false")
    yield other
    other.close()


def build(table):
    """Build the indices in a thread, as the game does."""
    try:
        table.build()
    finally:
        connection.close()


def wait_until_it_waits():
    until = time.monotonic() + 10
    while not count_waiting():
        assert time.monotonic() < until, "the build waits for nobody"
        time.sleep(0.01)


def count_waiting():
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return cursor.fetchone()[0]


def outgrow(lists, monkeypatch):
    """Let the next build make another list, as for more lines."""
    monkeypatch.setattr(old_line_indices, "FEWEST_LISTS", lists + 1)
    monkeypatch.setattr(old_line_indices, "GROWN", 1)


def test_rows_are_deleted_while_an_index_is_built(table, writer):
    first = LineVector.objects.earliest("pk")
    with ThreadPoolExecutor(1) as pool:
        building = pool.submit(build, table)
        wait_until_it_waits()
        with brief_transaction():
            LineVector.objects.filter(pk=first.pk).delete()
        assert not building.done()
        writer.rollback()
        building.result(timeout=30)
    state = table.open(0, 0)
    assert state.searched == state.stored == LineVector.objects.latest("pk").pk


def test_an_index_whose_building_broke_off_is_built_again(table, writer, monkeypatch):
    monkeypatch.setitem(old_line_indices.BUILT_WITH, "lock_timeout", "100")
    with pytest.raises(StoreUnavailable, match="lock timeout"):
        table.build()
    assert table.open(0, 0).searched == 0
    writer.rollback()
    table.build()
    assert table.open(0, 0).searched == LineVector.objects.latest("pk").pk
    with connection.cursor() as cursor:
        cursor.execute("SHOW maintenance_work_mem")
        assert cursor.fetchone()[0] != old_line_indices.BUILT_WITH["maintenance_work_mem"]


def test_an_outgrown_index_is_built_anew_and_searched_as_it_is(table, monkeypatch):
    table.build()
    before = table._indices.size
    assert before.built_for == LineVector.objects.count()
    table.build()
    assert table._indices.size == before
    outgrow(before.lists, monkeypatch)
    table.build()
    assert table._indices.size.lists == before.lists + 1
    assert table.open(0, 0).searched == LineVector.objects.latest("pk").pk
    found = table.find(LineQuery([0, 0, 128, 63, 1, 2, 3, 4], [], (1.0, 0.0), frozenset(), None))
    assert {line.packed for line in found} == {PACKED}


def test_a_line_is_found_as_it_was_stored(table):
    table.build()
    first = Message.objects.earliest("pk")
    (line, *_) = table.find(LineQuery([1.0] * 8, [1], (1.0, 1.0), frozenset(), None))
    assert line == OldLine(first.pk, first.at.timestamp(), "Ann", None, [1], 0, PACKED)


@pytest.mark.parametrize("broken", range(10))
def test_lines_are_found_wherever_building_an_index_anew_breaks_off(table, monkeypatch, broken):
    table.build()
    before = table._indices.size.lists
    outgrow(before, monkeypatch)
    done, numbers = table._run, count()

    def run(statement, *args, **parts):
        if " INDEX " in statement and next(numbers) == broken:
            raise StoreUnavailable("broken off")
        return done(statement, *args, **parts)

    table._indices._run = run
    with pytest.raises(StoreUnavailable, match="broken off"):
        table.build()
    table._indices._run = done
    later = OldLineTable(table.assistant_id, "8:bytes", len(PACKED))
    last = LineVector.objects.latest("pk").pk
    asked = LineQuery([1.0] * 8, [], (1.0, 0.0), frozenset(), None)
    for one in (table, later):
        assert one.open(0, 0).searched == last
        assert {line.packed for line in one.find(asked)} == {PACKED}
    later.build()
    assert later._indices.size.lists == before + 1
    assert names_of_indices(table) == ["near", "pkey", "words"]


def test_lines_are_found_without_an_index(table):
    asked = LineQuery([1.0] * 8, [], (1.0, 0.0), frozenset(), None)
    assert {line.packed for line in table.find(asked)} == {PACKED}


def test_an_index_stays_if_another_process_drops_the_new_one(table, monkeypatch):
    table.build()
    before = table._indices.size
    outgrow(before.lists, monkeypatch)
    done = table._run

    def run(statement, *args, **parts):
        rows = done(statement, *args, **parts)
        if statement.startswith("CREATE INDEX"):
            done("DROP INDEX {table}_near_new")
        return rows

    table._indices._run = run
    with pytest.raises(StoreUnavailable, match="does not exist"):
        table.build()
    assert names_of_indices(table) == ["near", "pkey", "words"]
    assert table._indices.size == before


def names_of_indices(table):
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexname FROM pg_indexes WHERE tablename = %s", [table._name])
        return sorted(name.removeprefix(f"{table._name}_") for (name,) in cursor.fetchall())

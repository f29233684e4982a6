"""The space of deleted rows goes back to the disk, and nothing is lost that is said meanwhile."""

import sqlite3
from contextlib import closing

import pytest
from django.db import connection

from evennia_ai import models
from evennia_ai.apps import prepare_sqlite
from evennia_ai.config.table_retention import Limit
from evennia_ai.services.retention import LogRetention
from evennia_ai.store.erased_bytes import overwrite_deleted
from evennia_ai.store.free_pages import KEPT, PAGES, give_back_pages
from tests.faults import file_scene
from tests.faults.own_database import IS_POSTGRESQL
from tests.game import conftest as scene
from tests.scripted import call

pytestmark = [
    pytest.mark.game,
    pytest.mark.skipif(IS_POSTGRESQL, reason="PostgreSQL gives its space back itself"),
]

service, model, game, tavern = scene.service, scene.model, scene.game, scene.tavern
mira, ann = scene.mira, scene.ann
file, db = file_scene.file, file_scene.db

TEXT = "The ferryman says the river will freeze before the week is out. " * 30


def pragma(name):
    with connection.cursor() as cursor:
        return cursor.execute(f"PRAGMA {name}").fetchone()[0]


def leave_space(script, rows=2_000):
    """Store many old turns and delete them again; the file stays as large."""
    at = script.services.now()
    turns = [
        models.Turn(assistant_id=script.id, at=at, epoch=1, context="x", detail=TEXT)
        for _ in range(rows)
    ]
    models.Turn.objects.bulk_create(turns)
    models.Turn.objects.all().delete()
    assert pragma("freelist_count") > 5 * PAGES


def test_a_new_database_lets_its_space_go(tmp_path):
    with closing(sqlite3.connect(tmp_path / "new.db3")) as made:
        connection_to = type("Connection", (), {"vendor": "sqlite", "cursor": cursor_of(made)})
        prepare_sqlite(connection_to())
        made.execute("CREATE TABLE t (x)")
        assert made.execute("PRAGMA auto_vacuum").fetchone() == (2,)


def cursor_of(made):
    return lambda self: closing(made.cursor())


def test_after_a_purge_the_file_is_small_and_whole(game, mira):
    leave_space(mira.assistant)
    before = pragma("page_count")
    keeper = LogRetention(game.clock, game.service.slices.put, {"Turn": Limit(days=30)})
    done = keeper.purge()
    for _ in range(200):
        game.run(0.05)
    assert done.called
    free, pages = pragma("freelist_count"), pragma("page_count")
    assert pages < before - 5 * PAGES
    assert abs(free - KEPT * pages) <= 0.05 * pages
    assert pragma("integrity_check") == "ok"


def test_a_file_made_without_the_package_lets_its_space_go_once_it_was_written_anew(
    game, mira, file
):
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("PRAGMA auto_vacuum=NONE")
        other.execute("VACUUM")
    leave_space(mira.assistant)
    before = pragma("page_count")
    assert not give_back_pages()
    assert pragma("page_count") == before
    assert overwrite_deleted(file)[1]
    leave_space(mira.assistant)  # over the connection from before
    before = pragma("page_count")
    assert give_back_pages()
    assert pragma("page_count") == before - PAGES
    assert pragma("integrity_check") == "ok"


def test_words_between_the_steps_are_answered(game, ann, mira):
    leave_space(mira.assistant)
    game.model.add(call("say", text="I hear you."))
    assert give_back_pages()
    ann.do("say Mira, are you there?")
    assert give_back_pages()
    game.run(2)
    assert 'Mira says, "I hear you."' in ann.last()


def test_words_said_while_the_whole_file_is_written_anew_are_kept(game, ann, mira, file):
    game.model.add(call("say", text="I hear you."))
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")  # as VACUUM does
        ann.do("say Mira, are you there?")
        game.run(0.2)
        assert models.Event.objects.count() == 0
        other.execute("COMMIT")
    game.run(20)
    assert 'Mira says, "I hear you."' in ann.last()

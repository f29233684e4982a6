"""The tables are older or newer than the code: players and staff are told, and nothing breaks."""

import pytest
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from evennia_ai.store.transactions import schema_trouble

pytestmark = pytest.mark.game


def run_sql(*statements):
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def record(*names):
    """Record migrations of ours; the tests make their tables without any."""
    if connection.vendor == "sqlite":  # its schema editor runs outside transactions only
        run_sql(
            "CREATE TABLE IF NOT EXISTS django_migrations "
            "(id integer PRIMARY KEY, app varchar(255), name varchar(255), applied datetime)"
        )
    for name in names:
        MigrationRecorder(connection).record_applied("evennia_ai", name)


def older():
    """Take a table away that nothing reads here, as before a migration."""
    run_sql("ALTER TABLE evennia_ai_linevector RENAME TO gone")


def newer():
    """Add a column that must have a value, as after a later migration."""
    run_sql("ALTER TABLE evennia_ai_event RENAME COLUMN item TO mood")
    run_sql("ALTER TABLE evennia_ai_event ADD COLUMN item varchar(24)")


def lacking_a_column():
    """Take a column away whose migration is recorded: the migration was changed since."""
    run_sql("ALTER TABLE evennia_ai_turn RENAME COLUMN comment TO gone")
    record("0001_initial", "0002_reconcile_tables")


@pytest.fixture
def restarted(game, ann, mira):
    """Return a function that starts the server's service again."""

    def restart():
        game.service.check_store()
        game.service.accepting = not game.service.schema_trouble
        game.service.resume()

    return restart


def test_tables_that_fit_are_no_trouble_whatever_migrations_made_them(db):
    assert schema_trouble() == ""
    record("0002_cached_tokens", "0018_shared_calls")
    assert schema_trouble() == ""


def test_what_is_missing_is_named(db):
    lacking_a_column()
    assert "evennia_ai_turn.comment" in schema_trouble()


@pytest.mark.parametrize("change", [older, newer, lacking_a_column])
def test_while_the_tables_do_not_fit_players_and_staff_are_told(
    game, ann, admin, mira, restarted, change, logged
):
    change()
    restarted()
    ann.do("say Mira, good evening!")
    ann.do("say Mira, are you there?")
    game.run(30)
    assert len([line for line in ann.heard() if "have no minds just now" in line]) == 1
    assert not game.model.requests
    assert [line for line in logged if "migrate" in line]
    told = " ".join(admin.told("aistatus").split())
    assert "migrate" in told and "the characters say that they have no minds just now" in told
    assert "migrate" not in ann.told("aboutme")

"""Games of old versions, and tables of old forms, become those of this version."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import override_settings
from django.utils.module_loading import import_string
from evennia.typeclasses.models import TypedObject

from evennia_ai.policy.records.record import read_segment
from evennia_ai.store import segments  # noqa: F401  # the stores of records need it
from evennia_ai.store.personal_data import STORES
from evennia_ai.store.transactions import schema_trouble
from tests.short_form import short_form
from tests.upgrade import older
from tests.upgrade.stored import names_in_pickles

ON_SQLITE = pytest.mark.skipif(connection.vendor != "sqlite", reason="the dumps are of SQLite")
# The columns that hold nothing any more, and the tables.
GONE = {"evennia_ai_lease", "evennia_ai_serverprocess"}
GONE_COLUMNS = {"epoch", "owed_by"}
ATTRIBUTES, OWNERS = "typeclasses_attribute", "objects_objectdb_db_attributes"


@pytest.fixture(scope="module", params=short_form(older.GAMES, 2), ids=older.NAMES)
def old_game(request, tmp_path_factory, made_from_models, django_db_blocker):
    """A game of an old version after `evennia migrate`: its records, and its rows from before."""
    file = tmp_path_factory.mktemp("older") / "evennia.db3"
    records = older.restore(request.param, file)
    with on(file, django_db_blocker):
        trouble, before, made = schema_trouble(), rows(), form()
        call_command("migrate", interactive=False, verbosity=0)
        yield SimpleNamespace(
            records=records, before=before, form=made, after=rows(), trouble=trouble
        )


@contextmanager
def on(file, django_db_blocker):
    """Use another database, with migrations, which the other tests go without."""
    with (
        django_db_blocker.unblock(),
        older.connected(file),
        override_settings(MIGRATION_MODULES={}),
    ):
        yield


def rows():
    """Return all rows by table, each as a mapping."""
    tables = set(connection.introspection.table_names()) - {"sqlite_sequence"}
    return {table: rows_of(table) for table in tables}


def rows_of(table):
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def without(row, names):
    return {name: value for name, value in row.items() if name not in names}


def form():
    """Return the columns and constraints of our tables, whatever they are called."""
    with connection.cursor() as cursor:
        return {
            table: form_of(cursor, table)
            for table in connection.introspection.table_names(cursor)
            if table.startswith("evennia_ai_")
        }


def form_of(cursor, table):
    looked_up = connection.introspection
    columns = {
        (column.name, looked_up.get_field_type(column.type_code, column), column.null_ok)
        for column in looked_up.get_table_description(cursor, table)
    }
    limits = {
        (tuple(each["columns"]), each["unique"], each["primary_key"], each["foreign_key"])
        for each in looked_up.get_constraints(cursor, table).values()
        if not each["check"]
    }
    return columns, limits


@ON_SQLITE
@pytest.mark.django_db
def test_an_old_database_gets_the_tables_of_this_version(old_game, made_from_models):
    assert form() == made_from_models
    assert schema_trouble() == ""


@pytest.fixture(scope="module")
def made_from_models(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock():
        return form()


@ON_SQLITE
@pytest.mark.django_db
def test_before_the_upgrade_the_columns_that_are_missing_are_named(old_game, made_from_models):
    missing = {
        f"{table}.{name}"
        for table, (columns, _limits) in made_from_models.items()
        for name, *_kind in columns
        if table in old_game.form and name not in {each[0] for each in old_game.form[table][0]}
    }
    assert {name for name in missing if name not in old_game.trouble} == set()
    assert bool(missing) == bool(old_game.trouble)


@ON_SQLITE
@pytest.mark.django_db
def test_an_old_database_keeps_every_row(old_game):
    for table, before in old_game.before.items():
        if table in GONE or not table.startswith("evennia_ai_"):
            continue
        key = next(
            (name for name in ("id", "digest", "message_id") if before and name in before[0]), ""
        )
        after = {row[key]: row for row in old_game.after[table]} if before else {}
        for row in before:
            kept = {name: value for name, value in row.items() if name not in GONE_COLUMNS}
            assert kept.items() <= after[row[key]].items(), table


def stored_segments():
    """Yield each stored segment: whose, its kind, its key, and its column."""
    tables = {table: {row["id"]: row for row in rows_of(table)} for table in (ATTRIBUTES, OWNERS)}
    for link in tables[OWNERS].values():
        row = tables[ATTRIBUTES][link["attribute_id"]]
        if row["db_attrtype"] in STORES:
            yield f"#{link['objectdb_id']}", row


def records_now():
    """Return all records by owner and kind, as the present code reads them."""
    found = {}
    for owner, row in stored_segments():
        assert row["db_key"].isdecimal(), f"{row['db_attrtype']} of {owner} is set aside"
        read = STORES[row["db_attrtype"]](SimpleNamespace()).read
        segment, is_whole = read_segment(
            row["db_value"], int(row["db_key"]), read, row["db_strvalue"]
        )
        assert is_whole, row["db_attrtype"]
        kept = found.setdefault(owner, {}).setdefault(row["db_attrtype"], [])
        kept += segment.records.values()
    return found


@ON_SQLITE
@pytest.mark.django_db
def test_every_record_that_the_old_version_read_is_read_now(old_game):
    now = records_now()
    for owner, stores in old_game.records.items():
        for store, records in stores.items():
            kept = {each["id"]: each for each in now[owner][f"ai_{store.removeprefix('ai_')}"]}
            assert all(each.items() <= kept[each["id"]].items() for each in records), store


@ON_SQLITE
@pytest.mark.django_db
def test_all_that_an_old_version_stored_is_plain_data_now(old_game):
    assert names_in_pickles(rows_of) == {}


@ON_SQLITE
def test_a_database_that_is_too_old_is_refused_and_left_as_it_is(tmp_path, django_db_blocker):
    file = tmp_path / "evennia.db3"
    older.restore(older.DATA / "bfb933b9.sql.xz", file)
    with on(file, django_db_blocker):
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM django_migrations WHERE name = '0018_shared_calls'")
        before = form()
        with pytest.raises(CommandError, match="last version that has"):
            call_command("migrate", "evennia_ai", interactive=False, verbosity=0)
        assert form() == before and "evennia_ai_lease" in before


@ON_SQLITE
@pytest.mark.django_db
def test_every_class_that_an_old_game_names_is_there(old_game):
    paths = {
        row["db_typeclass_path"]
        for table in ("objects_objectdb", "scripts_scriptdb", "accounts_accountdb")
        for row in old_game.before[table]
    }
    assert [path for path in paths if path.startswith("evennia_ai.")]
    assert all(issubclass(import_string(path), TypedObject) for path in paths)


@pytest.mark.parametrize("name", ["AssistantMixin", "SpeakerMixin", "AssistantCharacter"])
def test_the_classes_that_games_build_on_keep_their_paths(name):
    assert import_string(f"evennia_ai.assistant_character.{name}")

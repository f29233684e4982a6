"""Records that an older version stored, or could not read and set aside."""

from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection
from evennia.typeclasses.attributes import Attribute

from evennia_ai.policy.records.record import SIZE, RecordSegment
from evennia_ai.ports.journal import Journal
from tests.game.journal_scene import cold, contents, rows
from tests.upgrade.old_values import OLD, OLDEST, sealed

migration = import_module("evennia_ai.migrations.0002_reconcile_tables")


def store(key, column, kind=Journal):
    """Write a column as it is, as an older version, which had nothing else below the people."""
    found = Attribute.objects.filter(db_attrtype=Journal.kind, db_key=key)
    text = found.values_list("db_strvalue", flat=True).get().partition("\n")[0]
    found.update(db_strvalue=text)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE typeclasses_attribute SET db_value = %s WHERE db_attrtype = %s AND db_key = %s",
            [column, kind.kind, key],
        )


def upgrade():
    migration.make_plain(apps, None)


def set_aside(key, module, content):
    """Do what a version did that could not read a segment."""
    store(key, sealed(OLD, sealed(module, content)))
    own = Attribute.objects.filter(db_attrtype=Journal.kind, db_key=key)
    own.update(db_key=f"broken_{key}")


@pytest.fixture
def journal(mira):
    mira.journal.add("The cellar is dry.")
    mira.journal.add("Ann owes two crowns.", source_entity=mira.dbref)
    return mira.journal


@pytest.mark.parametrize("module", [OLDEST, OLD])
def test_the_records_of_an_older_version_are_read_and_changed(mira, journal, module):
    before = journal.all()
    store("000000", sealed(module, rows()["000000"][1]))
    assert cold(mira).all() == before
    mira.journal.add("The third.")
    assert contents(cold(mira)) == ["The cellar is dry.", "Ann owes two crowns.", "The third."]


def test_records_that_an_upgrade_set_aside_are_put_back_before_what_was_written_since(
    mira, journal
):
    people, content = rows()["000000"]
    set_aside("000000", OLDEST, content)
    mira.journal.segments._create(0, RecordSegment(SIZE))
    cold(mira).add("Written since.")
    upgrade()
    assert contents(cold(mira)) == ["The cellar is dry.", "Ann owes two crowns.", "Written since."]
    assert sorted(rows()) == ["000000", "000001"]
    assert rows()["000000"][0].split() == [mira.dbref] and mira.dbref in people
    assert mira.journal.add("The next.") == f"j{SIZE + 2}"
    upgrade()
    assert len(cold(mira).all()) == 4


def test_what_changed_since_stays_and_names_its_people(mira, journal, ann):
    content = rows()["000000"][1]
    set_aside("000000", OLD, content)
    changed = {**content["records"][1], "content": "Ann flooded it.", "source_entity": ann.dbref}
    mira.journal.segments._create(0, RecordSegment(SIZE, {1: changed}))
    upgrade()
    assert contents(cold(mira)) == ["Ann flooded it.", "Ann owes two crowns."]
    assert set(rows()["000000"][0].split()) == {ann.dbref, mira.dbref}


def test_a_segment_that_was_damaged_stays_aside(mira, journal):
    content = rows()["000000"][1]
    store("000000", sealed(OLD, {**content, "records": {**content["records"], 2: "nonsense"}}))
    assert contents(cold(mira)) == ["The cellar is dry."]
    upgrade()
    assert contents(cold(mira)) == ["The cellar is dry."]
    assert sorted(rows()) == ["000000", "broken_000000"]
    store("broken_000000", sealed(OLD, "nonsense"))
    upgrade()
    assert contents(cold(mira)) == ["The cellar is dry."]


def test_what_an_older_version_stored_is_plain_after_an_upgrade(mira, journal):
    before = journal.all()
    store("000000", sealed(OLD, rows()["000000"][1]))
    upgrade()
    values = Attribute.objects.filter(db_key="000000", db_attrtype=Journal.kind)
    assert values.values_list("db_value", flat=True).get().startswith("2 records")
    assert cold(mira).all() == before

"""Tables of an earlier version on PostgreSQL; `test_upgrade` has whole games, of SQLite."""

from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection

from evennia_ai.models import Event, Lore, ModelCall
from evennia_ai.store.transactions import schema_trouble
from tests.game.test_upgrade import form
from tests.scripted import call

pytestmark = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="SQLite changes no tables in a transaction"
)
migration = import_module("evennia_ai.migrations.0002_reconcile_tables")
OLDER = """
ALTER TABLE evennia_ai_event DROP COLUMN token, ADD COLUMN epoch bigint;
ALTER TABLE evennia_ai_modelcall DROP COLUMN token;
ALTER TABLE evennia_ai_sleeppass ADD COLUMN epoch bigint NOT NULL;
DROP INDEX ai_turn_open;
ALTER TABLE evennia_ai_turn DROP COLUMN mark, DROP COLUMN comment, DROP COLUMN marked_by,
  ADD COLUMN epoch bigint NOT NULL DEFAULT 1;
CREATE INDEX ai_turn_open ON evennia_ai_turn (ended_at, epoch);
ALTER TABLE evennia_ai_compaction ADD COLUMN owed_by varchar(24) NOT NULL DEFAULT '';
ALTER TABLE evennia_ai_lore DROP COLUMN keys, DROP COLUMN always;
DROP TABLE evennia_ai_report;
CREATE TABLE evennia_ai_lease (epoch bigint PRIMARY KEY);
CREATE TABLE evennia_ai_old_lines_4_00000001 (message_id bigint PRIMARY KEY);
"""


def test_tables_of_an_earlier_version_become_those_of_this_one(game, mira, ann):
    game.model.add(call("say", text="Good evening."), call("say", text="It is."))
    ann.do("say Mira, good evening!")
    ann.do("say Mira, is it late?")
    game.run(5)
    Lore.objects.create(title="The tower", text="It is old.")
    connection.check_constraints()
    before = form()
    texts = sorted(Event.objects.values_list("id", "text"))
    with connection.cursor() as cursor:
        cursor.execute(OLDER)
    assert "evennia_ai_lore.keys" in schema_trouble()
    for _again in range(2):
        with connection.schema_editor() as editor:
            migration.reconcile(apps, editor)
        assert form() == before
    assert schema_trouble() == ""
    assert sorted(Event.objects.values_list("id", "text")) == texts
    for model in (Event, ModelCall):
        tokens = list(model.objects.values_list("token", flat=True))
        assert len(set(tokens)) == len(tokens) > 0
    assert Lore.objects.get().keys == [] and Lore.objects.get().always is False

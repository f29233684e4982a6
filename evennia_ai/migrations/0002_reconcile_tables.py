"""A database of any version since 0018_shared_calls gets the tables and values of this one.

The migrations 0002 to 0018 of earlier versions are gone, and ``0001_initial`` was changed before it
was frozen. So this looks at the tables that are there: it adds what they lack, and removes what no
version reads any more. Then it makes the characters' records plain data, also those that an earlier
upgrade could not read and set aside. It can run again.
"""

from contextlib import suppress
from typing import Any

from django.core.management import CommandError
from django.db import migrations, models
from django.db.migrations.recorder import MigrationRecorder
from django.db.models.functions import Cast

from evennia_ai.errors import BadRecord
from evennia_ai.policy.records.stored_values import BELOW, opened, stored, unpacked

APP = "evennia_ai"
LAST_OLD = "0018_shared_calls"
TOO_OLD = (
    f"This database is older than {LAST_OLD}. Run `evennia migrate` with the last version that has "
    "this migration, then again with this version."
)
# The tables of each beginning are gone: of shared databases, and of a search by pgvector.
GONE_TABLES = ("evennia_ai_lease", "evennia_ai_serverprocess", "evennia_ai_old_lines")
GONE_COLUMNS = {
    "event": ("epoch",),
    "turn": ("epoch",),
    "sleeppass": ("epoch",),
    "compaction": ("owed_by",),
}
# What a new column holds in old rows; else the default of its field.
VALUES = {("event", "token"): "'event' || id", ("modelcall", "token"): "'call' || id"}

KINDS = ("ai_journal", "ai_archive", "ai_profiles", "ai_goals", "ai_plan")
UNDO = "ai_memory_undo"  # the changes of journals, which no version reads any more
BROKEN, SIZE = "broken_", 32
LABEL = "{count} records of an assistant; aimemory and aigoals show them"
DAMAGED = "a damaged segment of an assistant's records"


# --- the tables -------------------------------------------------------------------------------


def reconcile(apps: Any, editor: Any) -> None:
    """Make the tables those of ``0001_initial``; no row is lost."""
    applied = {name for app, name in MigrationRecorder(editor.connection).applied_migrations()
               if app == APP}  # fmt: skip
    if "0002_cached_tokens" in applied and LAST_OLD not in applied:
        raise CommandError(TOO_OLD)
    if editor.connection.vendor == "postgresql":  # alters no table whose rows wait for a check
        editor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    tables = editor.connection.introspection.table_names()
    for table in tables:
        if table.startswith(GONE_TABLES):
            editor.execute(f"DROP TABLE {editor.quote_name(table)}")
    for model in apps.get_app_config(APP).get_models():
        if model._meta.db_table in tables:
            Reconciled(model, editor).run()
        else:
            editor.create_model(model)


class Reconciled:
    """One table that an earlier version made."""

    def __init__(self, model: Any, editor: Any) -> None:
        self.model, self.editor, self.meta = model, editor, model._meta
        self.table = editor.quote_name(model._meta.db_table)

    def run(self) -> None:
        columns = self.columns()
        for index in self.meta.indexes:
            if self.constraints().get(index.name, {}).get("columns") not in (None, self.of(index)):
                self.editor.remove_index(self.model, index)
        for field in self.meta.local_concrete_fields:
            if field.column not in columns:
                self.add(field)
        for name in columns.intersection(GONE_COLUMNS.get(self.meta.model_name, ())):
            field = models.TextField()
            field.set_attributes_from_name(name)
            self.editor.remove_field(self.model, field)
        for index in self.meta.indexes:
            if index.name not in self.constraints():
                self.editor.add_index(self.model, index)

    def columns(self) -> set[str]:
        return {column.name for column in self.inspect("get_table_description")}

    def constraints(self) -> Any:
        return self.inspect("get_constraints")

    def inspect(self, what: str) -> Any:
        with self.editor.connection.cursor() as cursor:
            return getattr(self.editor.connection.introspection, what)(cursor, self.meta.db_table)

    def of(self, index: models.Index) -> list[str]:
        return [self.meta.get_field(name).column for name, _order in index.fields_orders]

    def add(self, field: Any) -> None:
        """Add a column, filled in all rows; unique ones get an index of their own."""
        column = self.editor.quote_name(field.column)
        kinds = field.db_parameters(self.editor.connection)
        kind = f"{kinds['type']} CHECK ({kinds['check']})" if kinds["check"] else kinds["type"]
        default = "" if field.unique else self.editor.effective_default(field)
        if not field.null:
            kind += f" NOT NULL DEFAULT {self.editor.quote_value(default)}"
        self.editor.execute(f"ALTER TABLE {self.table} ADD COLUMN {column} {kind}")
        if not field.null and self.editor.connection.vendor != "sqlite":
            self.editor.execute(f"ALTER TABLE {self.table} ALTER COLUMN {column} DROP DEFAULT")
        if value := VALUES.get((self.meta.model_name, field.name)):
            self.editor.execute(f"UPDATE {self.table} SET {column} = {value}")  # noqa: S608
        if field.unique:
            name = self.editor.quote_name(f"ai_{self.meta.model_name}_{field.column}")
            self.editor.execute(f"CREATE UNIQUE INDEX {name} ON {self.table} ({column})")


# --- the records ------------------------------------------------------------------------------


def make_plain(apps: Any, editor: Any) -> None:
    """Store records as plain data, and put those back that an upgrade had set aside."""
    attributes = apps.get_model("typeclasses", "Attribute").objects
    attributes.filter(db_attrtype=UNDO).delete()
    rows = attributes.filter(db_attrtype__in=KINDS).exclude(db_strvalue__contains=BELOW)
    owned = apps.get_model("objects", "ObjectDB").db_attributes.through.objects
    for row_id in list(rows.order_by("id").values_list("id", flat=True)):
        row = read(rows.filter(id=row_id))
        with suppress(BadRecord, TypeError):  # it stays as it is, and is set aside when it is read
            if not row["db_key"].startswith(BROKEN):
                columns = plain(unpacked(row["column"]), row["db_strvalue"] or "")
                rows.filter(id=row_id).update(**columns)
                continue
            value = opened(row["column"])
            owners = owned.filter(attribute_id=row_id).values("objectdb_id")
            of_owner = owned.filter(objectdb_id__in=owners).values("attribute_id")
            columns = stored(value, row["db_strvalue"] or "", DAMAGED)
            rows.filter(id=row_id).update(**columns)
            if isinstance(value, str):  # the column as it was; an upgrade could read nothing in it
                put_back(row, unpacked(value), attributes.filter(id__in=of_owner))


def read(rows: Any) -> Any:
    """Return the first of some Attributes, its value as text; None if there is none."""
    columns = rows.annotate(column=Cast("db_value", models.TextField()))
    return columns.values("id", "db_attrtype", "db_key", "db_strvalue", "column").first()


def plain(content: Any, concerned: str) -> dict[str, str]:
    """Return the columns of a segment as it is stored now; raises BadRecord."""
    if not isinstance(content, dict) or not isinstance(content.get("records"), dict):
        raise BadRecord("these are no records.")
    return stored(content, concerned, LABEL.format(count=len(content["records"])))


def put_back(broken: Any, content: Any, rows: Any) -> None:
    """Put a segment back in its place among the rows of its owner; raises BadRecord.

    What has replaced it holds only what was written since.
    """
    plain(content, "")
    key = broken["db_key"].removeprefix(BROKEN)
    newer = read(rows.filter(db_attrtype=broken["db_attrtype"], db_key=key))
    records, version, people = dict(content["records"]), "", people_of(broken)
    if newer:
        records |= unpacked(newer["column"], newer["db_strvalue"])["records"]
        version, people = (newer["db_strvalue"] or "").partition(" ")[0], people | people_of(newer)
        rows.filter(id=newer["id"]).delete()
    whole = {"used": SIZE, "records": {str(number): each for number, each in records.items()}}
    concerned = " ".join([version, *sorted(people), ""])
    rows.filter(id=broken["id"]).update(db_key=key, **plain(whole, concerned))


def people_of(row: Any) -> set[str]:
    concerned = (row["db_strvalue"] or "").partition(BELOW)[0]
    return {word for word in concerned.split() if word.startswith("#")}


class Migration(migrations.Migration):
    dependencies = [("evennia_ai", "0001_initial")]

    operations = [
        migrations.RunPython(reconcile, migrations.RunPython.noop),
        migrations.RunPython(make_plain, migrations.RunPython.noop),
    ]

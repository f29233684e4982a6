"""Databases for killed games: our tables, and a script for each assistant."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.utils import timezone
from evennia.accounts.models import AccountDB
from evennia.comms.models import ChannelDB
from evennia.objects.models import ObjectDB
from evennia.scripts.models import ScriptDB
from evennia.typeclasses.attributes import Attribute

from tests.crash.child_life import DBREFS


def make_template(path: Path) -> None:
    """Make a database without Evennia's migrations, which takes a moment."""
    with open_database(path):
        with connection.schema_editor() as editor:
            for model in (
                ContentType,
                Attribute,
                AccountDB,
                ObjectDB,
                ScriptDB,
                ChannelDB,
                *apps.get_app_config("evennia_ai").get_models(),
            ):
                editor.create_model(model)
        for script_id, dbref in DBREFS.items():
            insert_bare(ScriptDB, script_id)
            insert_bare(ObjectDB, int(dbref[1:]))


def insert_bare(model: Any, row_id: int) -> None:
    """Insert a script's or an object's row without its typeclass."""
    empty: dict[str, Any] = {"CharField": "", "TextField": "", "BooleanField": False}
    values = {
        field.column: empty.get(field.get_internal_type(), 0)
        for field in model._meta.local_concrete_fields
        if not field.null
    }
    values |= {"id": row_id, "db_key": "assistant", "db_date_created": timezone.now()}
    columns, marks = ", ".join(values), ", ".join("%s" for _ in values)
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {model._meta.db_table} ({columns}) VALUES ({marks})",
            list(values.values()),
        )


@contextmanager
def open_database(path: Path) -> Iterator[None]:
    """Use another database file, in the mode of a running server."""
    connection.close()
    connection.settings_dict["NAME"] = str(path)
    with connection.cursor() as cursor:
        for pragma in settings.SQLITE3_PRAGMAS:
            cursor.execute(pragma)
    try:
        yield
    finally:
        connection.close()

"""What characters know no longer shows in ``examine``; whispers keep the discretion they met."""

from collections.abc import Callable
from typing import Any

from django.db import migrations, models

from evennia_ai.policy.records.sealed import Sealed, unsealed

OLD = "old records of an assistant; aimemory and aigoals show them"
KINDS = ("ai_journal", "ai_archive", "ai_profiles", "ai_goals", "ai_plan", "ai_memory_undo")


def rewrite(apps: Any, change: Callable[[Any], Any]) -> None:
    rows = apps.get_model("typeclasses", "Attribute").objects.filter(db_attrtype__in=KINDS)
    for row_id in list(rows.values_list("id", flat=True)):
        row = rows.filter(id=row_id)
        row.update(db_value=change(row.values_list("db_value", flat=True)[0]))


def seal(apps: Any, editor: Any) -> None:
    rewrite(apps, lambda value: Sealed(unsealed(value), OLD))


def unseal(apps: Any, editor: Any) -> None:
    rewrite(apps, unsealed)


class Migration(migrations.Migration):
    dependencies = [
        ("evennia_ai", "0005_nature"),
        ("objects", "0013_defaultobject_alter_objectdb_id_defaultcharacter_and_more"),
    ]

    operations = [
        migrations.AddField("event", "repeatable", models.BooleanField(default=False)),
        migrations.RunPython(seal, unseal),
    ]

"""Characters with an assistant keep their own typeclass; the mixin is added in memory."""

from typing import Any

from django.db import migrations

PREFIX = "evennia_ai.assistant_character.Assistant__"


def restore(apps: Any, editor: Any) -> None:
    rows = apps.get_model("objects", "ObjectDB").objects.filter(
        db_typeclass_path__startswith=PREFIX
    )
    for path in set(rows.values_list("db_typeclass_path", flat=True)):
        before = path.removeprefix(PREFIX).replace("__", ".")
        rows.filter(db_typeclass_path=path).update(db_typeclass_path=before)


class Migration(migrations.Migration):
    dependencies = [("evennia_ai", "0010_indexes")]

    operations = [migrations.RunPython(restore, migrations.RunPython.noop)]

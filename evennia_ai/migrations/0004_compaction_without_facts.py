"""A compaction no longer stores facts: they are recalled from the log."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("evennia_ai", "0003_linevector")]

    operations = [migrations.RemoveField("compaction", "facts")]

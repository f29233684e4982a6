"""A compaction no longer stores facts: they are recalled from the log."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("evennia_ai", "0002_cached_tokens")]  # 0003_line_vectors once it exists

    operations = [migrations.RemoveField("compaction", "facts")]

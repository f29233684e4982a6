"""A summary may wait to be rewritten without a forgotten player."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evennia_ai", "0008_authors")]

    operations = [
        migrations.AddField(
            "compaction", "owed_by", models.CharField(blank=True, default="", max_length=24)
        ),
    ]

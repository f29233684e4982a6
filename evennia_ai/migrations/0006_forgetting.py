"""Messages know their authors; a summary may wait to be rewritten without a forgotten player."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evennia_ai", "0004_compaction_without_facts")]

    operations = [
        migrations.AddField("message", "authors", models.TextField(blank=True, default=""), False),
        migrations.AddField(
            "compaction", "owed_by", models.CharField(blank=True, default="", max_length=24)
        ),
    ]

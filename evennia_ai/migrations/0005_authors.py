"""Messages, events, lore and shared personas name their authors."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evennia_ai", "0004_compaction_without_facts")]

    operations = [
        migrations.AddField("event", "authors", models.TextField(blank=True, default=""), False),
        migrations.AddField("message", "authors", models.TextField(blank=True, default=""), False),
        migrations.AddField("lore", "authors", models.JSONField(default=list)),
        migrations.AddField("sharedpersona", "authors", models.JSONField(default=list)),
    ]

"""The facts that a compaction took out of view, so that they can be called to mind again."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evennia_ai", "0003_speaker_use")]

    operations = [
        migrations.AddField(
            model_name="compaction", name="facts", field=models.JSONField(default=dict)
        ),
    ]

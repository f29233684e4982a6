"""What tools consulted; whose words are in a summary, and whether the journal has it. Compactions
that are older than this have no entries there, and need none."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evennia_ai", "0006_retention")]

    operations = [
        migrations.AddField(
            model_name="message", name="consulted", field=models.JSONField(default=dict)
        ),
        migrations.AddField(
            model_name="compaction", name="speakers", field=models.JSONField(default=dict)
        ),
        migrations.AddField(
            model_name="compaction", name="archived", field=models.BooleanField(default=True)
        ),
        migrations.AlterField(
            model_name="compaction", name="archived", field=models.BooleanField(default=False)
        ),
    ]

"""The thing that a waiting act is about."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evennia_ai", "0003_turn_askers")]

    operations = [
        migrations.AddField(
            model_name="pendingact",
            name="item",
            field=models.CharField(max_length=24, blank=True, default=""),
        )
    ]

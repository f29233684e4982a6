"""How many prompt tokens an endpoint took from its cache."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evennia_ai", "0001_initial")]

    operations = [
        migrations.AddField("modelcall", "cached_tokens", models.PositiveIntegerField(null=True)),
        migrations.AddField("dailyuse", "cached_tokens", models.PositiveBigIntegerField(default=0)),
    ]

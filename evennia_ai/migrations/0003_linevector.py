"""The embeddings of the log's lines."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evennia_ai", "0002_cached_tokens")]

    operations = [
        migrations.CreateModel(
            "LineVector",
            [
                (
                    "message",
                    models.OneToOneField(
                        "evennia_ai.message",
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="vector",
                        serialize=False,
                    ),
                ),
                ("embedder", models.CharField(max_length=255)),
                ("packed", models.BinaryField()),
            ],
        ),
    ]

"""What stood in the prompt of each model call, and the raw reply."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evennia_ai", "0011_own_typeclasses"),
        ("scripts", "0016_scriptbase_alter_scriptdb_id_defaultscript_and_more"),
    ]

    operations = [
        migrations.CreateModel(
            "CallRecord",
            [
                ("id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("at", models.DateTimeField()),
                ("digest", models.CharField(max_length=32)),
                ("people", models.TextField(blank=True)),
                ("packed", models.BinaryField()),
                (
                    "assistant",
                    models.ForeignKey(
                        "scripts.scriptdb",
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["assistant", "id"], name="ai_callrecord_of")],
            },
        ),
        migrations.CreateModel(
            "PromptText",
            [
                ("digest", models.CharField(max_length=32, primary_key=True, serialize=False)),
                ("text", models.TextField()),
                ("used_on", models.DateField()),
            ],
        ),
    ]

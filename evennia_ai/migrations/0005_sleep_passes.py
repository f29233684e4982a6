"""What assistants did in their sleep."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evennia_ai", "0004_compaction_facts"),
        ("scripts", "0016_scriptbase_alter_scriptdb_id_defaultscript_and_more"),
    ]

    operations = [
        migrations.CreateModel(
            name="SleepPass",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("at", models.DateTimeField()),
                ("epoch", models.BigIntegerField()),
                ("reason", models.CharField(max_length=12)),
                ("ended_at", models.DateTimeField(null=True)),
                ("outcome", models.CharField(blank=True, max_length=12)),
                ("results", models.JSONField(default=dict)),
                ("errors", models.JSONField(default=dict)),
                ("cost", models.JSONField(default=dict)),
                (
                    "assistant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="scripts.scriptdb",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["assistant", "id"], name="ai_sleeppass_of")],
            },
        ),
    ]

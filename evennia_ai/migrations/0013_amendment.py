"""Builders' changes of how messages of the log are shown."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evennia_ai", "0012_callrecord"),
        ("scripts", "0016_scriptbase_alter_scriptdb_id_defaultscript_and_more"),
    ]

    operations = [
        migrations.CreateModel(
            "Amendment",
            [
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("at", models.DateTimeField()),
                ("seq", models.BigIntegerField()),
                ("kind", models.CharField(max_length=12)),
                ("text", models.TextField(blank=True)),
                ("authors", models.TextField(blank=True)),
                ("by", models.CharField(max_length=24)),
                ("batch", models.BigIntegerField()),
                ("undone_at", models.DateTimeField(null=True)),
                ("undone_by", models.CharField(blank=True, max_length=24)),
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
                "indexes": [
                    models.Index(fields=["assistant", "undone_at", "id"], name="ai_amendment_of"),
                    models.Index(fields=["seq"], name="ai_amendment_seq"),
                ],
            },
        ),
    ]

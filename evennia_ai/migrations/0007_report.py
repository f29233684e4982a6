"""Players' reports of what characters said."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evennia_ai", "0006_private_records"),
        ("scripts", "0016_scriptbase_alter_scriptdb_id_defaultscript_and_more"),
    ]

    operations = [
        migrations.CreateModel(
            "Report",
            [
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("at", models.DateTimeField()),
                ("reporter", models.CharField(max_length=24)),
                ("reporter_name", models.CharField(max_length=255)),
                ("reason", models.TextField()),
                ("seqs", models.JSONField(default=list)),
                ("closed_at", models.DateTimeField(null=True)),
                ("closed_by", models.CharField(blank=True, max_length=255)),
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
                    models.Index(fields=["closed_at", "id"], name="ai_report_open"),
                    models.Index(fields=["reporter", "id"], name="ai_report_by"),
                ],
            },
        ),
    ]

"""What characters told others of their faction, their place or their world."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evennia_ai", "0007_compaction_archive"),
        ("scripts", "0016_scriptbase_alter_scriptdb_id_defaultscript_and_more"),
    ]

    operations = [
        migrations.CreateModel(
            name="SharedEntry",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("at", models.DateTimeField()),
                ("entry", models.CharField(max_length=80)),
                ("scope", models.CharField(max_length=300)),
                ("teller", models.CharField(max_length=24)),
                ("text", models.TextField()),
                ("learnt_at", models.DateTimeField()),
                ("available_from", models.DateTimeField()),
                ("importance", models.PositiveSmallIntegerField()),
                ("trust", models.FloatField()),
                ("source", models.CharField(blank=True, max_length=24)),
                ("speakers", models.JSONField(default=list)),
                ("people", models.TextField(blank=True)),
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
                "constraints": [
                    models.UniqueConstraint(
                        fields=["assistant", "entry", "scope"], name="ai_shared_once"
                    )
                ],
                "indexes": [
                    models.Index(fields=["scope", "-importance", "-id"], name="ai_shared_scope"),
                    models.Index(fields=["teller", "entry"], name="ai_shared_entry"),
                ],
            },
        ),
    ]

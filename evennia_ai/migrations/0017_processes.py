"""Several server processes on one database."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evennia_ai", "0016_toolcall_locks"),
        ("scripts", "0016_scriptbase_alter_scriptdb_id_defaultscript_and_more"),
    ]

    operations = [
        migrations.CreateModel(
            "ServerProcess",
            [
                ("epoch", models.BigIntegerField(primary_key=True, serialize=False)),
                ("slot", models.CharField(max_length=255)),
                ("beats", models.BigIntegerField(default=0)),
                ("shared", models.JSONField(default=dict)),
            ],
        ),
        migrations.CreateModel(
            "Lease",
            [
                (
                    "assistant",
                    models.OneToOneField(
                        "scripts.scriptdb",
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                    ),
                ),
                ("epoch", models.BigIntegerField()),
                ("busy", models.BooleanField(default=True)),
                ("wanted_by", models.BigIntegerField(default=0)),
                ("changed", models.BooleanField(default=False)),
            ],
        ),
        migrations.AddField("event", "epoch", models.BigIntegerField(null=True)),
    ]

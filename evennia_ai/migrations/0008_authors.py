"""Messages, events, lore and shared personas name their authors; acts wait for people."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evennia_ai", "0007_report")]

    operations = [
        migrations.AddField("event", "authors", models.TextField(blank=True, default=""), False),
        migrations.AddField("message", "authors", models.TextField(blank=True, default=""), False),
        migrations.AddField("lore", "authors", models.JSONField(default=list)),
        migrations.AddField("sharedpersona", "authors", models.JSONField(default=list)),
        migrations.CreateModel(
            name="PendingAct",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("at", models.DateTimeField()),
                ("needs", models.CharField(max_length=8)),
                ("state", models.CharField(max_length=12)),
                ("name", models.CharField(max_length=64)),
                ("arguments", models.TextField()),
                ("speakers", models.JSONField(default=list)),
                ("authors", models.TextField(blank=True)),
                ("audience", models.JSONField(default=list)),
                ("private", models.BooleanField(default=False)),
                ("expires_at", models.DateTimeField()),
                ("decided_by", models.CharField(blank=True, max_length=24)),
                ("result", models.TextField(blank=True)),
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
                "indexes": [
                    models.Index(fields=["state", "assistant", "id"], name="ai_pending_state")
                ],
            },
        ),
    ]

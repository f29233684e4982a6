"""The tables of evennia_ai."""

from django.db import migrations, models
from django.db.models import CASCADE, SET_NULL


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("objects", "0013_defaultobject_alter_objectdb_id_defaultcharacter_and_more"),
        ("scripts", "0016_scriptbase_alter_scriptdb_id_defaultscript_and_more"),
    ]

    operations = [
        migrations.CreateModel(
            name="Turn",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("assistant", models.ForeignKey("scripts.scriptdb", CASCADE, related_name="+")),
                ("at", models.DateTimeField()),
                ("epoch", models.BigIntegerField()),
                ("context", models.CharField(max_length=32)),
                ("audience", models.JSONField(default=list)),
                ("private", models.BooleanField(default=False)),
                ("ended_at", models.DateTimeField(null=True)),
                ("outcome", models.CharField(blank=True, max_length=16)),
                ("detail", models.TextField(blank=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["assistant", "id"], name="ai_turn_of"),
                    models.Index(fields=["ended_at", "epoch"], name="ai_turn_open"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Event",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("assistant", models.ForeignKey("scripts.scriptdb", CASCADE, related_name="+")),
                ("at", models.DateTimeField()),
                ("kind", models.CharField(max_length=16)),
                ("speaker", models.CharField(max_length=24)),
                ("speaker_name", models.CharField(max_length=255)),
                ("text", models.TextField()),
                ("audience", models.JSONField(default=list)),
                ("private", models.BooleanField(default=False)),
                ("hops", models.PositiveSmallIntegerField(default=0)),
                ("state", models.CharField(max_length=12)),
                ("reason", models.TextField(blank=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                (
                    "turn",
                    models.ForeignKey(
                        "evennia_ai.turn", SET_NULL, null=True, related_name="events"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["assistant", "state", "id"], name="ai_event_state"),
                    models.Index(fields=["speaker", "assistant", "id"], name="ai_event_speaker"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Message",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("assistant", models.ForeignKey("scripts.scriptdb", CASCADE, related_name="+")),
                ("at", models.DateTimeField()),
                ("role", models.CharField(max_length=12)),
                ("content", models.TextField(blank=True)),
                ("tool_calls", models.JSONField(default=list)),
                ("tool_call_id", models.CharField(blank=True, max_length=128)),
                ("speaker", models.CharField(blank=True, max_length=24)),
                ("speaker_name", models.CharField(blank=True, max_length=255)),
                ("audience", models.JSONField(default=list)),
                ("private", models.BooleanField(default=False)),
                ("tokens", models.PositiveIntegerField(default=0)),
                (
                    "event",
                    models.ForeignKey("evennia_ai.event", SET_NULL, null=True, related_name="+"),
                ),
                (
                    "turn",
                    models.ForeignKey("evennia_ai.turn", SET_NULL, null=True, related_name="+"),
                ),
                ("consulted", models.JSONField(default=dict)),
            ],
            options={"indexes": [models.Index(fields=["assistant", "id"], name="ai_message_seq")]},
        ),
        migrations.CreateModel(
            name="ModelCall",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("assistant", models.ForeignKey("scripts.scriptdb", CASCADE, related_name="+")),
                ("at", models.DateTimeField()),
                (
                    "turn",
                    models.ForeignKey(
                        "evennia_ai.turn", SET_NULL, null=True, related_name="model_calls"
                    ),
                ),
                ("purpose", models.CharField(max_length=32)),
                ("profile", models.CharField(max_length=64)),
                ("model", models.CharField(blank=True, max_length=255)),
                ("estimated_tokens", models.PositiveIntegerField(default=0)),
                ("prompt_tokens", models.PositiveIntegerField(null=True)),
                ("completion_tokens", models.PositiveIntegerField(null=True)),
                ("duration_ms", models.PositiveIntegerField(default=0)),
                ("finish_reason", models.CharField(blank=True, max_length=32)),
                ("error_kind", models.CharField(blank=True, max_length=16)),
                ("error", models.TextField(blank=True)),
            ],
            options={"indexes": [models.Index(fields=["assistant", "id"], name="ai_modelcall_of")]},
        ),
        migrations.CreateModel(
            name="ToolCall",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("assistant", models.ForeignKey("scripts.scriptdb", CASCADE, related_name="+")),
                ("at", models.DateTimeField()),
                (
                    "turn",
                    models.ForeignKey(
                        "evennia_ai.turn", SET_NULL, null=True, related_name="tool_calls"
                    ),
                ),
                ("call_id", models.CharField(max_length=128)),
                ("name", models.CharField(max_length=64)),
                ("arguments", models.TextField(blank=True)),
                ("world", models.BooleanField(default=False)),
                ("state", models.CharField(max_length=12)),
                ("result", models.TextField(blank=True)),
                ("ended_at", models.DateTimeField(null=True)),
            ],
            options={"indexes": [models.Index(fields=["assistant", "id"], name="ai_toolcall_of")]},
        ),
        migrations.CreateModel(
            name="Compaction",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("assistant", models.ForeignKey("scripts.scriptdb", CASCADE, related_name="+")),
                ("at", models.DateTimeField()),
                ("reason", models.CharField(max_length=12)),
                ("from_seq", models.BigIntegerField()),
                ("upto_seq", models.BigIntegerField()),
                ("prefix_hash", models.CharField(blank=True, max_length=64)),
                ("summary", models.JSONField(default=dict)),
                ("compacted_count", models.PositiveIntegerField()),
                ("original_token_count", models.PositiveIntegerField()),
                ("summary_token_count", models.PositiveIntegerField()),
                ("facts_found", models.PositiveIntegerField(default=0)),
                ("facts_kept", models.PositiveIntegerField(default=0)),
                ("facts_rescued", models.PositiveIntegerField(default=0)),
                ("facts", models.JSONField(default=dict)),
                ("consulted", models.JSONField(default=dict)),
                ("rung", models.CharField(blank=True, max_length=16)),
                (
                    "previous",
                    models.ForeignKey(
                        "evennia_ai.compaction", SET_NULL, null=True, related_name="+"
                    ),
                ),
                ("cost", models.JSONField(default=dict)),
                ("undone_at", models.DateTimeField(null=True)),
                ("speakers", models.JSONField(default=dict)),
                ("archived", models.BooleanField(default=False)),
                ("sealed", models.BooleanField(default=False)),
            ],
            options={
                "indexes": [models.Index(fields=["assistant", "id"], name="ai_compaction_of")]
            },
        ),
        migrations.CreateModel(
            name="SleepPass",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("assistant", models.ForeignKey("scripts.scriptdb", CASCADE, related_name="+")),
                ("at", models.DateTimeField()),
                ("epoch", models.BigIntegerField()),
                ("reason", models.CharField(max_length=12)),
                ("ended_at", models.DateTimeField(null=True)),
                ("outcome", models.CharField(blank=True, max_length=12)),
                ("results", models.JSONField(default=dict)),
                ("errors", models.JSONField(default=dict)),
                ("cost", models.JSONField(default=dict)),
            ],
            options={"indexes": [models.Index(fields=["assistant", "id"], name="ai_sleeppass_of")]},
        ),
        migrations.CreateModel(
            name="SharedEntry",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("assistant", models.ForeignKey("scripts.scriptdb", CASCADE, related_name="+")),
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
            ],
            options={
                "indexes": [
                    models.Index(fields=["scope", "-importance", "-id"], name="ai_shared_scope"),
                    models.Index(fields=["teller", "entry"], name="ai_shared_entry"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("assistant", "entry", "scope"), name="ai_shared_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="DailyUse",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("assistant", models.ForeignKey("scripts.scriptdb", CASCADE, related_name="+")),
                ("day", models.DateField()),
                ("calls", models.PositiveIntegerField(default=0)),
                ("prompt_tokens", models.PositiveBigIntegerField(default=0)),
                ("completion_tokens", models.PositiveBigIntegerField(default=0)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("assistant", "day"), name="ai_dailyuse_once")
                ]
            },
        ),
        migrations.CreateModel(
            name="SpeakerUse",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("speaker", models.CharField(max_length=24)),
                ("day", models.DateField()),
                ("tokens", models.PositiveBigIntegerField(default=0)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("day", "speaker"), name="ai_speakeruse_once")
                ]
            },
        ),
        migrations.CreateModel(
            name="Lore",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("title", models.CharField(max_length=200, unique=True)),
                ("text", models.TextField()),
                ("scopes", models.JSONField(default=list)),
            ],
        ),
        migrations.CreateModel(
            name="SharedPersona",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=64, unique=True)),
                ("fields", models.JSONField(default=dict)),
            ],
        ),
    ]

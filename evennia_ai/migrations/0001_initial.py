"""The tables of evennia_ai."""

from collections.abc import Sequence
from typing import Any

from django.db import migrations, models
from django.db.models import CASCADE, SET_NULL

from evennia_ai.models.fields import new_token


def table(
    name: str, /, indexes: Sequence[Any] = (), constraints: Sequence[Any] = (), **fields: Any
) -> migrations.CreateModel:
    options = {"indexes": [*indexes], "constraints": [*constraints]}
    return migrations.CreateModel(name, list(fields.items()), options)


def numbered_table(name: str, /, **parts: Any) -> migrations.CreateModel:
    return table(name, id=models.BigAutoField(primary_key=True, serialize=False), **parts)


def log_table(name: str, /, **parts: Any) -> migrations.CreateModel:
    return numbered_table(name, assistant=assistant(), at=models.DateTimeField(), **parts)


def assistant() -> models.Field:
    return models.ForeignKey("scripts.scriptdb", CASCADE, related_name="+")


def reference(table: str, related_name: str = "+") -> models.Field:
    return models.ForeignKey(f"evennia_ai.{table}", SET_NULL, null=True, related_name=related_name)


def token() -> models.Field:
    return models.CharField(max_length=32, unique=True, default=new_token)


def sums() -> dict[str, models.Field]:
    names = "prompt_tokens completion_tokens cached_tokens money priced_tokens free_tokens"
    large = {name: models.PositiveBigIntegerField(default=0) for name in names.split()}
    return {"calls": models.PositiveIntegerField(default=0), **large}


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("objects", "0013_defaultobject_alter_objectdb_id_defaultcharacter_and_more"),
        ("scripts", "0016_scriptbase_alter_scriptdb_id_defaultscript_and_more"),
    ]

    operations = [
        log_table(
            "Turn",
            context=models.CharField(max_length=32),
            audience=models.JSONField(default=list),
            private=models.BooleanField(default=False),
            ended_at=models.DateTimeField(null=True),
            outcome=models.CharField(max_length=16, blank=True),
            detail=models.TextField(blank=True),
            mark=models.CharField(max_length=8, blank=True),
            comment=models.TextField(blank=True),
            marked_by=models.CharField(max_length=255, blank=True),
            indexes=[
                models.Index(fields=["assistant", "id"], name="ai_turn_of"),
                models.Index(fields=["ended_at", "assistant"], name="ai_turn_open"),
                models.Index(fields=["at"], name="ai_turn_at"),
            ],
        ),
        log_table(
            "Event",
            kind=models.CharField(max_length=16),
            speaker=models.CharField(max_length=24),
            speaker_name=models.CharField(max_length=255),
            text=models.TextField(),
            nature=models.CharField(max_length=12, default="claimed"),
            item=models.CharField(max_length=24, blank=True),
            audience=models.JSONField(default=list),
            authors=models.TextField(blank=True),
            private=models.BooleanField(default=False),
            repeatable=models.BooleanField(default=False),
            hops=models.PositiveSmallIntegerField(default=0),
            state=models.CharField(max_length=12),
            reason=models.TextField(blank=True),
            attempts=models.PositiveSmallIntegerField(default=0),
            turn=reference("turn", "events"),
            token=token(),
            indexes=[
                models.Index(fields=["state", "assistant", "at"], name="ai_event_state"),
                models.Index(fields=["speaker", "at", "assistant"], name="ai_event_speaker"),
                models.Index(fields=["speaker", "id"], name="ai_event_by"),
            ],
        ),
        log_table(
            "Message",
            role=models.CharField(max_length=12),
            content=models.TextField(blank=True),
            tool_calls=models.JSONField(default=list),
            tool_call_id=models.CharField(max_length=128, blank=True),
            speaker=models.CharField(max_length=24, blank=True),
            speaker_name=models.CharField(max_length=255, blank=True),
            nature=models.CharField(max_length=12, blank=True),
            audience=models.JSONField(default=list),
            authors=models.TextField(blank=True),
            private=models.BooleanField(default=False),
            tokens=models.PositiveIntegerField(default=0),
            event=reference("event"),
            turn=reference("turn"),
            consulted=models.JSONField(default=dict),
            indexes=[
                models.Index(fields=["assistant", "id"], name="ai_message_seq"),
                models.Index(fields=["speaker", "id"], name="ai_message_by"),
            ],
        ),
        table(
            "LineVector",
            message=models.OneToOneField(
                "evennia_ai.message",
                CASCADE,
                primary_key=True,
                serialize=False,
                related_name="vector",
            ),
            embedder=models.CharField(max_length=255),
            packed=models.BinaryField(),
        ),
        log_table(
            "Amendment",
            seq=models.BigIntegerField(),
            kind=models.CharField(max_length=12),
            text=models.TextField(blank=True),
            authors=models.TextField(blank=True),
            by=models.CharField(max_length=24),
            batch=models.BigIntegerField(),
            undone_at=models.DateTimeField(null=True),
            undone_by=models.CharField(max_length=24, blank=True),
            indexes=[
                models.Index(fields=["assistant", "undone_at", "id"], name="ai_amendment_of"),
                models.Index(fields=["seq"], name="ai_amendment_seq"),
            ],
        ),
        log_table(
            "ToolCall",
            turn=reference("turn", "tool_calls"),
            call_id=models.CharField(max_length=128),
            name=models.CharField(max_length=64),
            arguments=models.TextField(blank=True),
            world=models.BooleanField(default=False),
            state=models.CharField(max_length=12),
            result=models.TextField(blank=True),
            locks=models.TextField(blank=True, default=""),
            ended_at=models.DateTimeField(null=True),
            indexes=[models.Index(fields=["assistant", "id"], name="ai_toolcall_of")],
        ),
        log_table(
            "PendingAct",
            needs=models.CharField(max_length=8),
            state=models.CharField(max_length=12),
            name=models.CharField(max_length=64),
            arguments=models.TextField(),
            speakers=models.JSONField(default=list),
            authors=models.TextField(blank=True),
            audience=models.JSONField(default=list),
            private=models.BooleanField(default=False),
            expires_at=models.DateTimeField(),
            decided_by=models.CharField(max_length=24, blank=True),
            result=models.TextField(blank=True),
            indexes=[models.Index(fields=["state", "assistant", "id"], name="ai_pending_state")],
        ),
        log_table(
            "Compaction",
            reason=models.CharField(max_length=12),
            from_seq=models.BigIntegerField(),
            upto_seq=models.BigIntegerField(),
            prefix_hash=models.CharField(max_length=64, blank=True),
            summary=models.JSONField(default=dict),
            compacted_count=models.PositiveIntegerField(),
            original_token_count=models.PositiveIntegerField(),
            summary_token_count=models.PositiveIntegerField(),
            facts_found=models.PositiveIntegerField(default=0),
            facts_kept=models.PositiveIntegerField(default=0),
            facts_rescued=models.PositiveIntegerField(default=0),
            consulted=models.JSONField(default=dict),
            rung=models.CharField(max_length=16, blank=True),
            previous=reference("compaction"),
            cost=models.JSONField(default=dict),
            undone_at=models.DateTimeField(null=True),
            speakers=models.JSONField(default=dict),
            archived=models.BooleanField(default=False),
            sealed=models.BooleanField(default=False),
            indexes=[models.Index(fields=["assistant", "id"], name="ai_compaction_of")],
        ),
        log_table(
            "ModelCall",
            turn=reference("turn", "model_calls"),
            purpose=models.CharField(max_length=32),
            profile=models.CharField(max_length=64),
            model=models.CharField(max_length=255, blank=True),
            estimated_tokens=models.PositiveIntegerField(default=0),
            prompt_tokens=models.PositiveIntegerField(null=True),
            completion_tokens=models.PositiveIntegerField(null=True),
            cached_tokens=models.PositiveIntegerField(null=True),
            money=models.PositiveBigIntegerField(null=True),
            duration_ms=models.PositiveIntegerField(default=0),
            finish_reason=models.CharField(max_length=32, blank=True),
            error_kind=models.CharField(max_length=16, blank=True),
            error=models.TextField(blank=True),
            token=token(),
            indexes=[models.Index(fields=["assistant", "id"], name="ai_modelcall_of")],
        ),
        table(
            "CallRecord",
            assistant=assistant(),
            at=models.DateTimeField(),
            id=models.BigIntegerField(primary_key=True, serialize=False),
            digest=models.CharField(max_length=32),
            people=models.TextField(blank=True),
            packed=models.BinaryField(),
            indexes=[models.Index(fields=["assistant", "id"], name="ai_callrecord_of")],
        ),
        table(
            "PromptText",
            digest=models.CharField(primary_key=True, max_length=32, serialize=False),
            text=models.TextField(),
            used_on=models.DateField(),
        ),
        numbered_table(
            "DailyUse",
            day=models.DateField(),
            **sums(),
            assistant=assistant(),
            profile=models.CharField(max_length=64, blank=True, default=""),
            constraints=[
                models.UniqueConstraint(
                    fields=["day", "assistant", "profile"], name="ai_dailyuse_by_profile"
                )
            ],
        ),
        numbered_table(
            "SpeakerUse",
            day=models.DateField(),
            **sums(),
            speaker=models.CharField(max_length=24),
            tokens=models.PositiveBigIntegerField(default=0),
            indexes=[models.Index(fields=["speaker"], name="ai_speakeruse_by")],
            constraints=[
                models.UniqueConstraint(fields=["day", "speaker"], name="ai_speakeruse_once")
            ],
        ),
        log_table(
            "SleepPass",
            reason=models.CharField(max_length=12),
            ended_at=models.DateTimeField(null=True),
            outcome=models.CharField(max_length=12, blank=True),
            results=models.JSONField(default=dict),
            errors=models.JSONField(default=dict),
            cost=models.JSONField(default=dict),
            indexes=[models.Index(fields=["assistant", "id"], name="ai_sleeppass_of")],
        ),
        log_table(
            "SharedEntry",
            entry=models.CharField(max_length=80),
            scope=models.CharField(max_length=300),
            teller=models.CharField(max_length=24),
            text=models.TextField(),
            learnt_at=models.DateTimeField(),
            available_from=models.DateTimeField(),
            importance=models.PositiveSmallIntegerField(),
            trust=models.FloatField(),
            source=models.CharField(max_length=24, blank=True),
            speakers=models.JSONField(default=list),
            people=models.TextField(blank=True),
            indexes=[
                models.Index(fields=["scope", "-importance", "-id"], name="ai_shared_scope"),
                models.Index(fields=["teller", "entry"], name="ai_shared_entry"),
            ],
            constraints=[
                models.UniqueConstraint(
                    fields=["assistant", "entry", "scope"], name="ai_shared_once"
                )
            ],
        ),
        log_table(
            "Report",
            reporter=models.CharField(max_length=24),
            reporter_name=models.CharField(max_length=255),
            reason=models.TextField(),
            seqs=models.JSONField(default=list),
            closed_at=models.DateTimeField(null=True),
            closed_by=models.CharField(max_length=255, blank=True),
            indexes=[
                models.Index(fields=["closed_at", "id"], name="ai_report_open"),
                models.Index(fields=["reporter", "id"], name="ai_report_by"),
            ],
        ),
        numbered_table(
            "Lore",
            title=models.CharField(max_length=200, unique=True),
            text=models.TextField(),
            scopes=models.JSONField(default=list),
            authors=models.JSONField(default=list),
            keys=models.JSONField(default=list),
            always=models.BooleanField(default=False),
        ),
        numbered_table(
            "SharedPersona",
            name=models.CharField(max_length=64, unique=True),
            fields=models.JSONField(default=dict),
            authors=models.JSONField(default=list),
        ),
    ]

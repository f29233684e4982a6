"""The rows of the logs as JSON, as far as a reader may see them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rest_framework import fields, serializers

from evennia_ai import models
from evennia_ai.policy.disclosure import Reader
from evennia_ai.store.page_rows import Row
from evennia_ai.web import disclosed_rows as disclosed

Disclose = Callable[[Row, Reader], Row]


class RowSerializer(serializers.ModelSerializer):
    """One row, from a dictionary of its columns and ``owner``, the character's number."""

    character = fields.SerializerMethodField()
    disclose: Disclose

    def get_character(self, row: Row) -> str:
        """Return the dbref of the assistant's character, empty if that is deleted."""
        return f"#{row['owner']}" if row["owner"] else ""

    def to_representation(self, row: Row) -> Any:
        """Return the row as JSON, without what the reader may not see."""
        return super().to_representation(self.disclose(row, self.context["view"].reader))


def rows_of(model: Any, columns: str, disclose: Disclose, **declared: Any) -> type[RowSerializer]:
    """Return the serializer of a table's rows with these columns, and fields of other names."""
    names = ["id", "character", "at", *columns.split()]
    if "turn" in names:
        declared["turn"] = fields.IntegerField(source="turn_id", allow_null=True)
    meta = type("Meta", (), {"model": model, "fields": names})
    members = {**declared, "Meta": meta, "disclose": staticmethod(disclose)}
    return type(
        f"{model.__name__}Serializer", (RowSerializer,), {**members, "__doc__": model.__doc__}
    )


TURNS = rows_of(models.Turn, "ended_at context private audience outcome detail", disclosed.turn_row)
MESSAGES = rows_of(
    models.Message,
    "turn role speaker speaker_name private audience content tool_calls tool_call_id nature tokens",
    disclosed.message_row,
)
MODEL_CALLS = rows_of(
    models.ModelCall,
    "turn purpose profile model estimated_tokens prompt_tokens completion_tokens cached_tokens "
    "duration_ms finish_reason error_kind error",
    disclosed.model_call_row,
)
TOOL_CALLS = rows_of(
    models.ToolCall,
    "turn call_id name world private state ended_at arguments result",
    disclosed.tool_call_row,
    private=fields.BooleanField(),
)
COMPACTIONS = rows_of(
    models.Compaction,
    "reason rung from_seq upto_seq compacted_count original_token_count summary_token_count "
    "facts_found facts_kept facts_rescued cost undone_at summary",
    disclosed.compaction_row,
)
SLEEP_PASSES = rows_of(
    models.SleepPass, "ended_at reason outcome results errors cost", disclosed.sleep_pass_row
)


class CharacterSerializer(serializers.Serializer):
    """A character with an assistant: what it does, and its figures of today, in UTC."""

    id = fields.IntegerField()
    character = fields.CharField()
    name = fields.CharField()
    mode = fields.ChoiceField(["awake", "asleep", "thinking", "puppeted", "stopped"])
    events_waiting = fields.IntegerField()
    calls_today = fields.IntegerField()
    tokens_today = fields.IntegerField()
    last_prompt_tokens = fields.IntegerField()

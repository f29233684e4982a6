"""The rows of the logs as JSON, as far as a reader may see them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rest_framework import fields, serializers

from evennia_ai import models
from evennia_ai.policy.context.projection import PUBLIC
from evennia_ai.policy.disclosure import ERRORS, Reader, words_kind
from evennia_ai.policy.sanitize import clean_heard

MOST_CHARS = 20_000
Row = dict[str, Any]
Hide = Callable[[Row, Reader], None]


class RowSerializer(serializers.ModelSerializer):
    """One row, from a dictionary of its columns and ``owner``, the character's number."""

    character = fields.SerializerMethodField()
    hide: Hide  # replaces what the reader may not see, and cleans the rest

    def get_character(self, row: Row) -> str:
        """Return the dbref of the assistant's character, empty if that is deleted."""
        return f"#{row['owner']}" if row["owner"] else ""

    def to_representation(self, row: Row) -> Any:
        """Return the row as JSON, without what the reader may not see."""
        row = dict(row)
        self.hide(row, self.context["view"].reader)
        return super().to_representation(row)


def rows_of(model: Any, columns: str, hide: Hide, **declared: Any) -> type[RowSerializer]:
    """Return the serializer of a table's rows with these columns, and fields of other names."""
    names = ["id", "character", "at", *columns.split()]
    if "turn" in names:
        declared["turn"] = fields.IntegerField(source="turn_id", allow_null=True)
    meta = type("Meta", (), {"model": model, "fields": names})
    members = {**declared, "Meta": meta, "hide": staticmethod(hide), "__doc__": model.__doc__}
    return type(f"{model.__name__}Serializer", (RowSerializer,), members)


def clean(text: str) -> str:
    """Return stored words as a person sees them, without anything hidden, line by line."""
    return "\n".join(clean_heard(line, MOST_CHARS) for line in text.splitlines())


def hide_error(column: str, row: Row, reader: Reader) -> None:
    """Hide the text of an error, if there is one."""
    if row[column]:
        row[column] = reader.show(ERRORS, clean(row[column]), "error")


def hide_turn(row: Row, reader: Reader) -> None:
    """Hide an error, and who was spoken to in private."""
    if not reader.may(words_kind(row["private"])):
        row["audience"] = None
    hide_error("detail", row, reader)


def hide_message(row: Row, reader: Reader) -> None:
    """Hide a whisper, its speaker and its audience."""
    kind = words_kind(row["private"])
    what = "whisper" if row["private"] else "words"
    row["content"] = reader.show(kind, clean(row["content"]), what)
    if not reader.may(kind):
        row.update(audience=None, tool_calls=None, speaker="", speaker_name="")
        return
    row["speaker_name"] = clean(row["speaker_name"])
    calls = [call["function"] for call in row["tool_calls"]]
    row["tool_calls"] = [{key: clean(str(call[key])) for key in call} for call in calls]


def hide_tool_call(row: Row, reader: Reader) -> None:
    """Hide a private call's arguments and result; only the log of messages tells public ones."""
    row["private"] = bool(row["in_private"] or not row["is_public"])
    kind = words_kind(row["private"])
    row["name"] = clean(row["name"])
    for column in ("arguments", "result"):
        shown = clean(row[column]) if reader.may(kind) else reader.show(kind, "", "words")
        row[column] = shown
    if reader.may(kind):
        reader.count(kind)


def hide_compaction(row: Row, reader: Reader) -> None:
    """Hide the private parts of the summary, and for whom they are."""
    row["summary"] = [part(key, words, reader) for key, words in row["summary"].items()]


def part(key: str, words: str, reader: Reader) -> Row:
    """Return a summary's part for one audience, None for a hidden one."""
    kind = words_kind(key != PUBLIC)
    heard_by = key.split(",") if reader.may(kind) else None
    return {"audience": heard_by, "text": reader.show(kind, clean(words), "summary")}


def hide_sleep_pass(row: Row, reader: Reader) -> None:
    """Hide errors, which may quote somebody."""
    row["errors"] = {
        step: reader.show(ERRORS, clean(str(error)), "error")
        for step, error in row["errors"].items()
    }


TURNS = rows_of(models.Turn, "ended_at context private audience outcome detail", hide_turn)
MESSAGES = rows_of(
    models.Message,
    "turn role speaker speaker_name private audience content tool_calls tool_call_id nature tokens",
    hide_message,
)
MODEL_CALLS = rows_of(
    models.ModelCall,
    "turn purpose profile model estimated_tokens prompt_tokens completion_tokens cached_tokens "
    "duration_ms finish_reason error_kind error",
    lambda row, reader: hide_error("error", row, reader),
)
TOOL_CALLS = rows_of(
    models.ToolCall,
    "turn call_id name world private state ended_at arguments result",
    hide_tool_call,
    private=fields.BooleanField(),
)
COMPACTIONS = rows_of(
    models.Compaction,
    "reason rung from_seq upto_seq compacted_count original_token_count summary_token_count "
    "facts_found facts_kept facts_rescued cost undone_at summary",
    hide_compaction,
)
SLEEP_PASSES = rows_of(
    models.SleepPass, "ended_at reason outcome results errors cost", hide_sleep_pass
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

"""The rows of the logs as JSON, as far as a reader may see them."""

from __future__ import annotations

from typing import Any

from rest_framework import fields, serializers

from evennia_ai import models
from evennia_ai.policy.context.projection import PUBLIC
from evennia_ai.policy.disclosure import ERRORS, Reader, words_kind
from evennia_ai.policy.sanitize import clean_heard

MOST_CHARS = 20_000
OF_EACH = ["id", "character", "at"]


def clean(text: str) -> str:
    """Return stored words as a person sees them, without anything hidden, line by line."""
    return "\n".join(clean_heard(line, MOST_CHARS) for line in text.splitlines())


class RowSerializer(serializers.ModelSerializer):
    """One row, from a dictionary of its columns and ``owner``, the character's number."""

    character = fields.SerializerMethodField()

    def get_character(self, row: dict[str, Any]) -> str:
        """Return the dbref of the assistant's character, empty if that is deleted."""
        return f"#{row['owner']}" if row["owner"] else ""

    def to_representation(self, row: dict[str, Any]) -> Any:
        """Return the row as JSON, without what the reader may not see."""
        row = dict(row)
        self.hide(row, self.context["view"].reader)
        return super().to_representation(row)

    def hide(self, row: dict[str, Any], reader: Reader) -> None:
        """Replace what the reader may not see, and clean the rest."""


class OfTurn(RowSerializer):
    """A row of a turn."""

    turn = fields.IntegerField(source="turn_id", allow_null=True)


class TurnSerializer(RowSerializer):
    """A turn."""

    class Meta:
        model = models.Turn
        fields = [*OF_EACH, "ended_at", "context", "private", "audience", "outcome", "detail"]

    def hide(self, row: dict[str, Any], reader: Reader) -> None:
        """Hide an error, and who was spoken to in private."""
        if not reader.may(words_kind(row["private"])):
            row["audience"] = None
        hide_error(row, "detail", reader)


class MessageSerializer(OfTurn):
    """A message of a conversation."""

    class Meta:
        model = models.Message
        fields = [
            *OF_EACH, "turn", "role", "speaker", "speaker_name", "private", "audience", "content",
            "tool_calls", "tool_call_id", "nature", "tokens",
        ]  # fmt: skip

    def hide(self, row: dict[str, Any], reader: Reader) -> None:
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


class ModelCallSerializer(OfTurn):
    """A model call."""

    class Meta:
        model = models.ModelCall
        fields = [
            *OF_EACH, "turn", "purpose", "profile", "model", "estimated_tokens", "prompt_tokens",
            "completion_tokens", "cached_tokens", "duration_ms", "finish_reason", "error_kind",
            "error",
        ]  # fmt: skip

    def hide(self, row: dict[str, Any], reader: Reader) -> None:
        """Hide an error."""
        hide_error(row, "error", reader)


class ToolCallSerializer(OfTurn):
    """A tool call; only the log of messages says that one is public."""

    private = fields.BooleanField()

    class Meta:
        model = models.ToolCall
        fields = [
            *OF_EACH, "turn", "call_id", "name", "world", "private", "state", "ended_at",
            "arguments", "result",
        ]  # fmt: skip

    def hide(self, row: dict[str, Any], reader: Reader) -> None:
        """Hide the arguments and the result of a private call."""
        row["private"] = bool(row["in_private"] or not row["is_public"])
        kind = words_kind(row["private"])
        row["name"] = clean(row["name"])
        for column in ("arguments", "result") if reader.may(kind) else ():
            row[column] = clean(row[column])
        if not reader.may(kind):
            row["arguments"] = row["result"] = reader.show(kind, "", "words")
        reader.count(kind)


class CompactionSerializer(RowSerializer):
    """A compaction, with its summary for each audience."""

    class Meta:
        model = models.Compaction
        fields = [
            *OF_EACH, "reason", "rung", "from_seq", "upto_seq", "compacted_count",
            "original_token_count", "summary_token_count", "facts_found", "facts_kept",
            "facts_rescued", "cost", "undone_at", "summary",
        ]  # fmt: skip

    def hide(self, row: dict[str, Any], reader: Reader) -> None:
        """Hide the private parts of the summary, and for whom they are."""
        row["summary"] = [part(key, words, reader) for key, words in row["summary"].items()]


def part(key: str, words: str, reader: Reader) -> dict[str, Any]:
    """Return a summary's part for one audience; None stands for a hidden one."""
    kind = words_kind(key != PUBLIC)
    heard_by = key.split(",") if reader.may(kind) else None
    return {"audience": heard_by, "text": reader.show(kind, clean(words), "summary")}


class SleepPassSerializer(RowSerializer):
    """A sleep pass."""

    class Meta:
        model = models.SleepPass
        fields = [*OF_EACH, "ended_at", "reason", "outcome", "results", "errors", "cost"]

    def hide(self, row: dict[str, Any], reader: Reader) -> None:
        """Hide errors, which may quote somebody."""
        errors = {step: clean(str(error)) for step, error in row["errors"].items()}
        row["errors"] = {
            step: reader.show(ERRORS, error, "error") for step, error in errors.items()
        }


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


def hide_error(row: dict[str, Any], column: str, reader: Reader) -> None:
    """Hide the text of an error, if there is one."""
    if row[column]:
        row[column] = reader.show(ERRORS, clean(row[column]), "error")

"""The rows of the logs as far as a reader may see them, for REST and the staff pages alike.

Each function takes a row as a dictionary, and returns it without what the reader may not see and
with the rest cleaned.
"""

from __future__ import annotations

from evennia_ai.policy.context.projection import PUBLIC
from evennia_ai.policy.disclosure import ERRORS, Reader, words_kind
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.store.page_rows import Row

MOST_CHARS = 20_000


def clean(text: str) -> str:
    """Return stored words as a person sees them, without anything hidden, line by line."""
    return "\n".join(clean_heard(line, MOST_CHARS) for line in text.splitlines())


def error_text(text: str, reader: Reader) -> str:
    """Return the text of an error, which may quote somebody; empty if there is none."""
    return reader.show(ERRORS, clean(text), "error") if text else ""


def turn_row(row: Row, reader: Reader) -> Row:
    """Return a turn without its error, and without who was spoken to in private."""
    audience = row["audience"] if reader.may(words_kind(row["private"])) else None
    return {**row, "audience": audience, "detail": error_text(row["detail"], reader)}


def model_call_row(row: Row, reader: Reader) -> Row:
    """Return a model call without its error."""
    return {**row, "error": error_text(row["error"], reader)}


def message_row(row: Row, reader: Reader) -> Row:
    """Return a message; of a whisper neither words nor speaker nor audience."""
    kind, what = words_kind(row["private"]), "whisper" if row["private"] else "words"
    row = {**row, "content": reader.show(kind, clean(row["content"]), what)}
    if not reader.may(kind):
        return {**row, "audience": None, "tool_calls": None, "speaker": "", "speaker_name": ""}
    calls = [call["function"] for call in row["tool_calls"]]
    return {
        **row,
        "speaker_name": clean(row["speaker_name"]),
        "tool_calls": [{key: clean(str(call[key])) for key in call} for call in calls],
    }


def tool_call_row(row: Row, reader: Reader) -> Row:
    """Return a tool call; of a private one neither arguments nor result."""
    kind = words_kind(row["private"])
    if reader.may(kind):
        reader.count(kind)
        shown = {column: clean(row[column]) for column in ("arguments", "result")}
    else:
        shown = dict.fromkeys(("arguments", "result"), reader.show(kind, "", "words"))
    return {**row, "name": clean(row["name"]), **shown}


def compaction_row(row: Row, reader: Reader) -> Row:
    """Return a compaction; of its summary only the texts and audiences that are not private."""

    def part(key: str, words: str) -> Row:
        kind = words_kind(key != PUBLIC)
        audience = key.split(",") if reader.may(kind) else None
        return {"audience": audience, "text": reader.show(kind, clean(words), "summary")}

    return {**row, "summary": [part(key, words) for key, words in row["summary"].items()]}


def sleep_pass_row(row: Row, reader: Reader) -> Row:
    """Return a sleep pass without its errors."""
    errors = {step: error_text(str(error), reader) for step, error in row["errors"].items()}
    return {**row, "errors": errors}

"""What an account may read on the web, for the staff pages and for REST alike.

Rights come from the tables, by account, since a web thread must not use Evennia's lock handlers. A
quelled account keeps its rights here. Each ``…_row`` function takes a row as a dictionary, and
returns it without what the reader may not see and with the rest cleaned.
"""

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

from django.conf import settings
from evennia.accounts.models import AccountDB

from evennia_ai.policy.context.projection import PUBLIC
from evennia_ai.policy.disclosure import ERRORS, Reader, words_kind
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.store.page_rows import Row

MOST_CHARS = 20_000


def reader_of(account: int, services: Any) -> Reader:
    """Return an account as a reader of stored words. One query."""
    rows = AccountDB.objects.filter(id=account, is_active=True).values_list(
        "is_superuser", "db_tags__db_tagtype", "db_tags__db_key"
    )
    found = list(rows)
    if any(row[0] for row in found):
        return Reader(services.who_may_read, lambda _: True)
    held = frozenset(key.lower() for _, kind, key in found if kind == "permission")
    hierarchy = [name.lower() for name in settings.PERMISSION_HIERARCHY]
    return Reader(services.who_may_read, partial(_holds, held, hierarchy))


def _holds(held: Collection[str], hierarchy: Sequence[str], wanted: str) -> bool:
    """Return True if some permissions include one, or one above it in the game's hierarchy."""
    known = {_singular(name, hierarchy) for name in held}
    name = _singular(wanted.lower(), hierarchy)
    enough = hierarchy[hierarchy.index(name) :] if name in hierarchy else [name]
    return not known.isdisjoint(enough)


def _singular(name: str, hierarchy: Sequence[str]) -> str:
    """Return a permission without the plural that Evennia also understands."""
    return name[:-1] if name not in hierarchy and name[:-1] in hierarchy else name


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
    errors = {step: error_text(str(error), reader) for step, error in row["errors"].items()}
    return {**row, "errors": errors}

"""Conversion between rows and plain data, deletion of rows, and the search for damaged ones."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from datetime import datetime
from itertools import count
from typing import Any

from django.apps import apps
from django.db import connection, transaction
from django.db.models import Max
from django.dispatch import Signal

from evennia_ai import models
from evennia_ai.messages import (
    EXCUSE,
    ChatMessage,
    InboxEvent,
    IncomingEvent,
    is_excuse,
    make_message,
)
from evennia_ai.models.fields import RepairingField, damage
from evennia_ai.policy.records.record import people_field
from evennia_ai.policy.sanitize import one_line
from evennia_ai.policy.tokens import stored_tokens
from evennia_ai.policy.tool_call_modes.wire_order import count_stored
from evennia_ai.store.transactions import brief_transaction, store_errors

# The fields that an event and its row have in common.
OTHER = ("audience", "addressed", "authors", "token")
COPIED = tuple(item.name for item in fields(IncomingEvent) if item.name not in OTHER)

PAGE = 100  # texts a step: 10 ms (measured)
WINDOW = 5_000  # ids a step, whether or not their rows are wanted: SQLite reads each

# Sent after rows of a table were deleted: the sender is its model, ``ids`` are theirs.
rows_deleted = Signal()


def insert_rows(rows: Sequence[Any], *once_by: str) -> list[Any]:
    """Insert rows of one table in one query; returns them with their ids.

    If a row with the same value in the unique column ``once_by`` exists, that one is returned: it
    was stored by an earlier try whose commit nobody heard of.
    """
    upsert = {"update_conflicts": True, "unique_fields": once_by, "update_fields": once_by}
    if rows and connection.features.can_return_rows_from_bulk_insert:
        type(rows[0]).objects.bulk_create(rows, **(upsert if once_by else {}))
        return list(rows)
    for row in rows:  # MySQL
        stored = type(row).objects.filter(**{name: getattr(row, name) for name in once_by})
        row.pk = stored.values_list("pk", flat=True).first() if once_by else None
        if row.pk is None:
            row.save(force_insert=True)
    return list(rows)


def delete_rows(model: Any, ids: Sequence[int]) -> None:
    """Delete the rows of a table that have these ids; messages with what belongs to them.

    Messages that stay refer to no deleted event any more.

    ``_raw_delete``, since Evennia's signal receivers turn Django's fast deletes off: 100,000 rows
    held the reactor for 1.84 s, a chunk of 500 for 5 ms (measured).
    """
    rows = model.objects.filter(pk__in=ids)
    with transaction.atomic():
        if model is models.Message:
            raw_delete(models.LineVector.objects.filter(message_id__in=ids))
            raw_delete(models.Amendment.objects.filter(seq__in=ids))
        elif model is models.Event:
            models.Message.objects.filter(event_id__in=ids).update(event=None)
        raw_delete(rows)
    rows_deleted.send_robust(model, ids=tuple(ids))


def withdraw(teller: str, entries: Sequence[str]) -> None:
    """Delete the copies that others have of some entries of a character; 0.2 ms (measured)."""
    copies = models.SharedEntry.objects.filter(teller=teller, entry__in=entries)
    if ids := list(copies.values_list("id", flat=True)):
        delete_rows(models.SharedEntry, ids)


def add_reason(events: Iterable[int], why: str) -> None:
    """Add a reason to events, once; raises StoreUnavailable."""
    with brief_transaction():
        for event in models.Event.objects.filter(id__in=list(events)).exclude(reason__contains=why):
            event.reason = f"{event.reason}; {why}" if event.reason else why
            event.save(update_fields=["reason"])


def rows_of(model: Any, assistant: int | None) -> Any:
    return model.objects.all() if assistant is None else model.objects.filter(assistant=assistant)


def raw_delete(rows: Any) -> None:
    """Delete the rows of a queryset without signals and without what refers to them."""
    rows._raw_delete(rows.db)


def pages(rows: Any, *fields: str) -> Iterator[list[Any]]:
    """Yield rows in pages by ascending id, as named tuples of the id and some fields.

    A page may be empty: a step looks at no more than `WINDOW` ids, however few rows are wanted.
    """
    last, by_id = 0, rows.order_by("id").values_list("id", *fields, named=True)
    while last < (rows.model.objects.aggregate(id=Max("id"))["id"] or 0):
        page = list(by_id.filter(id__gt=last, id__lte=last + WINDOW)[:PAGE])
        yield page
        last = page[-1].id if len(page) == PAGE else last + WINDOW


def chunks(ids: Iterable[int]) -> Iterator[list[int]]:
    """Yield some ids in lists for one transaction each, newest first."""
    left = sorted(ids, reverse=True)
    for start in range(0, len(left), PAGE):
        yield left[start : start + PAGE]


def event_from_row(row: models.Event) -> InboxEvent:
    """Return an inbox row as plain data for a prompt."""
    copied: dict[str, Any] = {name: getattr(row, name) for name in COPIED}
    copied["text"] = one_line(row.text)  # the row holds it as it was said
    audience = frozenset(row.audience or [row.speaker])  # else it would wait for nobody's return
    addressed = row.state != "overheard"
    authors = frozenset(row.authors.split())
    incoming = IncomingEvent(audience=audience, addressed=addressed, authors=authors, **copied)
    return InboxEvent(row.id, row.at, incoming, row.attempts)


def message_to_row(
    assistant_id: int,
    message: ChatMessage,
    at: datetime,
    count: Callable[[ChatMessage], int] = count_stored,
) -> models.Message:
    """Return a message as an unsaved row; counts its tokens. ``at`` is for one without a time."""
    meta = message["metadata"]
    return models.Message(
        assistant_id=assistant_id,
        at=datetime.fromisoformat(meta["at"]) if "at" in meta else at,
        role=EXCUSE if is_excuse(message) else message["role"],
        content=message["content"],
        tool_calls=message.get("tool_calls", []),
        tool_call_id=message.get("tool_call_id", ""),
        speaker=meta.get("speaker", ""),
        speaker_name=meta.get("speaker_name", ""),
        evidence=meta.get("evidence", ""),
        audience=meta.get("audience", []),
        authors=people_field(meta["authors"]) if meta.get("authors") else "",
        private=bool(meta.get("private")),
        tokens=stored_tokens(message, count),
        event_id=meta.get("event_id"),
        turn_id=meta.get("turn_id"),
        consulted=meta.get("consulted", {}),
    )


def message_from_row(row: models.Message) -> ChatMessage:
    """Return a stored message as plain data."""
    meta: dict[str, Any] = {
        "seq": row.id,
        "at": row.at.isoformat(),
        "speaker": row.speaker,
        "speaker_name": row.speaker_name,
        "evidence": row.evidence,
        "audience": list(row.audience),
        "private": row.private,
        "tokens": row.tokens,
        "event_id": row.event_id,
        "turn_id": row.turn_id,
    }
    askers = getattr(row, "turn_askers", None)  # read with some rows only
    if askers is not None and row.role == "user" and row.speaker not in askers.split():
        meta["overheard"] = True
    if row.authors:
        meta["authors"] = row.authors.split()
    if row.consulted:
        meta["consulted"] = row.consulted
    role = row.role
    if role == EXCUSE:
        role, meta["type"] = "assistant", EXCUSE
    return make_message(
        role, row.content, tool_calls=row.tool_calls, tool_call_id=row.tool_call_id, **meta
    )


def look_for_damage() -> Iterator[int]:
    """Note each damaged column, so that reading mends it from then on.

    SQLite takes whatever another program, or a failing disk, writes into a column. Yields the
    number of known columns after each `WINDOW` of rows. Raises StoreUnavailable.
    """
    if connection.vendor != "sqlite":
        return
    with store_errors():
        for table in apps.get_app_config("evennia_ai").get_models():
            columns = [
                field for field in table._meta.concrete_fields if isinstance(field, RepairingField)
            ]
            if columns:
                yield from _look_for_damage_in(table._meta.db_table, columns)


def _look_for_damage_in(table: str, columns: Sequence[Any]) -> Iterator[int]:
    misfits = ", ".join(f"max({_misfit(field)})" for field in columns)
    for start in count(step=WINDOW):
        # Only the names of our own tables and columns are put in.
        newest = f'(SELECT max(rowid) FROM "{table}")'  # noqa: S608
        rows = f'FROM "{table}" WHERE rowid > {start} AND rowid <= {start + WINDOW}'
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {misfits}, {newest} {rows}")
            *damaged, last = cursor.fetchone()
        for field, is_damaged in zip(columns, damaged, strict=True):
            if is_damaged:
                field.note_damage()
        if start + WINDOW >= (last or 0):
            return
        yield len(damage)


def _misfit(field: Any) -> str:
    column = f'"{field.column}"'
    misfit = field.misfit_sql(column)
    return f"{column} IS NOT NULL AND {misfit}" if field.null else misfit

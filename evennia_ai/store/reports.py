"""What admins read: plain rows, newest first, a page at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max

from evennia_ai import models
from evennia_ai.policy.compaction.digest import prefix_hash
from evennia_ai.store.inbox import CLAIMED, DOUBTFUL, WAITING


@dataclass(frozen=True)
class Page:
    """One page of rows, oldest first within it; page 1 is the newest."""

    number: int
    pages: int
    rows: list[Any]


def paged(rows: Any, number: int, size: int) -> Page:
    """Cut a newest-first queryset into pages; a number beyond the last gives the last."""
    pages = max(1, -(-rows.count() // size))
    number = min(max(1, number), pages)
    start = (number - 1) * size
    return Page(number, pages, list(rows[start : start + size])[::-1])


def message_page(assistant_id: int, number: int, size: int) -> Page:
    """Messages as dicts."""
    rows = models.Message.objects.filter(assistant_id=assistant_id).order_by("-id")
    return paged(rows.values(), number, size)


def messages_by_seq(assistant_id: int, seqs: Iterable[int], most: int) -> list[dict[str, Any]]:
    """The messages of some numbers as dicts, oldest first; of many, the first."""
    rows = models.Message.objects.filter(assistant_id=assistant_id, id__in=sorted(seqs)[:most])
    return list(rows.order_by("id").values())


def turns_of_messages(assistant_id: int, seqs: Iterable[int]) -> dict[int, int | None]:
    """The turn of each message by its number; what is gone is missing."""
    rows = models.Message.objects.filter(assistant_id=assistant_id, id__in=list(seqs))
    return dict(rows.values_list("id", "turn_id"))


def turn_page(assistant_id: int, number: int, size: int) -> Page:
    """Turns with everything that belongs to each: events, model calls, acts."""
    rows = models.Turn.objects.filter(assistant_id=assistant_id).order_by("-id")
    return paged(rows.prefetch_related("events", "model_calls", "tool_calls"), number, size)


def compaction_page(assistant_id: int, number: int, size: int) -> Page:
    """Compactions as dicts, undone ones too; masks are told as such."""
    rows = models.Compaction.objects.filter(assistant_id=assistant_id).order_by("-id")
    return paged(rows.values(), number, size)


def find_compaction(assistant_id: int, number: int) -> dict[str, Any] | None:
    """One compaction of an assistant."""
    rows = models.Compaction.objects.filter(assistant_id=assistant_id, id=number)
    return rows.values().first()


def is_log_unchanged(compaction: Mapping[str, Any]) -> bool | None:
    """True where the messages that a compaction summed up are all there as they were; None where
    it has no fingerprint of them."""
    if not compaction["prefix_hash"]:
        return None
    rows = models.Message.objects.filter(
        assistant_id=compaction["assistant_id"],
        id__gte=compaction["from_seq"],
        id__lte=compaction["upto_seq"],
    )
    found = rows.order_by("id").values_list("id", "role", "content")
    return prefix_hash(found) == str(compaction["prefix_hash"])


def waiting_events(assistant_id: int) -> list[dict[str, Any]]:
    """What was heard and has no answer yet."""
    rows = models.Event.objects.filter(assistant_id=assistant_id, state__in=(WAITING, DOUBTFUL))
    return list(rows.order_by("id").values())


def queue_lengths() -> dict[int, int]:
    """Events without an answer, by assistant id."""
    rows = models.Event.objects.filter(state__in=(WAITING, CLAIMED, DOUBTFUL))
    return dict(rows.values_list("assistant_id").annotate(Count("id")))


def _newest_calls() -> Any:
    newest = models.ModelCall.objects.values("assistant_id").annotate(newest=Max("id"))
    return models.ModelCall.objects.filter(id__in=[row["newest"] for row in newest])


def last_prompt_tokens() -> dict[int, int]:
    """The size of each assistant's last prompt: as reported, else as estimated."""
    rows = _newest_calls().values_list("assistant_id", "prompt_tokens", "estimated_tokens")
    return {row[0]: row[2] if row[1] is None else row[1] for row in rows}


def last_error() -> dict[int, str]:
    """The error of each assistant's last model call, where that failed."""
    rows = _newest_calls().exclude(error="").values_list("assistant_id", "error")
    return dict(rows)


def seconds_between(start: datetime, end: datetime | None) -> float:
    """Seconds from one time to another, 0 while there is no end."""
    return (end - start).total_seconds() if end else 0.0

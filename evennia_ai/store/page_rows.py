"""Rows of the tables for web pages, as plain data: a web thread may call all of these."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from statistics import median
from typing import Any

from django.db.models import Exists, OuterRef, Q

from evennia_ai import models
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.store.names import plain_name
from evennia_ai.store.reports import having, rows_of
from evennia_ai.store.search import rows_with
from evennia_ai.store.usage import DAY, Use, uses_by

RECENT_CALLS, NAME_CHARS, CHART_DAYS = 1_000, 60, 30
# A tool call is private unless the log of messages tells that it is public.
PUBLIC_RESULT = models.Message.objects.filter(
    turn_id=OuterRef("turn_id"), tool_call_id=OuterRef("call_id"), role="tool", private=False
)
PRIVATE_CALL = Q(turn__private=True) | ~Exists(PUBLIC_RESULT)
Row = dict[str, Any]


def assistant_rows(assistant: int | None = None) -> list[Row]:
    """Return all assistants by name, or the one with an id: id, name, dbref and place."""
    rows = having() if assistant is None else having().filter(id=assistant)
    columns = ("id", "db_obj_id", "db_obj__db_key", "db_obj__db_location__db_key")
    found = rows.order_by("db_obj__db_key", "id").values_list(*columns)
    return [
        {
            "id": id_,
            "dbref": f"#{number}",
            "name": clean_heard(plain_name(name) or f"#{number}", NAME_CHARS),
            "place": clean_heard(plain_name(place or "nowhere"), NAME_CHARS),
        }
        for id_, number, name, place in found
    ]


def turns_wanted(
    assistant: int, with_private: bool, day: date | None, speakers: Sequence[str], words: str
) -> Any:
    """Return the turns of one assistant, as a queryset; an empty day, speakers or words select all.

    Without ``with_private``, private words decide nothing: a reader who may not see them must not
    find out by a filter who whispered what.
    """
    rows = rows_of(models.Turn, assistant)
    if day:
        ends = (datetime.combine(day, end, UTC) for end in (time.min, time.max))
        rows = rows.filter(at__range=tuple(ends))
    shown = {} if with_private else {"private": False}
    events = rows_of(models.Event, assistant).filter(turn__isnull=False, **shown)
    if speakers:
        rows = rows.filter(id__in=events.filter(speaker__in=speakers).values("turn_id"))
    if words:
        lines = rows_of(models.Message, assistant).filter(turn__isnull=False, **shown)
        said = rows_with(lines.exclude(role="tool"), words, "content", "tool_calls")
        heard = rows_with(events, words, "text")
        rows = rows.filter(Q(id__in=said.values("turn_id")) | Q(id__in=heard.values("turn_id")))
    return rows


def with_parts(turns: list[Row]) -> list[Row]:
    """Return turns with the rows of their events, model calls and tool calls. Three queries."""
    by_id: dict[int, Row] = {
        turn["id"]: {**turn, "events": [], "model_calls": [], "tool_calls": []} for turn in turns
    }
    tool_calls = models.ToolCall.objects.annotate(private=PRIVATE_CALL)
    parts = {"events": models.Event.objects, "model_calls": models.ModelCall.objects}
    for name, rows in {**parts, "tool_calls": tool_calls}.items():
        for row in rows.filter(turn_id__in=list(by_id)).order_by("id").values():
            by_id[row["turn_id"]][name].append(row)
    return list(by_id.values())


def lines_after(assistant: int, seq: int, most: int) -> list[Row]:
    """Return the newest messages after a number, oldest first. One query by an index."""
    rows = rows_of(models.Message, assistant).filter(id__gt=seq)
    return list(rows.order_by("-id").values()[:most])[::-1]


def use_by_day(today: date, **of: int) -> list[Row]:
    """Return turns, calls and tokens of each of the last `CHART_DAYS`, oldest first, by UTC days.

    They are those of all assistants, or of ``assistant_id``. A query for each day.
    """
    days = [today - timedelta(days=ago) for ago in reversed(range(CHART_DAYS))]
    uses, turns = uses_by(days[0], today, DAY, **of), models.Turn.objects.filter(**of)
    found = []
    for day in days:
        at, use = datetime.combine(day, time.min, UTC), uses.get((day,), Use())
        number = turns.filter(at__gte=at, at__lt=at + timedelta(days=1)).count()
        row = {"day": day.isoformat(), "turns": number, "calls": use.calls, "tokens": use.tokens}
        found.append(row)
    return found


def latencies() -> dict[int, int]:
    """Return the median milliseconds of the game's last model calls, by the assistant's id."""
    rows = models.ModelCall.objects.filter(error="").order_by("-id")
    found: defaultdict[int, list[int]] = defaultdict(list)
    for assistant, duration in rows.values_list("assistant_id", "duration_ms")[:RECENT_CALLS]:
        found[assistant].append(duration)
    return {assistant: round(median(times)) for assistant, times in found.items()}

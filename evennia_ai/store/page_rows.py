"""Rows of the tables for web pages, as plain data: a web thread may call all of these."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from statistics import median
from typing import Any

from django.db.models import Q
from evennia.scripts.models import ScriptDB

from evennia_ai import models
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.store.attributes import SCRIPT_KEY
from evennia_ai.store.reports import public_calls_of, rows_of
from evennia_ai.store.search import rows_with
from evennia_ai.store.usage import DAY, Use, uses_by

RECENT_CALLS, NAME_CHARS, CHART_DAYS = 1_000, 60, 30
Row = dict[str, Any]


@dataclass(frozen=True)
class TurnFilter:
    """Which turns are wanted; an empty field selects all.

    Without ``with_private``, private words decide nothing: a reader who may not see them must not
    find out by a filter who whispered what.
    """

    with_private: bool
    day: date | None = None
    speakers: Sequence[str] = ()
    words: str = ""


@dataclass(frozen=True)
class TurnParts:
    """What belongs to some turns, by the turn's id; the tool calls known to be public as a set."""

    events: Mapping[int, list[Row]]
    model_calls: Mapping[int, list[Row]]
    tool_calls: Mapping[int, list[Row]]
    public_calls: frozenset[tuple[int, str]]


def assistant_rows(assistant: int | None = None) -> list[Row]:
    """Return all assistants by name, or the one with an id: id, name, dbref and place."""
    rows = ScriptDB.objects.filter(db_key=SCRIPT_KEY).exclude(db_obj=None)
    if assistant is not None:
        rows = rows.filter(id=assistant)
    columns = ("id", "db_obj_id", "db_obj__db_key", "db_obj__db_location__db_key")
    found = rows.order_by("db_obj__db_key", "id").values_list(*columns)
    return [
        {
            "id": id_,
            "dbref": f"#{number}",
            "name": clean_heard(name, NAME_CHARS),
            "place": clean_heard(place or "nowhere", NAME_CHARS),
        }
        for id_, number, name, place in found
    ]


def page_of(rows: Any, size: int, before: int | None) -> tuple[list[Row], int | None]:
    """Return the newest of some rows, newest first, and the id before which older ones are.

    The id is None if there are none; ``before`` such an id of an earlier page, None for the first.
    """
    if before is not None:
        rows = rows.filter(id__lt=before)
    found = list(rows.order_by("-id").values()[: size + 1])
    return found[:size], found[size - 1]["id"] if len(found) > size else None


def turns_wanted(assistant: int, wanted: TurnFilter) -> Any:
    """Return the turns of one assistant that a filter selects, as a queryset."""
    rows = rows_of(models.Turn, assistant)
    if wanted.day:
        ends = (datetime.combine(wanted.day, end, UTC) for end in (time.min, time.max))
        rows = rows.filter(at__range=tuple(ends))
    shown = {} if wanted.with_private else {"private": False}
    events = rows_of(models.Event, assistant).filter(turn__isnull=False, **shown)
    if wanted.speakers:
        by_them = events.filter(speaker__in=wanted.speakers)
        rows = rows.filter(id__in=by_them.values("turn_id"))
    if wanted.words:
        lines = rows_of(models.Message, assistant).filter(turn__isnull=False, **shown)
        said = rows_with(lines.exclude(role="tool"), wanted.words, "content", "tool_calls")
        heard = rows_with(events, wanted.words, "text")
        rows = rows.filter(Q(id__in=said.values("turn_id")) | Q(id__in=heard.values("turn_id")))
    return rows


def parts_of(turns: Iterable[Row]) -> TurnParts:
    """Return what belongs to some turns. Four queries."""
    ids = [turn["id"] for turn in turns]
    return TurnParts(
        by_turn(models.Event, ids),
        by_turn(models.ModelCall, ids),
        by_turn(models.ToolCall, ids),
        public_calls_of(ids),
    )


def by_turn(model: Any, ids: Sequence[int]) -> Mapping[int, list[Row]]:
    """Return the rows of one table that belong to some turns, by the turn's id."""
    found: defaultdict[int, list[Row]] = defaultdict(list)
    for row in model.objects.filter(turn_id__in=ids).order_by("id").values():
        found[row["turn_id"]].append(row)
    return found


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

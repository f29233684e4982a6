"""Rows of the tables for the pages, as plain data: a web thread may call all of these."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from statistics import median
from typing import Any

from django.db.models import Q, Sum
from django.db.models.functions import Coalesce

from evennia_ai import models
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.store.attributes import assistants
from evennia_ai.store.call_records import DAY, UsageCount, uses_by
from evennia_ai.store.names import plain_name
from evennia_ai.store.reports import Row, rows_with
from evennia_ai.store.rows import rows_of

RECENT_CALLS, NAME_CHARS, CHART_DAYS = 1_000, 60, 30
GOOD, BAD, ANY = "good", "bad", "any"
MARKS = (GOOD, BAD)


def assistant_rows(assistant: int | None = None) -> list[Row]:
    """Return all assistants by name, or the one with an id: id, name, dbref and place."""
    rows = assistants() if assistant is None else assistants().filter(id=assistant)
    columns = ("id", "db_obj_id", "db_obj__db_key", "db_obj__db_location__db_key")
    rows_found = rows.order_by("db_obj__db_key", "id").values_list(*columns)
    return [
        {
            "id": id_,
            "dbref": f"#{number}",
            "name": clean_heard(plain_name(name) or f"#{number}", NAME_CHARS),
            "place": clean_heard(plain_name(place or "nowhere"), NAME_CHARS),
        }
        for id_, number, name, place in rows_found
    ]


@dataclass(frozen=True)
class TurnsWanted:
    """Which turns a page shows; what is empty selects all.

    Without ``with_private``, private words decide nothing: no filter must tell who whispered what.
    """

    assistant: int | None = None
    with_private: bool = False
    since: date | None = None
    until: date | None = None
    speakers: Sequence[str] = ()
    words: str = ""
    outcome: str = ""
    tool: str = ""
    least_tokens: int | None = None  # of a turn's model calls
    mark: str = ""  # one of `MARKS`, or `ANY`


def turns_wanted(wanted: TurnsWanted) -> Any:
    of = {} if wanted.assistant is None else {"assistant_id": wanted.assistant}
    in_turn = {**of, "turn__isnull": False}
    rows = rows_of(models.Turn, wanted.assistant)
    if wanted.since:
        rows = rows.filter(at__gte=datetime.combine(wanted.since, time.min, UTC))
    if wanted.until:
        rows = rows.filter(at__lte=datetime.combine(wanted.until, time.max, UTC))
    if wanted.outcome:
        rows = rows.filter(outcome=wanted.outcome)
    if wanted.mark:
        rows = rows.filter(mark__in=MARKS if wanted.mark == ANY else (wanted.mark,))
    if wanted.tool:
        acts = models.ToolCall.objects.filter(**in_turn, name=wanted.tool)
        rows = rows.filter(id__in=acts.values("turn_id"))
    if wanted.least_tokens:
        calls = models.ModelCall.objects.filter(**in_turn).order_by().values("turn_id")
        used = Coalesce("prompt_tokens", "estimated_tokens") + Coalesce("completion_tokens", 0)
        costly = calls.annotate(used=Sum(used)).filter(used__gte=wanted.least_tokens)
        rows = rows.filter(id__in=costly.values("turn_id"))
    shown = {} if wanted.with_private else {"private": False}
    events = models.Event.objects.filter(**in_turn, **shown)
    if wanted.speakers:
        rows = rows.filter(id__in=events.filter(speaker__in=wanted.speakers).values("turn_id"))
    if wanted.words:
        lines = models.Message.objects.filter(**in_turn, **shown).exclude(role="tool")
        spoken_rows = rows_with(lines, wanted.words, "content", "tool_calls")
        heard_rows = rows_with(events, wanted.words, "text")
        rows = rows.filter(
            Q(id__in=spoken_rows.values("turn_id")) | Q(id__in=heard_rows.values("turn_id"))
        )
    return rows


def lines_after(assistant: int, seq: int, most: int) -> list[Row]:
    """Return the newest messages after a number, oldest first. One query by an index."""
    rows = rows_of(models.Message, assistant).filter(id__gt=seq)
    return list(rows.order_by("-id").values()[:most])[::-1]


def use_by_day(today: date, **of: int) -> list[Row]:
    """Return turns, calls, tokens and micros of each of the last `CHART_DAYS` UTC days, in order.

    They are those of all assistants, or of ``assistant_id``. A query for each day.
    """
    days = [today - timedelta(days=ago) for ago in reversed(range(CHART_DAYS))]
    uses, turns = uses_by(days[0], today, DAY, **of), models.Turn.objects.filter(**of)
    rows_by_day = []
    for day in days:
        at, use = datetime.combine(day, time.min, UTC), uses.get((day,), UsageCount())
        number = turns.filter(at__gte=at, at__lt=at + timedelta(days=1)).count()
        figures = {"calls": use.calls, "tokens": use.tokens, "money": use.money}
        rows_by_day.append({"day": day.isoformat(), "turns": number, **figures})
    return rows_by_day


def latencies() -> dict[int, int]:
    """Return the median milliseconds of the game's last model calls, by the assistant's id."""
    rows = models.ModelCall.objects.filter(error="").order_by("-id")
    by_profile: defaultdict[int, list[int]] = defaultdict(list)
    for assistant, duration in rows.values_list("assistant_id", "duration_ms")[:RECENT_CALLS]:
        by_profile[assistant].append(duration)
    return {assistant: round(median(times)) for assistant, times in by_profile.items()}

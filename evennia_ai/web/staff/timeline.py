"""The turns of one assistant, newest first, by day, player and words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import urlencode

from evennia_ai import models
from evennia_ai.policy.disclosure import PRIVATE_WORDS, PUBLIC_WORDS, Reader
from evennia_ai.store.page_rows import (
    Row,
    TurnFilter,
    page_of,
    parts_of,
    turns_wanted,
    use_by_day,
)
from evennia_ai.store.reports import waiting_events
from evennia_ai.web.staff.access import staff_page
from evennia_ai.web.staff.rendering import Shown, asked_text, number_or_none, people_named

TURNS_A_PAGE = 25
ASKED = ("day", "player", "words")


@staff_page("timeline.html")
def timeline(request: Any, reader: Reader, who: Row) -> dict[str, Any]:
    """Show a page of turns; the first page also shows what waits, and the use by day."""
    asked = {name: asked_text(request.GET, name) for name in ASKED}
    before = number_or_none(request.GET.get("before"))
    wanted, trouble = read_filter(asked, reader)
    turns = models.Turn.objects.none() if trouble else turns_wanted(who["id"], wanted)
    rows, older = page_of(turns, TURNS_A_PAGE, before)
    shown, parts = Shown(reader, who, rows), parts_of(rows)
    is_first = before is None and not any(asked.values())
    return {
        "asked": asked,
        "trouble": trouble,
        "turns": [shown.turn(row, parts) for row in rows],
        "older": older and urlencode({**{n: v for n, v in asked.items() if v}, "before": older}),
        "waiting": [shown.event(row) for row in waiting_events(who["id"])] if is_first else [],
        "chart": use_by_day(datetime.now(UTC).date(), assistant_id=who["id"]) if is_first else [],
        "searches_private": wanted.with_private,
    }


def read_filter(asked: Mapping[str, str], reader: Reader) -> tuple[TurnFilter, str]:
    """Return the filter that was typed, and what is wrong with it."""
    player, day, trouble = asked["player"], None, ""
    speakers = people_named(player) if player else []
    if asked["words"] and not reader.may(PUBLIC_WORDS):
        trouble = f"Only {reader.whose(PUBLIC_WORDS)} may search words."
    if player and not speakers:
        trouble = "Nobody has this name. Use a whole name, or a number such as #12."
    try:
        day = date.fromisoformat(asked["day"]) if asked["day"] else None
    except ValueError:
        trouble = "Write the day as 2026-01-31."
    return TurnFilter(reader.may(PRIVATE_WORDS), day, speakers, asked["words"]), trouble

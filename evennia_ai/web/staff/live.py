"""The newest lines of one assistant, which the browser asks for while the page is open."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse

from evennia_ai.policy.disclosure import Reader
from evennia_ai.store.page_rows import Row, lines_after
from evennia_ai.web.staff.access import staff_page
from evennia_ai.web.staff.rendering import Shown, number_or_none

LINES = 30


@staff_page("live.html")
def live(request: Any, reader: Reader, who: Row) -> dict[str, Any]:
    """Show the newest lines and ask for newer ones every few seconds."""
    return newest_lines(reader, who)


@staff_page("live_lines.html")
def newest(request: Any, reader: Reader, who: Row) -> Any:
    """Return the list of lines alone, or nothing (204) if there is none after ``after``."""
    after = number_or_none(request.GET.get("after")) or 0
    if not lines_after(who["id"], after, 1):
        return HttpResponse(status=204)
    return newest_lines(reader, who)


def newest_lines(reader: Reader, who: Row) -> dict[str, Any]:
    """Return the newest lines, oldest first, and the number of the last."""
    rows = lines_after(who["id"], 0, LINES)
    shown = Shown(reader, who, rows)
    last = rows[-1]["id"] if rows else 0
    return {"lines": [shown.line(row) for row in rows], "last": str(last)}

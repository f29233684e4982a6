"""The turns of one assistant, one of them with its reasons, and the newest lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from itertools import accumulate
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse

from evennia_ai import models
from evennia_ai.policy.disclosure import (
    PRIVATE_WORDS,
    PUBLIC_WORDS,
    Reader,
    memory_kind,
    words_kind,
)
from evennia_ai.policy.explanation.attribution import Attribution
from evennia_ai.policy.explanation.prompt_parts import Part
from evennia_ai.policy.tokens import estimate_tokens
from evennia_ai.store import page_rows
from evennia_ai.store.explanations import Explanation, explain_turn
from evennia_ai.store.names import locks_of
from evennia_ai.store.page_rows import Row
from evennia_ai.store.reports import waiting_events
from evennia_ai.web.staff.access import staff_page
from evennia_ai.web.staff.rendering import (
    Shown,
    asked_text,
    number_or_none,
    page_asked,
    page_text,
    people_named,
    row_or_404,
)

TURNS_A_PAGE, LINES = 25, 30
ASKED = ("day", "player", "words")


@staff_page("timeline.html")
def timeline(request: Any, reader: Reader, who: Row) -> Row:
    """Show a page of turns; the first page also shows what waits, and the use by day."""
    asked = {name: asked_text(request.GET, name) for name in ASKED}
    turns, trouble = find_turns(who["id"], asked, reader)
    rows, older = page_asked(request, turns, TURNS_A_PAGE)
    shown = Shown(reader, who, rows)
    found = {
        "asked": asked,
        "trouble": trouble,
        "turns": [shown.turn(row) for row in page_rows.with_parts(rows)],
        "older": older and urlencode({**{n: v for n, v in asked.items() if v}, "before": older}),
        "searches_private": reader.may(PRIVATE_WORDS),
    }
    if "before" in request.GET or any(asked.values()):
        return found
    chart = page_rows.use_by_day(datetime.now(UTC).date(), assistant_id=who["id"])
    waiting = [shown.event(row) for row in waiting_events(who["id"])]
    return {**found, "waiting": waiting, "chart": chart}


def find_turns(assistant: int, asked: Mapping[str, str], reader: Reader) -> tuple[Any, str]:
    """Return the turns that were asked for, as a queryset, and what is wrong with the question."""
    player, words, day, trouble = asked["player"], asked["words"], None, ""
    speakers = people_named(player) if player else []
    if words and not reader.may(PUBLIC_WORDS):
        trouble = f"Only {reader.whose(PUBLIC_WORDS)} may search words."
    if player and not speakers:
        trouble = "Nobody has this name. Use a whole name, or a number such as #12."
    try:
        day = date.fromisoformat(asked["day"]) if asked["day"] else None
    except ValueError:
        trouble = "Write the day as 2026-01-31."
    if trouble:
        return models.Turn.objects.none(), trouble
    may_search_all = reader.may(PRIVATE_WORDS)
    return page_rows.turns_wanted(assistant, may_search_all, day, speakers, words), ""


@staff_page("live.html")
def live(request: Any, reader: Reader, who: Row) -> Row:
    """Show the newest lines and ask for newer ones every few seconds."""
    return newest_lines(reader, who)


@staff_page("live_lines.html")
def newest(request: Any, reader: Reader, who: Row) -> Any:
    """Return the list of lines alone, or nothing (204) if there is none after ``after``."""
    after = number_or_none(request.GET.get("after")) or 0
    if not page_rows.lines_after(who["id"], after, 1):
        return HttpResponse(status=204)
    return newest_lines(reader, who)


def newest_lines(reader: Reader, who: Row) -> Row:
    """Return the newest lines, oldest first, and the number of the last."""
    rows = page_rows.lines_after(who["id"], 0, LINES)
    shown = Shown(reader, who, rows)
    last = str(rows[-1]["id"]) if rows else "0"
    return {"lines": [shown.line(row) for row in rows], "last": last}


@staff_page("turn.html")
def turn(request: Any, reader: Reader, who: Row, number: int) -> Row:
    """Show one turn: what was heard, each call, and why each sentence was said."""
    row = row_or_404("Turn", who, number)
    (row,) = page_rows.with_parts([row])
    whys = [why_line(why, reader) for why in explain_turn(number, [who["name"]])]
    found = Shown(reader, who, [row]).turn(row)
    for act in found["acts"]:
        act["locks"] = [page_text(told) for told in locks_of(act["locks"])]
    return {"turn": found, "whys": whys}


def why_line(why: Explanation, reader: Reader) -> dict[str, Any]:
    """Return one line of the turn with its reasons, as far as the reader may see them."""
    kind = words_kind(why.private)
    text = page_text(reader.show(kind, why.text, "words"))
    if not (reader.may(kind) and reader.may(memory_kind(why.private))) or why.stored is None:
        return {"line": text, "state": why.state}
    return {"line": text, "state": why.state, "why": why_values(why.parts, why.sentences)}


def why_values(parts: Sequence[Part], sentences: Sequence[Attribution]) -> dict[str, Any]:
    """Return the values of the template ``why.html``, which the reader must be allowed to read."""
    sizes = [estimate_tokens(part.text) for part in parts]
    total = sum(sizes) or 1
    ends = list(accumulate(round(1_000 * tokens / total) for tokens in sizes))
    return {
        "total": total,
        "parts": [
            {
                "name": page_text(part.name, 40),
                "tokens": tokens,
                "at": start,
                "permille": end - start,
                "percent": round(100 * tokens / total),
                "lines": [page_text(line) for line in part.text.splitlines()],
            }
            for part, tokens, start, end in zip(parts, sizes, [0, *ends], ends, strict=False)
        ],
        "sentences": [
            {"text": page_text(one.sentence), "tells": one.tells, "source": shown_source(one)}
            for one in sentences
        ],
    }


def shown_source(one: Attribution) -> dict[str, Any] | None:
    """Return where a sentence comes from, None if nothing in the prompt is near it."""
    if one.source is None:
        return None
    texts = {"part": page_text(one.source.part, 40), "text": page_text(one.source.text)}
    return {**texts, "score": one.share}

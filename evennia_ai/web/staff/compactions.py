"""Compactions before and after, and the sleep passes of one assistant."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from evennia_ai import models
from evennia_ai.game.wording import COMPACTED_FOR, SUMMARISED, worded
from evennia_ai.policy.context.projection import PUBLIC
from evennia_ai.policy.disclosure import Reader
from evennia_ai.policy.schedule.sleep_report import OUTCOMES, REASONS, describe_cost, describe_step
from evennia_ai.sleep import STEP_TEXTS
from evennia_ai.store.conversation import MASK
from evennia_ai.store.explanations import calls_of_compaction, explain_call
from evennia_ai.store.page_rows import Row
from evennia_ai.store.reports import rows_of, seconds_between
from evennia_ai.web import disclosed_rows as disclosed
from evennia_ai.web.staff.access import staff_page
from evennia_ai.web.staff.rendering import Shown, number_or_none, page_asked, page_text, row_or_404
from evennia_ai.web.staff.turns import why_line

ROWS_A_PAGE = 25
LINES_A_PAGE = 100


@staff_page("compactions.html")
def compactions(request: Any, reader: Reader, who: Row) -> Row:
    """Show the compactions, newest first."""
    return page_of_rows(request, models.Compaction, who, shown_compaction)


@staff_page("sleep.html")
def passes(request: Any, reader: Reader, who: Row) -> Row:
    """Show the sleep passes, newest first."""
    return page_of_rows(request, models.SleepPass, who, partial(shown_pass, reader))


def page_of_rows(request: Any, model: Any, who: Row, shown: Callable[[Row], Row]) -> Row:
    """Return a page of one table's rows."""
    rows, older = page_asked(request, rows_of(model, who["id"]), ROWS_A_PAGE)
    return {"rows": [shown(row) for row in rows], "older": older}


@staff_page("compaction.html")
def compaction(request: Any, reader: Reader, who: Row, number: int) -> Row:
    """Show one compaction: the messages before it beside the summary after it."""
    row = row_or_404("Compaction", who, number)
    first = max(row["from_seq"], number_or_none(request.GET.get("from")) or 0)
    rows = rows_of(models.Message, who["id"]).filter(id__gte=first, id__lte=row["upto_seq"])
    found = list(rows.order_by("id").values()[: LINES_A_PAGE + 1])
    lines = found[:LINES_A_PAGE]
    parts = disclosed.compaction_row(row, reader)["summary"]
    shown = Shown(reader, who, [*lines, *parts])
    for part in parts:
        part["whom"] = "everybody" if part["audience"] == [PUBLIC] else shown.whom(part["audience"])
    calls = calls_of_compaction(who["id"], number, row["at"])
    return {
        "whys": [why_line(explain_call(call, [who["name"]]), reader) for call in calls],
        "row": shown_compaction(row),
        "lines": [shown.line(line) for line in lines],
        "later": str(found[-1]["id"]) if len(found) > LINES_A_PAGE else "",
        "parts": parts,
    }


def shown_compaction(row: Row) -> Row:
    """Return a compaction's figures as the template takes them, without its summary."""
    before, after = row["original_token_count"], row["summary_token_count"]
    return {
        **row,
        "summary": None,
        "mask": row["reason"] == MASK,
        "reason": worded(COMPACTED_FOR, row["reason"]),
        "how": worded(SUMMARISED, row["rung"]),
        "percent": min(100, round(100 * after / (before or 1))),
        "cost": describe_cost(row["cost"]),
    }


def shown_pass(reader: Reader, row: Row) -> Row:
    """Return a sleep pass, step by step."""
    errors = disclosed.sleep_pass_row(row, reader)["errors"]
    took_s = seconds_between(row["at"], row["ended_at"])
    ended = OUTCOMES.get(row["outcome"], "ended").format(took_s=took_s)
    return {
        "id": row["id"],
        "at": row["at"],
        "reason": REASONS.get(row["reason"], "asleep"),
        "ended": ended if row["ended_at"] else "in progress, or interrupted by the server's stop",
        "cost": describe_cost(row["cost"]),
        "steps": [
            page_text(describe_step(STEP_TEXTS, name, figures, errors.get(name, "")))
            for name, figures in row["results"].items()
        ],
    }

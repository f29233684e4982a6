"""Compactions before and after, and the sleep passes of one assistant."""

from __future__ import annotations

from typing import Any

from django.http import Http404

from evennia_ai.game.wording import COMPACTED_FOR, SUMMARISED, worded
from evennia_ai.policy.context.projection import PUBLIC
from evennia_ai.policy.disclosure import ERRORS, Reader, words_kind
from evennia_ai.policy.records.memory_listing import named
from evennia_ai.policy.schedule.sleep_report import OUTCOMES, REASONS, describe_cost, describe_step
from evennia_ai.sleep import STEP_TEXTS
from evennia_ai.store.compactions import MASK
from evennia_ai.store.explanations import calls_of_compaction, explain_call
from evennia_ai.store.names import names_of
from evennia_ai.store.page_rows import Row, lines_between, rows_before
from evennia_ai.store.reports import find_row, seconds_between
from evennia_ai.web.staff.access import staff_page
from evennia_ai.web.staff.rendering import IN_PRIVATE, Shown, number_or_none, page_lines, page_text
from evennia_ai.web.staff.turn import why_line

ROWS_A_PAGE = 25
LINES_A_PAGE = 100


@staff_page("compactions.html")
def compactions(request: Any, reader: Reader, who: Row) -> dict[str, Any]:
    """Show the compactions, newest first."""
    before = number_or_none(request.GET.get("before"))
    rows = rows_before("Compaction", who["id"], ROWS_A_PAGE + 1, before)
    shown = [shown_compaction(row) for row in rows[:ROWS_A_PAGE]]
    return {"rows": shown, "older": str(shown[-1]["id"]) if len(rows) > ROWS_A_PAGE else None}


@staff_page("compaction.html")
def compaction(request: Any, reader: Reader, who: Row, number: int) -> dict[str, Any]:
    """Show one compaction: the messages before it beside the summary after it."""
    row = find_row("Compaction", who["id"], number)
    if row is None:
        raise Http404("There is no such compaction.")
    first = max(row["from_seq"], number_or_none(request.GET.get("from")) or 0)
    found = lines_between(who["id"], first, row["upto_seq"], LINES_A_PAGE + 1)
    lines = found[:LINES_A_PAGE]
    shown = Shown.of(reader, who, lines)
    calls = calls_of_compaction(who["id"], number, row["at"])
    return {
        "whys": [why_line(explain_call(call, [who["name"]]), reader) for call in calls],
        "row": shown_compaction(row),
        "lines": [shown.line(line) for line in lines],
        "later": str(found[-1]["id"]) if len(found) > LINES_A_PAGE else None,
        "parts": [summary_part(key, text, reader) for key, text in row["summary"].items()],
    }


def shown_compaction(row: Row) -> Row:
    """Return a compaction's figures as the template takes them."""
    before, after = row["original_token_count"], row["summary_token_count"]
    return {
        **{name: row[name] for name in ("id", "at", "undone_at", "sealed", "compacted_count")},
        **{name: row[name] for name in ("facts_found", "facts_kept", "facts_rescued")},
        "mask": row["reason"] == MASK,
        "reason": worded(COMPACTED_FOR, row["reason"]),
        "how": worded(SUMMARISED, row["rung"]),
        "before": before,
        "after": after,
        "percent": min(100, round(100 * after / (before or 1))),
        "cost": describe_cost(row["cost"]),
    }


def summary_part(key: str, text: str, reader: Reader) -> Row:
    """Return the part of a summary for one audience."""
    kind, whom = words_kind(key != PUBLIC), "everybody"
    if key != PUBLIC:
        dbrefs = key.split(",")
        whom = page_text(named(dbrefs, names_of(dbrefs))) if reader.may(kind) else IN_PRIVATE
    return {"whom": whom, "lines": page_lines(reader.show(kind, text, "summary"))}


@staff_page("sleep.html")
def passes(request: Any, reader: Reader, who: Row) -> dict[str, Any]:
    """Show the sleep passes, newest first."""
    before = number_or_none(request.GET.get("before"))
    rows = rows_before("SleepPass", who["id"], ROWS_A_PAGE + 1, before)
    shown = [shown_pass(row, reader) for row in rows[:ROWS_A_PAGE]]
    return {"rows": shown, "older": str(shown[-1]["id"]) if len(rows) > ROWS_A_PAGE else None}


def shown_pass(row: Row, reader: Reader) -> Row:
    """Return a sleep pass, step by step."""
    errors = {step: reader.show(ERRORS, text, "error") for step, text in row["errors"].items()}
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

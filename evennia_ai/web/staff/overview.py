"""The overview: every assistant in a row, endpoints, and the use of the last days."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime
from typing import Any

from twisted.internet.defer import inlineCallbacks

from evennia_ai.config import usable_window
from evennia_ai.game.sleep_state import mode_of
from evennia_ai.game.wording import ERROR_KINDS, worded
from evennia_ai.policy.disclosure import ERRORS, Reader
from evennia_ai.policy.limits.prices import money_words
from evennia_ai.scheduling import Steps, spread
from evennia_ai.store.page_rows import (
    Row,
    assistant_rows,
    latencies,
    turns_by_day,
    use_by_day,
)
from evennia_ai.store.reports import last_error, last_prompt_tokens, queue_lengths
from evennia_ai.store.usage import DAY, total_of, use_on, uses_by
from evennia_ai.web.staff.access import staff_page
from evennia_ai.web.staff.game_thread import Missing, find_script, game, services
from evennia_ai.web.staff.rendering import chart_days, page_text

State = dict[str, Any]
GONE: State = {"mode": "gone", "model": "", "window": 0, "warnings": []}


@staff_page("overview.html")
def overview(request: Any, reader: Reader) -> dict[str, Any]:
    """Show all assistants."""
    rows = assistant_rows()
    states, lanes, stopped = game.ask(read_states, [row["id"] for row in rows])
    today = datetime.now(UTC).date()
    shown = with_figures(rows, states, today, reader)
    return {
        "assistants": shown,
        "lanes": [{**lane, "error": shown_error(lane["error"], reader)} for lane in lanes],
        "stopped": page_text(stopped),
        "chart": use_chart(today),
        "waiting": sum(row["queue"] for row in shown),
        "calls": sum(row["calls"] for row in shown),
        "tokens": sum(row["tokens"] for row in shown),
        "money": money_today(today),
    }


def money_today(today: date) -> str:
    """Return what today cost, empty if no model has a price."""
    use = total_of(uses_by(today, today, DAY).values())
    return (
        f"{money_words(use.money)} {services().gateway.limits.currency}"
        if use.priced_tokens
        else ""
    )


@inlineCallbacks
def read_states(ids: Sequence[int]) -> Steps[tuple[list[State], list[State], str]]:
    """Read the state of assistants in time slices, of endpoints, and why all are stopped."""
    shared = services()
    states = yield spread(shared.slices.put, ids, state_of, piece=1)
    return states, [asdict(lane) for lane in shared.gateway.health()], shared.switched_off


def state_of(assistant: int) -> State:
    """Return what an assistant does now, with its model, context window and warnings."""
    try:
        script = find_script(assistant)
    except Missing:
        return GONE
    profile = script.profile
    return {
        "mode": mode_of(script),
        "model": page_text(f"{profile.name}:{profile.model}", 60),
        "window": usable_window(script.config, profile),
        "warnings": [page_text(warning, 200) for warning in script.warnings[-2:]],
    }


def with_figures(
    rows: Sequence[Row], states: Sequence[State], today: date, reader: Reader
) -> list[State]:
    """Return each assistant with its state and the figures of today, from the tables."""
    queues, used, prompts = queue_lengths(), use_on(today), last_prompt_tokens()
    errors, times = last_error(), latencies()

    def whole(row: Row, state: State) -> State:
        id_ = row["id"]
        calls, tokens = used.get(id_, (0, 0))
        kind, error = errors.get(id_, ("", ""))
        return {
            **row,
            **state,
            "context": prompts.get(id_, 0) / (state["window"] or 1),
            "queue": queues.get(id_, 0),
            "calls": calls,
            "tokens": tokens,
            "latency_ms": times.get(id_),
            "problem": worded(ERROR_KINDS, kind),
            "error": shown_error(error, reader),
        }

    shown = map(whole, rows, states)
    return [{**row, "percent": min(100, round(row["context"] * 100))} for row in shown]


def shown_error(error: str, reader: Reader) -> str:
    """Return the text of an error as far as the reader may see it."""
    return reader.show(ERRORS, page_text(error, 300), "text") if error else ""


def use_chart(today: date, **of: int) -> list[dict[str, Any]]:
    """Return turns, calls and tokens of each day, oldest first; as for `use_by_day`."""
    days = chart_days(today)
    turns, used = turns_by_day(days, **of), use_by_day(days, **of)
    return [
        {"day": day.isoformat(), "turns": number, "calls": calls, "tokens": tokens}
        for day, number, (calls, tokens) in zip(days, turns, used, strict=True)
    ]

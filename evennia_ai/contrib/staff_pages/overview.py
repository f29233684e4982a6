"""The overview: every assistant in a row, endpoints, and the use of the last days."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

from django.views.generic import ListView
from twisted.internet.defer import inlineCallbacks

from evennia_ai.commands.rendering import ERROR_KINDS
from evennia_ai.config import usable_window
from evennia_ai.contrib.staff_pages.access import NotFound, StaffPage, find_script, game, services
from evennia_ai.contrib.staff_pages.disclosure import error_text, model_words, page_text
from evennia_ai.contrib.staff_pages.logs import chart_values
from evennia_ai.contrib.staff_pages.page_rows import assistant_rows, latencies, use_by_day
from evennia_ai.game.sleep_state import mode_of
from evennia_ai.policy.limits.money import money_words
from evennia_ai.policy.read_permissions import Reader
from evennia_ai.scheduling import Coroutine, map_in_slices
from evennia_ai.store.call_records import CHARACTER, DAY, UsageCount, total_of, uses_by
from evennia_ai.store.reports import Row, last_error, last_prompt_tokens, queue_lengths

GONE: Row = {"mode": "gone", "model": "", "window": 0, "warnings": []}


class Overview(StaffPage, ListView):
    """A page of the assistants, and what all of them used today."""

    tab, template_name = "overview", "evennia_ai/overview.html"
    paginate_by = 100

    def get_queryset(self) -> list[Row]:
        return assistant_rows()

    def get_context_data(self, **values: Any) -> Row:
        context = super().get_context_data(**values)
        rows = context["object_list"]
        ids = [row["id"] for row in rows]
        states, lanes, queue, problems = game.ask(read_states, ids, self.reader)
        names = {str(row["id"]): row["name"] for row in self.object_list}
        assistants = [{**row, **state} for row, state in zip(rows, states, strict=True)]
        today = datetime.now(UTC).date()
        use, waiting = total_of(uses_by(today, today, DAY).values()), queue_lengths()
        currency = services().gateway.limits.currency
        return {
            **context,
            "assistants": with_figures(assistants, waiting, today, self.reader),
            "lanes": [{**lane, "error": error_text(lane["error"], self.reader)} for lane in lanes],
            "queue": [f"{names.get(item.assistant, 'The game')} {item}" for item in queue],
            "problems": [(page_text(of, 120), page_text(problem)) for of, problem in problems],
            **chart_values(use_by_day(today)),
            "waiting": sum(waiting.values()),
            "use": use,
            "money": f"{money_words(use.money)} {currency}" if use.priced_tokens else "",
            "currency": currency,
        }


@inlineCallbacks
def read_states(
    ids: Sequence[int], reader: Reader
) -> Coroutine[tuple[list[Row], list[Row], list[Any], list[tuple[str, str]]]]:
    """Read the state of assistants in time slices, of endpoints, who waits, and what is wrong."""
    shared = services()
    states = yield map_in_slices(shared.slices.put, ids, state_of, piece=1)
    lanes = shared.gateway.lanes
    endpoints = [
        {
            "name": model_words(*lane.name.split(":", 1)),
            "in_flight": len(lane.in_flight),
            "waiting": len(lane.waiting),
            "paused_s": lane.paused_s,
            "error": lane.breaker.error,
        }
        for lane in lanes
    ]
    stopped = [("All are stopped", shared.switched_off)] if shared.switched_off else []
    return states, endpoints, lanes.queue(), [*stopped, *shared.problems_told(reader)]


def state_of(assistant: int) -> Row:
    try:
        script = find_script(assistant)
    except NotFound:
        return GONE
    profile = script.mind.settings.profile
    return {
        "mode": mode_of(script.character, script.services),
        "model": model_words(profile.name, profile.model),
        "window": usable_window(script.config, profile),
        "warnings": [page_text(warning, 200) for warning in script.mind.settings.warnings[-2:]],
    }


def with_figures(
    rows: Iterable[Row], waiting: Mapping[int, int], today: date, reader: Reader
) -> list[Row]:
    used = uses_by(today, today, CHARACTER)
    prompts, errors, times = last_prompt_tokens(), last_error(), latencies()

    def whole(row: Row) -> Row:
        id_ = row["id"]
        use = used.get((id_,), UsageCount())
        kind, error = errors.get(id_, ("", ""))
        return {
            **row,
            "percent": min(100, round(100 * prompts.get(id_, 0) / (row["window"] or 1))),
            "queue": waiting.get(id_, 0),
            "calls": use.calls,
            "tokens": use.tokens,
            "cost": money_words(use.money) if use.priced_tokens else "",
            "latency_ms": times.get(id_),
            "problem": ERROR_KINDS.get(kind, kind),
            "error": error_text(error, reader),
        }

    return list(map(whole, rows))

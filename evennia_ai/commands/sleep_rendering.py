"""An assistant's sleep in words: pass by pass for ``aihistory``, and now for ``aistatus``."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from evennia_ai.commands.common import UsageError
from evennia_ai.game.sleep_state import cause_of_sleep, is_asleep, sleep_state
from evennia_ai.policy.sanitize import clean_output
from evennia_ai.policy.schedule.sleep_report import (
    OUTCOMES,
    REASONS,
    describe_cost,
    describe_step,
    summarise_pass,
)
from evennia_ai.policy.schedule.sleep_schedule import GAME
from evennia_ai.sleep import STEP_TEXTS
from evennia_ai.store.attributes import read_attribute
from evennia_ai.store.reports import Page, seconds_between
from evennia_ai.store.sleep_passes import find_pass

LINE_CHARS = 400
UNDER_WAY = "under way"
INTERRUPTED = "interrupted, the server went down; what it did stands in /turns and /compactions"


def pass_lines(script: Any, page: Page) -> list[str]:
    """A page of passes, a line each; empty where there are none."""
    return [
        f"{pass_title(script, row)}\n    {pass_summary(row)}"
        if row["ended_at"]
        else pass_title(script, row)
        for row in page.rows
    ]


def pass_title(script: Any, row: dict[str, Any]) -> str:
    """When a pass was, why it slept, how long it took and how it ended."""
    when = f"|w{row['id']}|n |x{row['at']:%m-%d %H:%M:%S}|n"
    return f"{when} {REASONS.get(row['reason'], 'asleep')}: {how_it_ended(script, row)}"


def how_it_ended(script: Any, row: dict[str, Any]) -> str:
    """The end of a pass, if it has one."""
    if row["ended_at"] is None:
        return f"|y{UNDER_WAY if sleep_state(script).pass_id == row['id'] else INTERRUPTED}|n"
    took_s = seconds_between(row["at"], row["ended_at"])
    return OUTCOMES.get(row["outcome"], "ended").format(took_s=took_s)


def pass_summary(row: dict[str, Any]) -> str:
    """What a pass that has ended did and cost, in a line."""
    done = summarise_pass(STEP_TEXTS, row["results"], row["errors"])
    return clean_output(f"{done} ({describe_cost(row['cost'])})", LINE_CHARS)


def whole_pass(script: Any, number: int) -> str:
    """One pass, step by step; raises UsageError where there is none of that number."""
    row = find_pass(script.id, number)
    if row is None:
        raise UsageError("There is none of that number. |waihistory/sleep|n lists them.")
    steps = [
        describe_step(STEP_TEXTS, name, figures, row["errors"].get(name, ""))
        for name, figures in row["results"].items()
    ]
    cost = [f"  It cost: {describe_cost(row['cost'])}."] if row["ended_at"] else []
    told = [f"  {clean_output(step, LINE_CHARS)}" for step in steps]
    return "\n".join([pass_title(script, row), *told, *cost])


def sleep_now(script: Any, last: dict[str, Any] | None) -> str:
    """For one that sleeps: since when and why, its hours, and its last pass; empty for one that is
    awake."""
    if not is_asleep(script):
        return ""
    parts = [f"asleep{since(script)} ({REASONS[cause_of_sleep(script)]})"]
    if script.config.sleep_schedule:
        clock = " of the game world" if script.config.sleep_clock == GAME else ""
        parts.append(f"its hours are {script.config.sleep_schedule}{clock}")
    if last:
        summary = f", {pass_summary(last)}" if last["ended_at"] else ""
        parts.append(f"last pass ({last['id']}): {how_it_ended(script, last)}{summary}")
    return "; ".join(parts)


def since(script: Any) -> str:
    """When it fell asleep, in UTC; empty where that is not known."""
    seconds = read_attribute(script, "asleep_since")
    try:
        return f" since {datetime.fromtimestamp(seconds, UTC):%m-%d %H:%M}"
    except (TypeError, ValueError, OverflowError, OSError):
        return ""

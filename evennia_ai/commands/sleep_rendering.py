"""The lines about sleep: passes for ``aihistory``, the present sleep for ``aistatus``."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from evennia_ai.commands.common import UsageError
from evennia_ai.game.client_text import clean_output
from evennia_ai.game.script_ports import GameScript
from evennia_ai.game.sleep_state import cause_of_sleep, sleep_state
from evennia_ai.policy.disclosure import ERRORS, Reader
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
from evennia_ai.store.reports import Page, find_row, seconds_between

LINE_CHARS = 400
IN_PROGRESS = "in progress"
INTERRUPTED = "interrupted by the server's stop; /turns and /compactions show what it did"


def pass_lines(script: GameScript, page: Page, reader: Reader) -> list[str]:
    """Return a line for each pass of a page, and a second one if it has ended."""
    ends = [f"\n    {pass_summary(row, reader)}" if row["ended_at"] else "" for row in page.rows]
    return [pass_title(script, row, reader) + end for row, end in zip(page.rows, ends, strict=True)]


def pass_title(script: GameScript, row: dict[str, Any], reader: Reader) -> str:
    """Return when a pass was, the reason for the sleep, and how the pass ended."""
    when = f"|w{row['id']}|n |x{reader.clock(row['at'])}|n"
    return f"{when} {REASONS.get(row['reason'], 'asleep')}: {how_it_ended(script, row)}"


def how_it_ended(script: GameScript, row: dict[str, Any]) -> str:
    """Return how a pass ended, or that it did not."""
    if row["ended_at"] is None:
        return f"|y{IN_PROGRESS if sleep_state(script).pass_id == row['id'] else INTERRUPTED}|n"
    took_s = seconds_between(row["at"], row["ended_at"])
    return OUTCOMES.get(row["outcome"], "ended").format(took_s=took_s)


def pass_errors(row: dict[str, Any], reader: Reader) -> dict[str, str]:
    """Return the errors of a pass by sleep step, as far as the reader may see them."""
    return {step: reader.show(ERRORS, error, "error") for step, error in row["errors"].items()}


def pass_summary(row: dict[str, Any], reader: Reader) -> str:
    """Return what a finished pass did and cost, on a line."""
    done = summarise_pass(STEP_TEXTS, row["results"], pass_errors(row, reader))
    return clean_output(f"{done} ({describe_cost(row['cost'])})", LINE_CHARS)


def whole_pass(script: GameScript, number: int, reader: Reader) -> str:
    """Return one pass step by step; raises UsageError if the number is unknown."""
    row = find_row("SleepPass", script.id, number)
    if row is None:
        raise UsageError("There is no sleep pass with this number. |waihistory/sleep|n lists them.")
    lines, errors = [pass_title(script, row, reader)], pass_errors(row, reader)
    for name, figures in row["results"].items():
        step = describe_step(STEP_TEXTS, name, figures, errors.get(name, ""))
        lines.append(f"  {clean_output(step, LINE_CHARS)}")
    if row["ended_at"]:
        lines.append(f"  Cost: {describe_cost(row['cost'])}.")
    return "\n".join(lines)


def sleep_now(script: GameScript, last: dict[str, Any] | None, reader: Reader) -> str:
    """Return since when and why an assistant sleeps, its hours, and its last pass."""
    parts = [f"asleep{since(script, reader)} ({REASONS[cause_of_sleep(script)]})"]
    if script.config.sleep_schedule:
        clock = " of the game world" if script.config.sleep_clock == GAME else ""
        parts.append(f"sleep hours {script.config.sleep_schedule}{clock}")
    if last:
        summary = f", {pass_summary(last, reader)}" if last["ended_at"] else ""
        parts.append(f"last pass ({last['id']}): {how_it_ended(script, last)}{summary}")
    return "; ".join(parts)


def since(script: GameScript, reader: Reader) -> str:
    """Return when an assistant fell asleep; empty if that is unknown."""
    seconds = read_attribute(script, "asleep_since")
    try:
        return f" since {reader.clock(datetime.fromtimestamp(seconds, UTC), '%m-%d %H:%M')}"
    except (TypeError, ValueError, OverflowError, OSError):
        return ""

"""When a character sleeps, and how a sleep pass is reported."""

import math
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from evennia_ai.errors import ConfigError
from evennia_ai.policy.sanitize import clean_heard

AWAKE, ASLEEP = "awake", "sleep"
CONSOLIDATING, DREAMING = "consolidating", "dreaming"
# The causes of sleep. From HOURS and NAP it wakes by itself, from ORDER and WISH when it is woken.
HOURS, NAP, ORDER, WISH = "hours", "nap", "order", "wish"
UNTIL_WOKEN = (ORDER, WISH)
REAL, GAME = "real", "game"
NOBODY, STAFF, ANYBODY = "nobody", "staff", "anybody"
DAY_MINUTES = 24 * 60
# Time awake before it may fall asleep by its own wish.
STAY_AWAKE_S = 600.0
ADDRESSED_S = 60.0
FORM = re.compile(r"(\d{1,2}):(\d{2})\s{0,9}-\s{0,9}(\d{1,2}):(\d{2})")


@dataclass(frozen=True)
class Schedule:
    """The daily hours of sleep, in minutes since midnight; past midnight if ``end`` < ``begin``."""

    begin: int
    end: int

    def holds(self, minute: int) -> bool:
        """Return True if a minute of the day, on the schedule's clock, is in these hours."""
        if self.begin <= self.end:
            return self.begin <= minute < self.end
        return minute >= self.begin or minute < self.end


def read_schedule(text: str | None) -> Schedule | None:
    """Return the schedule of a text such as ``23:00-06:30``, None for none; raises ConfigError."""
    if not text:
        return None
    match = FORM.fullmatch(text.strip())
    hours = [int(number) for number in match.groups()] if match else []
    if not hours or max(hours[0], hours[2]) > 23 or max(hours[1], hours[3]) > 59:
        raise ConfigError(f"sleep_schedule must be hours such as 23:00-06:30, not '{text}'.")
    schedule = Schedule(60 * hours[0] + hours[1], 60 * hours[2] + hours[3])
    if schedule.begin == schedule.end:
        raise ConfigError("sleep_schedule must not begin and end at the same time.")
    return schedule


@dataclass(frozen=True)
class RestState:
    """What decides whether an assistant sleeps."""

    asleep: bool
    scheduled: bool  # it has a reason to sleep, such as its hours
    quiet_s: float  # since anybody spoke to it or near it
    woken_s: float | None = None  # since it woke, None if not since the start


def next_mode(state: RestState, calm_s: float) -> str:
    """Return `AWAKE` or `ASLEEP`; it falls asleep after ``calm_s`` of quiet and of being awake."""
    if not state.scheduled:
        return AWAKE
    if state.asleep:
        return ASLEEP
    woken_long_ago = state.woken_s is None or state.woken_s >= calm_s
    return ASLEEP if state.quiet_s >= calm_s and woken_long_ago else AWAKE


@dataclass(frozen=True)
class BedtimeState:
    """What decides whether an assistant may fall asleep by its own wish."""

    unanswered: int = 0  # lines that wait for a turn
    addressed_s: float | None = None  # since others than this turn's speakers did
    woken_s: float | None = None  # since it woke, None for long
    refused: bool = False  # a speaker of this turn may not send it to sleep


def why_not_to_bed(state: BedtimeState) -> str:
    """Return why it must stay awake, as a sentence for the model; empty if it may sleep."""
    if state.refused:
        return "You do not go to sleep because of what was just said to you."
    if state.unanswered:
        return "Somebody spoke to you and has no answer yet: answer first."
    if state.addressed_s is not None and state.addressed_s < ADDRESSED_S:
        return "Somebody talked with you a moment ago: wait until it is quiet."
    if state.woken_s is not None and state.woken_s < STAY_AWAKE_S:
        return "You have only just woken up: you are not tired."
    return ""


Figures = dict[str, Any]
# Title, and format for the figures, of each sleep step by its name; both may be empty.
StepTexts = Mapping[str, tuple[str, str]]

# Results under these keys are texts of the code, which quote nobody.
TEXT_KEYS = ("reason", "rung", "stopped_by")
TEXT_CHARS = 200
DONE, WOKEN, STOPPED, INTERRUPTED = "done", "woken", "stopped", "interrupted"

REASONS = {
    HOURS: "in its hours",
    NAP: "a nap, with nobody near",
    ORDER: "it was told to",
    WISH: "it wanted to",
}
OUTCOMES = {
    DONE: "done after {took_s:.1f} s",
    WOKEN: "broken off after {took_s:.1f} s, since it was woken",
    STOPPED: "broken off after {took_s:.1f} s, since it was stopped",
    INTERRUPTED: "interrupted by the server's stop, {took_s:.1f} s or more after its start",
}
NOTES = ("repaired", "refused", "cut_off")  # figures that are added to a step's sentence
# Figures that do not show that a step changed anything.
BACKGROUND = frozenset({"success", "running", "kept", "left", "iterations", "calls", *TEXT_KEYS})


def split_result(result: Mapping[str, Any]) -> tuple[Figures, str]:
    """Split a step's result into figures, which quote nobody, and its error, which may."""
    # Of a list or other collection its length is kept.
    figures: Figures = {}
    for key, value in result.items():
        if value is None or isinstance(value, bool | int):
            figures[str(key)] = value
        elif isinstance(value, float):
            figures[str(key)] = round(value, 3) if math.isfinite(value) else None
        elif isinstance(value, str):
            if key in TEXT_KEYS:
                figures[key] = clean_heard(value, TEXT_CHARS)
        elif hasattr(value, "__len__"):
            figures[str(key)] = len(value)
    return figures, clean_heard(str(result.get("error") or ""), TEXT_CHARS)


def describe_step(texts: StepTexts, name: str, figures: Mapping[str, Any], error: str = "") -> str:
    """Return what one step did, as a line: its title, then its result."""
    title, sentence = texts.get(name, ("", ""))
    title, details = title or plain(name), ""
    if error or figures.get("success") is False:
        return f"{title}: failed, {error or 'for a reason that stands in the log'}"
    if figures.get("skipped"):
        return f"{title}: not done, {figures.get('reason') or 'for no reason given'}"
    with suppress(KeyError, ValueError, TypeError):
        details = sentence.format(**figures)
    if not details:
        return f"{title}: {list_figures(figures) or 'nothing to do'}"
    notes = list_figures({name: figures.get(name) for name in NOTES})
    return f"{title}: {details}; {notes}" if notes else f"{title}: {details}"


def list_figures(figures: Mapping[str, Any]) -> str:
    """Return the figures that are not zero as a list in words, empty for none."""
    counts = {key: value for key, value in figures.items() if key != "success" and value}
    return ", ".join(
        plain(key) if value is True else f"{plain(key)} {value}" for key, value in counts.items()
    )


def plain(name: str) -> str:
    return name.replace("_", " ")


def summarise_pass(
    texts: StepTexts, results: Mapping[str, Mapping[str, Any]], errors: Mapping[str, str]
) -> str:
    """Return a pass as a line: what was done, then what failed."""
    done = [
        describe_step(texts, name, figures)
        for name, figures in results.items()
        if name not in errors
        and not figures.get("skipped")
        and any(figures[key] for key in figures.keys() - BACKGROUND)  # it changed something
    ]
    failed = [describe_step(texts, name, {}, error) for name, error in errors.items()]
    return "; ".join([*done, *failed]) or "nothing was to be done"


def describe_cost(cost: Mapping[str, Any]) -> str:
    """Return the cost of a pass in words: model calls and tokens."""
    calls = cost.get("calls") or 0
    if not calls:
        return "no model calls"
    tokens = (cost.get("prompt_tokens") or 0) + (cost.get("completion_tokens") or 0)
    return f"{calls} model call{'s' if calls > 1 else ''}, {tokens:,} tokens"

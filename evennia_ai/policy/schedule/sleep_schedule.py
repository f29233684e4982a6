"""Decide when a character sleeps and wakes. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from evennia_ai.errors import ConfigError

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
FORM = re.compile(r"\s*(\d{1,2}):(\d{2})\s*-\s*(\d{1,2}):(\d{2})\s*")


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
    found = FORM.fullmatch(text)
    hours = [int(number) for number in found.groups()] if found else []
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

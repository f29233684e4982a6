"""When a character sleeps: by the hour, and with nobody to keep it awake."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, time

from evennia_ai.errors import ConfigError

AWAKE, ASLEEP = "awake", "sleep"
CONSOLIDATING, DREAMING = "consolidating", "dreaming"
FORM = re.compile(r"\s*(\d{1,2}):(\d{2})\s*-\s*(\d{1,2}):(\d{2})\s*")


@dataclass(frozen=True)
class Schedule:
    """The hours of sleep of a day; over midnight where ``end`` is before ``begin``."""

    begin: time
    end: time

    def holds(self, now: datetime) -> bool:
        """True where ``now``, in the schedule's own time, is an hour of sleep."""
        clock = now.time().replace(tzinfo=None)
        if self.begin <= self.end:
            return self.begin <= clock < self.end
        return clock >= self.begin or clock < self.end


def read_schedule(text: str | None) -> Schedule | None:
    """Read ``23:00-06:30``, None for no schedule; raises ConfigError."""
    if not text:
        return None
    found = FORM.fullmatch(text)
    hours = [int(number) for number in found.groups()] if found else [24, 0, 24, 0]
    try:
        schedule = Schedule(time(hours[0], hours[1]), time(hours[2], hours[3]))
    except ValueError:
        raise ConfigError(
            f"sleep_schedule must be hours such as 23:00-06:30, not '{text}'."
        ) from None
    if schedule.begin == schedule.end:
        raise ConfigError("sleep_schedule must not begin and end at the same time.")
    return schedule


@dataclass(frozen=True)
class RestState:
    """What decides over sleep, at one moment.

    ``quiet_s`` is how long nothing has been said to it or near it; ``scheduled`` True in its hours
    of sleep; ``woken_s`` how long ago it was woken within them, None where it was not. That
    somebody waits for an answer is no part of it: who is spoken to wakes by that.
    """

    asleep: bool
    scheduled: bool
    quiet_s: float
    woken_s: float | None = None


def next_mode(state: RestState, calm_s: float) -> str:
    """Whether it should be awake or asleep now.

    Args:
        state: see `RestState`.
        calm_s: how long it must have been quiet before it falls asleep in its hours; who was woken
            goes back to sleep after as long.
    """
    if not state.scheduled:
        return AWAKE
    if state.asleep:
        return ASLEEP
    woken_long_ago = state.woken_s is None or state.woken_s >= calm_s
    return ASLEEP if state.quiet_s >= calm_s and woken_long_ago else AWAKE

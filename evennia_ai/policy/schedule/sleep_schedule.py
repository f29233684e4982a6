"""When a character sleeps: by the hour, and with nobody to keep it awake."""

from __future__ import annotations

import re
from dataclasses import dataclass

from evennia_ai.errors import ConfigError

AWAKE, ASLEEP = "awake", "sleep"
CONSOLIDATING, DREAMING = "consolidating", "dreaming"
# Why it sleeps. In its hours and for a nap it wakes by itself; else when it is woken.
HOURS, NAP, ORDER, WISH = "hours", "nap", "order", "wish"
UNTIL_WOKEN = (ORDER, WISH)
REAL, GAME = "real", "game"
NOBODY, STAFF, ANYBODY = "nobody", "staff", "anybody"
DAY_MINUTES = 24 * 60
# How long it stays awake before it may go to sleep by itself.
STAY_AWAKE_S = 600.0
ADDRESSED_S = 60.0
FORM = re.compile(r"\s*(\d{1,2}):(\d{2})\s*-\s*(\d{1,2}):(\d{2})\s*")


@dataclass(frozen=True)
class Schedule:
    """The hours of sleep of a day, in minutes since its midnight; over midnight where ``end`` is
    before ``begin``."""

    begin: int
    end: int

    def holds(self, minute: int) -> bool:
        """True where a minute of the day, in the schedule's own time, is one of sleep."""
        if self.begin <= self.end:
            return self.begin <= minute < self.end
        return minute >= self.begin or minute < self.end


def read_schedule(text: str | None) -> Schedule | None:
    """Read ``23:00-06:30``, None for no schedule; raises ConfigError."""
    if not text:
        return None
    found = FORM.fullmatch(text)
    if not found:
        raise wrong_hours(text)
    hours = [int(number) for number in found.groups()]
    schedule = Schedule(60 * hours[0] + hours[1], 60 * hours[2] + hours[3])
    if max(hours[0], hours[2]) > 23 or max(hours[1], hours[3]) > 59:
        raise wrong_hours(text)
    if schedule.begin == schedule.end:
        raise ConfigError("sleep_schedule must not begin and end at the same time.")
    return schedule


def wrong_hours(text: str) -> ConfigError:
    """What to raise where a text holds no hours."""
    return ConfigError(f"sleep_schedule must be hours such as 23:00-06:30, not '{text}'.")


def minute_of_day(seconds: float) -> int:
    """The minute of a day, by the seconds since some midnight."""
    return int(seconds // 60) % DAY_MINUTES


@dataclass(frozen=True)
class RestState:
    """What decides over sleep, at one moment.

    ``quiet_s`` is how long nothing has been said to it or near it; ``scheduled`` True where it has
    a reason to sleep, such as its hours; ``woken_s`` how long ago it was woken, None where it was
    not. That somebody waits for an answer is no part of it: who is spoken to wakes by that.
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


@dataclass(frozen=True)
class BedtimeState:
    """What decides whether it may go to sleep of its own accord.

    ``unanswered`` counts the lines that wait for a turn; ``addressed_s`` is how long ago somebody
    spoke to it who does not ask it to sleep, ``woken_s`` how long it has been awake, both None for
    long ago; ``refused`` is True where somebody's words are in the turn on whose word it does not
    sleep.
    """

    unanswered: int = 0
    addressed_s: float | None = None
    woken_s: float | None = None
    refused: bool = False


def why_not_to_bed(state: BedtimeState) -> str:
    """Why it stays awake, in a sentence for the model; empty where it may sleep."""
    if state.refused:
        return "You do not go to sleep because of what was just said to you."
    if state.unanswered:
        return "Somebody spoke to you and has no answer yet: answer first."
    if state.addressed_s is not None and state.addressed_s < ADDRESSED_S:
        return "Somebody talked with you a moment ago: wait until it is quiet."
    if state.woken_s is not None and state.woken_s < STAY_AWAKE_S:
        return "You have only just woken up: you are not tired."
    return ""

"""The game's world as the engine sees it: a character, and the world's time and calendar.

The log keeps UTC beside the world's time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Protocol

from twisted.logger import Logger

from evennia_ai.messages import IncomingEvent, Situation
from evennia_ai.policy.retrieval.time_expressions import DAY_S, UNITS, age_in_words
from evennia_ai.ports.goal_records import DayPlan, Goals
from evennia_ai.ports.journal import Journal
from evennia_ai.ports.profiles import EntityProfiles

log = Logger()

EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  # the world's time knows no zone
# A prompt tells the quarter of an hour, or the hour in a world that runs faster: each change of
# the told time costs a scene.
QUARTERS_UPTO = 4.0
STOP_S = 120.0  # a shorter stop of the server is not noted
MOST_PIECES = 100


class WorldDate(NamedTuple):
    """A moment in a calendar: ``month`` and ``day`` count from 1, ``weekday`` from 0."""

    year: int
    month: int
    day: int
    weekday: int
    hour: int
    minute: int


class Piece(NamedTuple):
    """A stretch of time in which the world ran evenly.

    ``since`` is its start in unix seconds, ``passed`` the world's seconds until then, ``pace`` the
    world's seconds in a second, 0 in a stop. ``runtime`` is the seconds that the server had run
    at the start, None if the world runs on while the server is down.
    """

    since: float
    passed: float
    pace: float
    runtime: float | None


class TimeSource:
    """Where a world's time comes from: here the machine's clock, in UTC.

    ``pace`` is the world's seconds in a second, ``units`` the seconds of each unit of its calendar;
    ``is_real`` is True without a time of its own.
    """

    is_real: bool = True
    pace: float = 1.0
    units: Mapping[str, float] = UNITS

    def __init__(self, now: Callable[[], datetime]) -> None:
        self.now = now

    def seconds(self) -> float:
        """Return the world's time now, in its seconds since 1970 or the start of its calendar."""
        return self.now().timestamp()


class WorldClock:
    """Tells the world's time; a game's own class is named in ``AI_ASSISTANT["WORLD_CLOCK"]``.

    A game may change the names, ``day_parts`` (the hours of 24 at which parts of a day begin),
    ``units`` (the seconds of a minute, hour, day, week, month and year), ``pace`` and the methods
    `seconds`, `date`, `describe`, `day_name` and `occasion`.
    """

    weekdays: Sequence[str] = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
    months: Sequence[str] = (
        "January February March April May June July August September October November December"
    ).split()
    day_parts: Mapping[str, float] = {
        "dawn": 6, "morning": 8, "noon": 12, "afternoon": 15,
        "dusk": 18, "evening": 19, "night": 21, "midnight": 24,
    }  # fmt: skip

    def __init__(self, source: TimeSource) -> None:
        self.source = source
        self.pieces: Sequence[Piece] = ()  # how its time ran, oldest first

    @property
    def units(self) -> Mapping[str, float]:
        return self.source.units

    @property
    def pace(self) -> float:
        return self.source.pace

    def seconds(self) -> float:
        """Return the world's time now, in its seconds since 1970 or the start of its calendar."""
        return self.source.seconds()

    def date(self, seconds: float) -> WorldDate:
        """Return a moment in the calendar: the standard one, or by the length of its ``units``."""
        units = self.units
        if units is UNITS:
            try:
                at = EPOCH + timedelta(seconds=seconds)
                return WorldDate(at.year, at.month, at.day, at.weekday(), at.hour, at.minute)
            except OverflowError:  # before the year 1, or after 9999
                pass
        year, in_year = divmod(seconds, units["year"])
        month, in_month = divmod(in_year, units["month"])
        day, in_day = divmod(in_month, units["day"])
        hour, in_hour = divmod(in_day, units["hour"])
        weekday, minute = in_month % units["week"] // units["day"], in_hour // units["minute"]
        numbers = (year, month + 1, day + 1, weekday, hour, minute)
        return WorldDate(*map(int, numbers))

    def describe(self, date: WorldDate) -> str:
        """Return a moment as a prompt tells it: "Monday, 3 June 1340, 21:15, Midsummer"."""
        weekday = self.weekdays[date.weekday] if self._fits(self.weekdays, "week", "day") else ""
        day = "" if self.source.is_real else self.day_name(date)
        parts = (weekday, day, f"{date.hour:02d}:{date.minute:02d}", self.occasion(date))
        return ", ".join(filter(None, parts))

    def day_name(self, date: WorldDate) -> str:
        """Return a day as a prompt tells it: "3 June 1340"."""
        named = self._fits(self.months, "year", "month")
        month = self.months[date.month - 1] if named else f"of month {date.month},"
        return f"{date.day} {month} {date.year}"

    def occasion(self, date: WorldDate) -> str:
        """Return what is special of a moment, such as its season or a festival; "" by default."""
        return ""

    def _fits(self, names: Sequence[str], whole: str, part: str) -> bool:
        return len(names) == round(self.units[whole] / self.units[part])

    def moment(self) -> str:
        """Return the present moment as a prompt tells it; "" if the game's own class fails."""
        seconds, hour = self.seconds(), self.units["hour"]
        step = hour / 4 if self.pace <= QUARTERS_UPTO else hour
        return self._told(self.describe, seconds - seconds % step)

    def shown(self) -> str:
        """Return the present moment to the minute, as staff read it; "" as `moment`."""
        return self._told(self.describe, self.seconds())

    def day(self, at: datetime) -> str:
        """Return the world's day at a moment of the log; "an earlier day" if that fails."""
        return self._told(self.day_name, self.seconds() - self.passed(at)) or "an earlier day"

    def _told(self, tell: Callable[[WorldDate], str], seconds: float) -> str:
        try:
            return tell(self.date(seconds))
        except Exception:  # noqa: BLE001  # a game's own class may raise anything
            log.failure("the game's WORLD_CLOCK failed; the prompt does without this time")
            return ""

    def minute(self) -> int:
        """Return the minute of the world's day, from 0."""
        in_day = self.seconds() % self.units["day"]
        hour, in_hour = divmod(in_day, self.units["hour"])
        return int(60 * hour + in_hour // self.units["minute"])

    def passed(self, at: datetime) -> float:
        """Return the world's seconds since a moment of the log, 0 for one in the future."""
        now = self.source.now().timestamp()
        return float(max(0.0, self.elapsed(now) - self.elapsed(at.timestamp())))

    def elapsed(self, at: Any) -> Any:
        """Return a moment, in unix seconds, on a scale that only grows as the world's time does.

        Neither a new date nor a new pace of the world changes it for what is past. Of an array of
        moments, it returns an array.
        """
        first, *later = self.pieces or [Piece(0.0, 0.0, self.pace, None)]
        passed = first.passed + first.pace * (at - first.since)
        for piece in later:  # the newest that begins before the moment holds
            here = piece.passed + piece.pace * (at - piece.since)
            passed = passed + (at >= piece.since) * (here - passed)
        return passed

    def days_at(self, at: Any) -> Any:
        """Return moments of the log, in unix seconds, in the world's time, a day as 86,400 s."""
        passed = self.elapsed(self.source.now().timestamp())
        return (self.seconds() - passed + self.elapsed(at)) * (DAY_S / self.units["day"])

    def age(self, at: datetime) -> str:
        """Return how long ago a moment of the log was in the world: "two days ago"."""
        return age_in_words(self.passed(at), self.units)

    def resume(self, before: Sequence[Piece], runtime: float, stops: bool) -> None:
        """Take up what is known of how the world's time ran, and note what changed until now.

        ``runtime`` is the seconds that the server has run. ``stops`` is True if the world does not
        go on while the server is down.
        """
        self.pieces, now = before, self.source.now().timestamp()
        last = before[-1] if before else None
        if last is not None and last.runtime is not None:
            stopped_at = last.since + max(0.0, runtime - last.runtime)
            if now - stopped_at > STOP_S:
                stop = Piece(stopped_at, self.elapsed(stopped_at), 0.0, runtime)
                self.pieces = [*before, stop]
        new = Piece(now, self.elapsed(now), self.pace, runtime if stops else None)
        known = self.pieces[-1] if self.pieces else None
        if known is None or (known.pace, known.runtime is None) != (new.pace, not stops):
            self.pieces = [*self.pieces, new][-MOST_PIECES:]


def utc_clock(now: Callable[[], datetime]) -> WorldClock:
    """Return the clock of a world without a time of its own."""
    return WorldClock(TimeSource(now))


class Character(Protocol):
    """What the engine, the tools and the commands use of an `AssistantCharacter`."""

    db: Any
    ndb: Any

    @property
    def id(self) -> int: ...
    @property
    def pk(self) -> int | None: ...  # None once it is deleted
    @property
    def dbref(self) -> str: ...  # such as ``#7``
    @property
    def key(self) -> str: ...  # its name
    @property
    def location(self) -> Any: ...  # None if it is nowhere
    @property
    def contents(self) -> Any: ...
    @property
    def has_account(self) -> bool: ...  # True while a player controls it
    @property
    def assistant(self) -> Any: ...  # its `AssistantScript`, None without one
    @property
    def journal(self) -> Journal: ...
    @property
    def ai_profiles(self) -> EntityProfiles: ...
    @property
    def ai_goals(self) -> Goals: ...
    @property
    def ai_plan(self) -> DayPlan: ...
    def ai_perceived(
        self, kind: str, actor: Any, item: Any = None, since: datetime | None = None
    ) -> bool: ...
    def at_ai_hear(self, event: IncomingEvent) -> IncomingEvent | None: ...
    def at_ai_pre_act(self, tool: str, args: dict[str, Any]) -> bool | None: ...
    def at_ai_situation(self, situation: Situation) -> Situation: ...
    def at_ai_describe_self(self) -> str: ...
    def at_ai_say(self, text: str) -> str: ...
    def at_ai_thinking(self, seconds: float) -> str | None: ...
    def at_pre_say(self, message: str, **kwargs: Any) -> str | None: ...  # empty forbids the words
    def at_say(self, message: str, **kwargs: Any) -> None: ...

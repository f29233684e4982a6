"""Times in words, such as "tomorrow at dusk", in the world's time and calendar.

In English and German, with the names of the days that the world's calendar has.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from evennia_ai.policy.retrieval.languages import COUNTS, WEEKDAYS
from evennia_ai.policy.retrieval.time_expressions import UNITS, find_spans
from evennia_ai.policy.texts import one_of
from evennia_ai.ports.world import WorldClock

FORMS = "18:30, dusk, tomorrow 9:00, Friday noon, in 2 hours, in 3 days"
COUNT = rf"(?:(?P<number>\d{{1,3}})|(?P<word>{one_of('|'.join(COUNTS))}))"
UNIT_NAMES = {
    "minute": "min(?:ute)?s?|minuten",
    "hour": "hours?|stunden?",
    "day": "days?|tage?n?",
    "week": "weeks?|wochen?",
}
UNIT = "|".join(f"(?P<{name}>{words})" for name, words in UNIT_NAMES.items())
AFTER = re.compile(rf"\bin\s+(?:about\s+)?{COUNT}\s+(?:{UNIT})\b", re.I)
HALF_HOUR = re.compile(r"\bin (?:half an hour|einer halben stunde)\b", re.I)
CLOCK = re.compile(
    r"(?<![\d:.])(?P<hour>[01]?\d|2[0-4])(?::(?P<minute>[0-5]\d)(?![\d:])|(?=\s*[ap]\.?m\b)|"
    r"(?=\s*(?:o'clock|uhr)\b))\s*(?P<half>[ap]\.?m\b)?(?:\s*(?:o'clock|uhr)\b)?",
    re.I,
)
DAYS = {
    r"(?:the )?day after tomorrow|übermorgen": 2,
    r"tomorrow|(?<!am )(?<!guten )morgen": 1,
    r"today|tonight|heute": 0,
}
DAY_WORDS = {re.compile(rf"\b(?:{words})\b", re.I): days for words, days in DAYS.items()}
# The hour, of 24, at which a part of the day begins; a greeting names none.
PARTS = {
    r"dawn|sunrise|daybreak|first light|morgengrauen|sonnenaufgang": 6,
    r"(?<!good )morning|(?<=am )morgen|(?<=morgen )früh|vormittags?": 9,
    r"noon|midday|mittags?": 12,
    r"(?<!good )afternoon|nachmittags?": 15,
    r"dusk|sunset|sundown|nightfall|(?:abend)?dämmerung|sonnenuntergang": 18,
    r"(?<!good )evening|(?<!guten )abends?": 19,
    r"tonight|(?<!good )night|nachts?": 21,
    r"midnight|mitternacht": 24,
}
PART_WORDS = {re.compile(rf"\b(?:{words})\b", re.I): hour for words, hour in PARTS.items()}
NOON = 12
SMALL = frozenset("at on the in by around about next this um am gegen zur bei der den and".split())


class NamedTime(NamedTuple):
    """A time that some words name: the world's seconds, and the words beside it."""

    at: float
    rest: str

    @property
    def is_all(self) -> bool:
        """Return True if the words name nothing but the time."""
        return set(re.findall(r"\w+", self.rest.lower())) <= SMALL


class TextReader:
    """Takes what it finds out of a text."""

    def __init__(self, text: str) -> None:
        self.rest = text

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.search(self.rest)
        if match:
            self.rest = f"{self.rest[: match.start()]} {self.rest[match.end() :]}"
        return match


def find_time(text: str, clock: WorldClock) -> NamedTime | None:
    """Return the time to come that a text names; None for none, and for one that is past."""
    now, reader = clock.seconds(), TextReader(text)
    if any(span.end <= UNITS["year"] * 30 for span in find_spans(text, UNITS["year"] * 30)):
        return None
    if after := seconds_after(reader, clock):
        return NamedTime(now + after, reader.rest)
    part = next((hour for words, hour in PART_WORDS.items() if words.search(reader.rest)), None)
    days, in_week = find_day(reader, clock)
    hour = find_hour(reader, clock, part)
    for words in PART_WORDS:
        reader.take(words)
    if hour is None and days in (None, 0):
        return None
    day_s = clock.units["day"]
    midnight = now - now % day_s
    at = (now if hour is None else midnight + hour) + (days or 0) * day_s
    if at <= now and days is None:
        half_s = day_s / 2
        is_half = part is None and hour is not None and hour <= half_s and ":" not in text
        at += half_s if is_half and at + half_s > now else day_s
    elif at <= now and in_week:
        at += clock.units["week"]
    return NamedTime(at, reader.rest) if at > now else None


def seconds_after(reader: TextReader, clock: WorldClock) -> float:
    """Return the world's seconds that "in two hours" names, 0 for none."""
    if reader.take(HALF_HOUR):
        return clock.units["hour"] / 2
    match = reader.take(AFTER)
    if match is None:
        return 0.0
    number = int(match["number"] or COUNTS[match["word"].lower()])
    unit = next(name for name in UNIT_NAMES if match[name])
    return number * clock.units[unit]


def find_day(reader: TextReader, clock: WorldClock) -> tuple[int | None, bool]:
    """Return in how many days a named day is, None for none; and whether it is one of a week."""
    for words, days in DAY_WORDS.items():
        if reader.take(words):
            return days, False
    today, names = clock.date(clock.seconds()).weekday, list(weekday_patterns(clock))
    for number, words in enumerate(names):
        if reader.take(words):
            return (number - today) % len(names), True
    return None, False


def weekday_patterns(clock: WorldClock) -> Iterator[re.Pattern[str]]:
    """Yield a pattern for each day of the week, in the languages of the standard calendar."""
    is_standard = list(clock.weekdays) == list(WorldClock.weekdays)
    for names in WEEKDAYS if is_standard else map(re.escape, clock.weekdays):
        yield re.compile(rf"\b(?:{names})\b", re.I)


def find_hour(reader: TextReader, clock: WorldClock, part: int | None) -> float | None:
    """Return the world's seconds of a day that a clock's time names, or a part of the day."""
    match = reader.take(CLOCK)
    if match is None:
        return None if part is None else part / 24 * clock.units["day"]
    hour = int(match["hour"])
    half = (match["half"] or "").lower()
    if half:
        hour = hour % NOON + NOON * half.startswith("p")
    elif hour < NOON and part is not None and part > NOON and part < 24:
        hour += NOON
    return hour * clock.units["hour"] + int(match["minute"] or 0) * clock.units["minute"]

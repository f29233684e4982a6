"""Times in words, such as "tomorrow at dusk", in the world's time and calendar.

In English and German, with the names of the days that the world's calendar has.
"""

import re
from typing import NamedTuple

from evennia_ai.policy.facts.terms import with_digits
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
AFTER = re.compile(
    rf"\b(?P<in>in\s+(?:about\s+)?)?{COUNT}\s+(?:{UNIT})\b(?(in)|\s+(?:from now|hence)\b)", re.I
)
HALF_HOUR = re.compile(r"\bin (?:half an hour|einer halben stunde)\b", re.I)
CLOCK = re.compile(
    r"(?<![\d:.])(?P<hour>[01]?\d|2[0-4])(?::(?P<minute>[0-5]\d)(?![\d:])|"
    r"(?=\s*(?:[ap]\.?m\b|o'clock|uhr\b)))\s*(?P<half>[ap]\.?m\b)?(?P<spoken>\s*(?:o'clock|uhr\b))?",
    re.I,
)
# "half past six" and "at eight" as times of the clock.
PAST = re.compile(r"\b(?P<how>half past|quarter past|quarter to|halb) (?P<hour>\d{1,2})\b", re.I)
PASSED = {"half past": 30, "quarter past": 15, "quarter to": -15, "halb": -30}
BARE = re.compile(
    r"\b(?:at|by|um|gegen) (\d{1,2})(?=\s*(?:[.,!?;]|$|"
    r"(?:tonight|tomorrow|today|in the|on|sharp|this|morgen|heute|abends|früh)\b))",
    re.I,
)
DAYS = {
    r"(?:the )?day after tomorrow|übermorgen": 2,
    r"tomorrow|(?<!am )(?<!guten )morgen": 1,
    r"today|tonight|heute": 0,
    r"next week|nächste woche": 7,
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
    r"after dark": 20,
    r"tonight|(?<!good )night|nachts?": 21,
    r"midnight|mitternacht": 24,
}
PART_WORDS = {re.compile(rf"\b(?:{words})\b", re.I): hour for words, hour in PARTS.items()}
NOON = 12
SOME_DAY = UNITS["day"] * 10_000  # for which a past time is looked for
SMALL = frozenset(
    "at on the in by before until till around about next this and um am gegen zur bei bis vor der "
    "den".split()
)


class NamedTime(NamedTuple):
    """A time that a text names: the world's seconds, and the text beside it."""

    at: float
    rest: str

    @property
    def is_all(self) -> bool:
        """Return True if the text names nothing but the time."""
        return set(re.findall(r"\w+", self.rest.lower())) <= SMALL


def find_time(text: str, clock: WorldClock) -> NamedTime | None:
    """Return the time to come that a text names; None for none, and for one that is past."""
    if any(span.end <= SOME_DAY for span in find_spans(text, SOME_DAY)):
        return None
    now, units = clock.seconds(), clock.units
    text = BARE.sub(r"\1 o'clock", PAST.sub(past_hour, with_digits(text)))
    after, rest = take(HALF_HOUR, text)
    if after:
        return NamedTime(now + units["hour"] / 2, rest)
    after, rest = take(AFTER, text)
    if after:
        number = int(after["number"] or COUNTS[after["word"].lower()])
        return NamedTime(now + number * units[next(n for n in UNIT_NAMES if after[n])], rest)
    days, is_weekday, rest = find_day(text, clock)
    part = next((hour for words, hour in PART_WORDS.items() if words.search(text)), None)
    match, rest = take(CLOCK, rest)
    hour = hour_of(match, part, clock)
    for words in PART_WORDS:
        rest = take(words, rest)[1]
    if hour is None and not days and not is_weekday:
        return None
    midnight = now - now % units["day"]
    at = (now if hour is None else midnight + hour) + (days or 0) * units["day"]
    if at <= now and is_weekday:
        at += units["week"]
    elif at <= now and days is None:
        is_half = match and match["spoken"] and not (match["half"] or part)
        at += units["day"] / 2 if is_half and at + units["day"] / 2 > now else units["day"]
    return NamedTime(at, rest) if at > now else None


def past_hour(match: re.Match[str]) -> str:
    minutes = 60 * int(match["hour"]) + PASSED[match["how"].lower()]
    return f"{minutes // 60}:{minutes % 60:02d} o'clock"


def take(pattern: re.Pattern[str], text: str) -> tuple[re.Match[str] | None, str]:
    """Return the first match in a text, and the text without it."""
    match = pattern.search(text)
    return match, f"{text[: match.start()]} {text[match.end() :]}" if match else text


def find_day(text: str, clock: WorldClock) -> tuple[int | None, bool, str]:
    """Return in how many days a named day is, whether it is one of a week, and the other text."""
    for words, days in DAY_WORDS.items():
        match, rest = take(words, text)
        if match:
            return days, False, rest
    is_standard = list(clock.weekdays) == list(WorldClock.weekdays)  # known in more languages
    names = list(WEEKDAYS if is_standard else map(re.escape, clock.weekdays))
    for number, name in enumerate(names):
        match, rest = take(re.compile(rf"\b(?:{name})\b", re.I), text)
        if match:
            return (number - clock.date(clock.seconds()).weekday) % len(names), True, rest
    return None, False, text


def hour_of(match: re.Match[str] | None, part: int | None, clock: WorldClock) -> float | None:
    """Return the world's seconds of a day for a time of the clock, or for a part of the day."""
    if match is None:
        return None if part is None else part / 24 * clock.units["day"]
    hour, half = int(match["hour"]), (match["half"] or "").lower()
    if half:
        hour = hour % NOON + NOON * half.startswith("p")
    elif hour < NOON and part is not None and NOON < part < 24:
        hour += NOON
    return hour * clock.units["hour"] + int(match["minute"] or 0) * clock.units["minute"]

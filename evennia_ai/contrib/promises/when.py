"""Times in words, such as "tomorrow at dusk", in the world's time and calendar (``when.toml``)."""

import re
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from evennia_ai.policy.facts.terms import with_digits
from evennia_ai.policy.retrieval.languages import WEEKDAYS
from evennia_ai.policy.retrieval.time_expressions import UNITS, find_spans
from evennia_ai.policy.texts import one_of
from evennia_ai.ports.world import WorldClock

FORMS = "18:30, dusk, tomorrow 9:00, Friday noon, in 2 hours, in 3 days"
TABLES: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
SAME = [
    [(re.compile(rf"\b(?:{words})(?!\w)", re.I), same) for words, same in TABLES[table].items()]
    for table in ("spoken", "same")
]
DAY_WORDS, PART_WORDS = (
    {name: re.compile(rf"\b(?:{words})(?:ish)?\b", re.I) for name, words in TABLES[table].items()}
    for table in ("days", "parts")
)
NAMES = re.findall(r"\w{6,}", str([*TABLES["days"].values(), *TABLES["parts"].values()]))
NEAR, LONG = 0.8, re.compile(r"\b[^\W\d_]{6,}(?<!s)\b")  # that may be one of them, misspelled
NOON, NIGHT, MORE = 12, "night", 6
UNIT = "|".join(f"(?P<{name}>{words})" for name, words in TABLES["units"].items())
SPAN = rf"(?P<number>\d{{1,3}}(?:\.5)?)\s+(?:{UNIT})\b"
# "in two hours", "two hours from now", and "two hours" alone, but not "for two hours".
AFTER = re.compile(
    rf"(?P<in>\b(?:(?:with)?in|dans|en|dentro de|tra|fra)\s+(?:about\s+)?)?(?<!for )\b{SPAN}"
    rf"(?(in)|(?:\s+(?:from (?:now|today)|hence)\b|(?=\s*(?:[,.;:!?]|\Z|and\b))))",
    re.I,
)
PAST = re.compile(
    r"\b(?P<minutes>\d{1,2})(?: minutes?)? +(?P<side>past|to) +(?P<hour>\d{1,2})\b", re.I
)
# A bare number is an hour behind "at", or beside a named day (a `MARK`), but not before a noun.
MARK = "¦"
BESIDE = re.compile(rf"\b{SPAN}\s+(?:(?P<before>before|vor)|after|past|nach) {MARK}", re.I)
HOUR = re.compile(
    r"(?P<at>\b(?:at|by|until|till|before|after|around|about|from|strikes|um|gegen|bis|ab|vor) |@ ?"
    rf"|{MARK}[ ,]*)?"
    r"(?<![\d:.,])(?P<hour>[01]?\d|2[0-4])(?:[:.h]?(?P<minute>[0-5]\d))?(?![\d:]|\.\d)"
    r"(?:\s?(?P<half>[ap])\.? ?m\b\.?)?(?P<spoken>\s?(?:o'clock|uhr\b|sharp\b))?(?:ish\b)?"
    rf"(?=(?P<beside>[ ,]*(?:(?:in |on |the |this )*{MARK}|\Z|[,.;!?]))?)"
    r"(?!\s+(?!this\b)\w{3,}s\b)",
    re.I,
)
SOME_DAY = UNITS["day"] * 10_000  # for which a past time is looked for
SMALL = frozenset(
    "a al alle at las on the in by before until till around about next this and um am gegen zur "
    "bei bis vor der den de del du à".split()
)
MARKS = re.compile(rf"{MARK}(?:(?:[\s,]|{one_of('|'.join(SMALL))})*{MARK})+", re.I)


class NamedTime(NamedTuple):
    """A time that a text names: the world's seconds, and the text with `MARK` in its place."""

    at: float
    rest: str

    @property
    def is_all(self) -> bool:
        """Return True if the text names nothing but the time."""
        return set(re.findall(r"\w+", self.rest.lower())) <= SMALL


def find_time(text: str, clock: WorldClock) -> NamedTime | None:
    """Return the time to come that a text names, None if it names none, or a past one."""
    text = PAST.sub(as_clock, in_digits(text, clock))
    if any(span.end <= SOME_DAY for span in find_spans(text, SOME_DAY)):
        return None
    now, units = clock.seconds(), clock.units
    after, rest = take(AFTER, text)
    if after and not after["day"] and not after["week"]:
        return NamedTime(now + seconds_of(after, clock), MARKS.sub(MARK, rest))
    part = next((name for name, words in PART_WORDS.items() if words.search(rest)), None)
    days, is_weekday, rest = find_day(rest, clock, now)
    days = int(seconds_of(after, clock) // units["day"]) if after else days
    for words in PART_WORDS.values():
        rest = words.sub(MARK, rest)
    match = next(filter(is_hour, HOUR.finditer(rest)), None)
    if match:
        rest = f"{rest[: match.start('hour')]}{MARK}{rest[match.end() :]}"
    hour = hour_of(match, part, is_weekday or bool(days), clock)
    if hour is None and not days and not is_weekday:
        return None
    at = (now if hour is None else now - now % units["day"] + hour) + (days or 0) * units["day"]
    if hour is not None and (offset := BESIDE.search(rest)):
        at += seconds_of(offset, clock) * (-1 if offset["before"] else 1)
        rest = BESIDE.sub(MARK, rest)
    is_half = bool(match and is_spoken(match) and not (match["half"] or part or days))
    day, week = days is None and units["day"], is_weekday and units["week"]
    steps = (at + step for step in (0, is_half * units["day"] / 2, day, week))
    at = next((step for step in steps if step > now), now)
    return NamedTime(at, MARKS.sub(MARK, rest)) if at > now else None


def in_digits(text: str, clock: WorldClock) -> str:
    """Return a text with the times in it spelled in one way, also those that are misspelled."""
    names = (*NAMES, *map(str.lower, clock.weekdays))
    text = LONG.sub(lambda at: (get_close_matches(at[0].lower(), names, 1, NEAR) or at)[0], text)
    for table in SAME:
        for pattern, same in table:
            text = pattern.sub(same, text)
        text = with_digits(text)
    return text


def seconds_of(match: re.Match[str], clock: WorldClock) -> float:
    """Return the world's seconds of a match of `SPAN`."""
    unit = next(clock.units[name] for name in TABLES["units"] if match[name])
    return float(match["number"]) * unit


def as_clock(match: re.Match[str]) -> str:
    """Return "30 past 6" as "6:30 o'clock"."""
    minutes = int(match["minutes"]) * (1 if match["side"].lower() == "past" else -1)
    hour, minute = divmod(60 * int(match["hour"]) + minutes, 60)
    return f"{hour}:{minute:02d} o'clock"


def take(pattern: re.Pattern[str], text: str) -> tuple[re.Match[str] | None, str]:
    """Return the first match in a text, and the text with a mark in its place."""
    match = pattern.search(text)
    return match, f"{text[: match.start()]}{MARK}{text[match.end() :]}" if match else text


def find_day(text: str, clock: WorldClock, now: float) -> tuple[int | None, bool, str]:
    """Return in how many days a named day is, whether it is one of a week, and the other text."""
    for days, words in DAY_WORDS.items():
        match, rest = take(words, text)
        if match:
            return int(days), False, rest
    is_standard = list(clock.weekdays) == list(WorldClock.weekdays)  # known in more languages
    names = list(WEEKDAYS if is_standard else map(re.escape, clock.weekdays))
    for number, name in enumerate(names):
        match, rest = take(re.compile(rf"\b(?:{name})\b", re.I), text)
        if match:
            return (number - clock.date(now).weekday) % len(names), True, rest
    return None, False, text


def is_hour(match: re.Match[str]) -> bool:
    """Return True for a number that is a time of the clock."""
    is_beside = match["beside"] is not None and MARK in match.string
    return bool(match["at"] or match["minute"] or match["half"] or match["spoken"] or is_beside)


def is_spoken(match: re.Match[str]) -> bool:
    """Return True for a time that may be one of twelve hours: "six", but not "6:00"."""
    return bool(match["spoken"] or not match["minute"])


def hour_of(
    match: re.Match[str] | None, part: str | None, has_day: bool, clock: WorldClock
) -> float | None:
    """Return the world's seconds of a day for a time of the clock, or for a part of the day.

    What is spoken of a named day, such as "Friday at five", is in the afternoon up to six.
    """
    begin = clock.day_parts[part] if part else None
    if match is None:
        return None if begin is None else begin / 24 * clock.units["day"]
    hour, minute = int(match["hour"]), int(match["minute"] or 0)
    if match["half"]:
        hour = hour % NOON + NOON * (match["half"].lower() == "p")
    elif part == NIGHT and hour < MORE:
        hour += 2 * NOON
    elif hour < NOON and begin is not None:
        hour += NOON * (NOON < begin < 2 * NOON)
    elif hour <= MORE and has_day and is_spoken(match) and "uhr" not in match[0].lower():
        hour += NOON
    return hour * clock.units["hour"] + minute * clock.units["minute"]

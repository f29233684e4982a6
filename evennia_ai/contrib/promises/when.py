"""Times in words, such as "tomorrow at dusk", in the world's time and calendar (``when.toml``)."""

import re
import tomllib
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from evennia_ai.policy.facts.terms import with_digits
from evennia_ai.policy.records.record import Record
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
EXACT = frozenset({"midnight", "dawn", "dusk", "noon"})  # no part in which an hour lies
UNIT = "|".join(f"(?P<{name}>{words})" for name, words in TABLES["units"].items())
SPAN = rf"(?P<number>\d{{1,3}}(?:\.5)?)\s+(?:{UNIT})\b"
# "in two hours", "two hours from now", and "two hours" alone, but not "for two hours".
AFTER = re.compile(
    rf"(?P<in>\b(?:(?:with)?in|dans|en|dentro de|tra|fra)\s+(?:about\s+)?)?(?<!for )\b{SPAN}"
    rf"(?(in)|(?:\s+(?:from (?:now|today)|hence)\b|(?=\s*(?:[,.;:!?]|\Z|(?:and|n)\b))))",
    re.I,
)
# A bare number is an hour behind "at", or beside a named time (a mark), but not before a noun.
MARK, FIRST_MARK, A_MARK = "¦", 0xE000, "[\ue000-\uf8ff]"
BESIDE = re.compile(rf"\b{SPAN}\s+(?:(?P<before>before|to|vor)|after|past|nach) {A_MARK}", re.I)
HOUR = re.compile(
    r"(?P<at>\b(?:at|by|until|till|before|after|around|about|from|strikes|um|gegen|bis|ab|vor) |@ ?"
    rf"|{A_MARK}[ ,]*)?"
    r"(?<![\d:.,])(?P<hour>[01]?\d|2[0-4])(?:[:.h]?(?P<minute>[0-5]\d))?(?![\d:]|\.\d)"
    r"(?:\s?(?P<half>[ap])\.? ?m\b\.?)?(?P<spoken>\s?(?:o'clock|uhr\b|sharp\b))?(?:ish\b)?"
    rf"(?=(?P<beside>[ ,]*(?:(?:in |on |the |this )*{A_MARK}|\Z|[,.;!?]))?)"
    r"(?!\s+(?!this\b)\w{3,}s\b)",
    re.I,
)
SOME_DAY = UNITS["day"] * 10_000  # for which a past time is looked for
SMALL = frozenset(
    "a al alle at las on the in by before until till around about next this and um am gegen zur "
    "bei bis vor der den de del du à".split()
)
MARKS = re.compile(rf"{A_MARK}(?:(?:[\s,]|{one_of('|'.join(SMALL))})*{A_MARK})*", re.I)
DAY, PART, TIME = "day", "part", "time"


class NamedTime(NamedTuple):
    """A time that a text names: the world's seconds, and the text with `MARK` in its place."""

    at: float
    rest: str

    @property
    def is_all(self) -> bool:
        """Return True if the text names nothing but the time."""
        return set(re.findall(r"\w+", self.rest.lower())) <= SMALL


def due_words(record: Record, clock: WorldClock) -> str:
    """Return where and when a promise is due."""
    when = clock.describe(clock.date(record["due"]))
    return ", ".join(filter(None, (record["where"], when)))


def find_time(text: str, clock: WorldClock) -> NamedTime | None:
    """Return the time to come that a text names, None if it names none, or a past one.

    Of several, as in "not at noon, at dusk", that is the last one.
    """
    text = in_digits(text, clock)
    if any(span.end <= SOME_DAY for span in find_spans(text, SOME_DAY)):
        return None
    now, a_day, after = clock.seconds(), clock.units["day"], AFTER.search(text)
    if after and not after["day"] and not after["week"]:
        rest = AFTER.sub(chr(FIRST_MARK), text, 1)
        return NamedTime(now + seconds_of(after, clock), MARKS.sub(MARK, rest))
    rest, marks = mark_times(text, clock)
    last = dict(marks[char] for char in rest if char in marks)
    days, is_weekday = last.get(DAY, (None, False))
    match, part = last.get(TIME, (None, None))
    part = part or last.get(PART)
    hour = hour_of(match, part, is_weekday or bool(days), clock)
    if hour is None and not days and not is_weekday:
        return None
    is_bare = bool(match and is_spoken(match) and not (match["half"] or part))
    times = [item for kind, item in marks.values() if kind == TIME]
    hours = [hour_of(exact, name, False, clock) or 0.0 for exact, name in times]
    if hour and is_bare and hour < a_day / 2 < max(hours) < a_day:
        hour += a_day / 2  # "at 18:30. no, make it nine"
    at = (now if hour is None else now - now % a_day + hour) + (days or 0) * a_day
    if hour is not None and (offset := BESIDE.search(rest)):
        at += seconds_of(offset, clock) * (-1 if offset["before"] else 1)
        rest = BESIDE.sub(chr(FIRST_MARK), rest)
    day, week = days is None and a_day, is_weekday and clock.units["week"]
    steps = (at + step for step in (0, (is_bare and not days) * a_day / 2, day, week))
    at = next((step for step in steps if step > now), now)
    return NamedTime(at, MARKS.sub(MARK, rest)) if at > now else None


def mark_times(text: str, clock: WorldClock) -> tuple[str, dict[str, tuple[str, Any]]]:
    """Return a text with a character for each time in it, and the kind and value of each."""
    marks = dict[str, tuple[str, Any]]()

    def put(kind: str, value: Any, _match: Any) -> str:
        marks[char := chr(FIRST_MARK + len(marks))] = kind, value
        return char

    def put_hour(match: re.Match[str]) -> str:
        is_apart = marks or match.string[: match.start()].rstrip()[-1:] in (*",.;!?",)
        is_told = match["at"] or match["minute"] or match["half"] or match["spoken"]
        is_hour = is_told or (match["beside"] is not None and is_apart)
        return f"{match['at'] or ''}{put(TIME, (match, None), match)}" if is_hour else match[0]

    for name, words in PART_WORDS.items():
        kind, value = (TIME, (None, name)) if name in EXACT else (PART, name)
        text = words.sub(partial(put, kind, value), text)
    if after := AFTER.search(text):
        days = int(seconds_of(after, clock) // clock.units["day"])
        text = AFTER.sub(partial(put, DAY, (days, False)), text, 1)
    for number, words in DAY_WORDS.items():
        text = words.sub(partial(put, DAY, (int(number), False)), text)
    is_standard = list(clock.weekdays) == list(WorldClock.weekdays)  # known in more languages
    names = list(WEEKDAYS if is_standard else map(re.escape, clock.weekdays))
    for at, name in enumerate(names):
        days = (at - clock.date(clock.seconds()).weekday) % len(names)
        text = re.sub(rf"\b(?:{name})\b", partial(put, DAY, (days, True)), text, flags=re.I)
    return HOUR.sub(put_hour, text), marks


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
    if match["half"] and (begin or 0) <= NOON:  # not "um drei am Nachmittag"
        hour = hour % NOON + NOON * (match["half"].lower() == "p")
    elif part == NIGHT and hour < MORE:
        hour += 2 * NOON
    elif hour < NOON and begin is not None:
        hour += NOON * (NOON < begin < 2 * NOON)
    elif hour <= MORE and has_day and is_spoken(match) and "uhr" not in match[0].lower():
        hour += NOON
    return hour * clock.units["hour"] + minute * clock.units["minute"]

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
SPAN = rf"{COUNT}\s+(?:{UNIT})\b(?P<more>\s+and a half\b)?"
AFTER = re.compile(
    rf"\b(?P<in>(?:with)?in\s+(?:about\s+)?)?{SPAN}(?(in)|\s+(?:from now|hence)\b)", re.I
)
OFFSET = re.compile(rf"\b{SPAN}\s+(?P<side>before|after|past|vor|nach)\b", re.I)
# Spans of time that are told in other words.
WORDS = {
    r"(?:half an|einer halben|half a) (?:hour|stunde)": "30 minutes",
    r"(?:a )?quarter of an hour|einer viertelstunde": "15 minutes",
    r"a couple of (?=hours|days|minutes|weeks)": "2 ",
    r"(?:a )?fortnight": "2 weeks",
    r"o'? ?clock": "o'clock",
}
PLAIN = {re.compile(rf"\b(?:{words})\b" if plain[-1] != " " else rf"\b{words}", re.I): plain
         for words, plain in WORDS.items()}  # fmt: skip
CLOCK = re.compile(
    r"(?<![\d:.])(?P<hour>[01]?\d|2[0-4])(?:[:.h](?P<minute>[0-5]\d)(?![\d:])|"
    r"(?=\s?(?:[ap]\.?m\b|o'clock|uhr\b)))\s?(?P<half>[ap]\.?m\b)?(?P<spoken>\s?(?:o'clock|uhr\b))?",
    re.I,
)
# "half past six", "ten to six" and "at eight" as times of the clock; not "at eight coins".
PAST = re.compile(
    r"\b(?P<minutes>\d{1,2}|half|(?:a )?quarter)(?: minutes?)? (?P<side>past|to) "
    r"(?P<hour>\d{1,2})\b|"
    r"\b(?P<halb>halb|viertel nach|viertel vor) (?P<stunde>\d{1,2})\b",
    re.I,
)
HALF = re.compile(r"\bhalf (?=\d)", re.I)
PASSED = {"half": 30, "quarter": 15, "a quarter": 15}
GERMAN = {"halb": -30, "viertel nach": 15, "viertel vor": -15}
NO_HOUR = (
    r"(?![:.h]\d|\s*(?:[ap]\.?m\b|o'clock|uhr\b|minutes?\b|hours?\b|days?\b|weeks?\b|\w{3,}s\b))"
)
BARE = re.compile(
    r"(?:\b(?:at|by|till|until|before|around|about|from|um|gegen|bis|ab|vor) |(?<=night )|"
    rf"(?<=morrow )|(?<=day )|(?<=day, ))(?P<hour>\d{{1,2}})\b{NO_HOUR}|"
    r"\b(?P<loose>\d{1,2})(?=\s*(?:-?ish|sharp|tonight|tomorrow|"
    r"in the (?:morning|afternoon|evening))\b)",
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
    r"dawn|sun ?rise|sun-?up|daybreak|first light|cock ?crow|morgengrauen|sonnenaufgang": 6,
    r"(?<!good )morning|(?<=am )morgen|(?<=morgen )früh|vormittags?": 8,
    r"noon|midday|lunch(?:time)?|mittags?": 12,
    r"(?<!good )afternoon|nachmittags?": 15,
    r"dusk|sunset|sun-?down|nightfall|twilight|(?:abend)?dämmerung|sonnenuntergang": 18,
    r"(?<!good )evening|(?<!guten )abends?": 19,
    r"after dark": 20,
    r"tonight|(?<!good )night|nachts?": 21,
    r"midnight|mitternacht": 24,
}
PART_WORDS = {re.compile(rf"\b(?:{words})\b", re.I): hour for words, hour in PARTS.items()}
NOON, NIGHT = 12, 21
BEFORE = ("before", "vor")
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
    for words, plain in PLAIN.items():
        text = words.sub(plain, text)
    text = PAST.sub(past_hour, HALF.sub("half past ", with_digits(text)))
    text = BARE.sub(lambda match: f" {match['hour'] or match['loose']} o'clock", text)
    offset, rest = take(OFFSET, text)
    after, rest = take(AFTER, rest)
    part = next((hour for words, hour in PART_WORDS.items() if words.search(rest)), None)
    days, is_weekday, rest = find_day(rest, clock)
    if after and (after["minute"] or after["hour"]):
        return NamedTime(now + seconds_of(after, clock), rest)
    if after:
        days = int(seconds_of(after, clock) // units["day"])
    match, rest = take(CLOCK, rest)
    hour = hour_of(match, part, is_weekday or bool(days), clock)
    for words in PART_WORDS:
        rest = take(words, rest)[1]
    if hour is None and not days and not is_weekday:
        return None
    at = (now if hour is None else now - now % units["day"] + hour) + (days or 0) * units["day"]
    if offset:
        at += seconds_of(offset, clock) * (-1 if offset["side"].lower() in BEFORE else 1)
    if at <= now and is_weekday:
        at += units["week"]
    elif at <= now and days is None:
        is_half = match and match["spoken"] and not (match["half"] or part)
        at += units["day"] / 2 if is_half and at + units["day"] / 2 > now else units["day"]
    return NamedTime(at, rest) if at > now else None


def seconds_of(match: re.Match[str], clock: WorldClock) -> float:
    """Return the world's seconds of a match of `SPAN`."""
    number = int(match["number"] or COUNTS[match["word"].lower()])
    unit = next(name for name in UNIT_NAMES if match[name])
    return (number + 0.5 * bool(match["more"])) * clock.units[unit]


def past_hour(match: re.Match[str]) -> str:
    """Return "half past six" as "6:30 o'clock"."""
    if match["halb"]:
        minutes = 60 * int(match["stunde"]) + GERMAN[match["halb"].lower()]
    else:
        passed = PASSED.get(match["minutes"].lower()) or int(match["minutes"])
        minutes = 60 * int(match["hour"]) + passed * (1 if match["side"].lower() == "past" else -1)
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


def hour_of(
    match: re.Match[str] | None, part: int | None, has_day: bool, clock: WorldClock
) -> float | None:
    """Return the world's seconds of a day for a time of the clock, or for a part of the day.

    What is spoken of a named day, such as "Friday at five", is in the afternoon up to six.
    """
    if match is None:
        return None if part is None else part / 24 * clock.units["day"]
    hour, half = int(match["hour"]), (match["half"] or "").lower()
    if half:
        hour = hour % NOON + NOON * half.startswith("p")
    elif part == NIGHT and hour < 6:
        hour += 2 * NOON
    elif hour < NOON and part is not None:
        hour += NOON * (NOON < part < 2 * NOON)
    elif hour <= 6 and match["spoken"] and has_day and "uhr" not in match["spoken"].lower():
        hour += NOON
    return hour * clock.units["hour"] + int(match["minute"] or 0) * clock.units["minute"]

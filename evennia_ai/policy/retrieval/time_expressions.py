"""The spans of time that a question names, in Unix seconds (UTC).

English only; words of other languages match nothing. Relative words ("last week") need the time
when they were said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

DAY_S = 86_400.0
MONTHS = (
    "january february march april may june july august september october november december".split()
)
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
UNIT_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_MONTH = "|".join(MONTHS)
_DAY = r"(?P<{0}>\d{{1,2}})(?:st|nd|rd|th)?"

# Mostly verbs; they count as months only next to a number or after a word of time.
VERBS = ("may", "march")
DATE = re.compile(
    rf"\b(?:(?P<cue>in|of|since|until|during|last|this|on|around|early|late|mid)\s+)?"
    rf"(?:{_DAY.format('before')}\s+(?:of\s+)?)?(?P<month>{_MONTH})\b"
    rf"(?:\s+{_DAY.format('after')}(?!\d))?(?:,?\s+(?P<year>\d{{4}})\b)?",
    re.I,
)
YEAR = re.compile(r"\b(?:19|20)\d\d\b")
AGO = re.compile(rf"\b(\d{{1,3}}|{'|'.join(COUNTS)})\s+(day|week|month|year)s?\s+ago\b", re.I)
LAST = re.compile(rf"\blast\s+(day|week|month|year|night|{'|'.join(WEEKDAYS)})\b", re.I)
NEAR_DAYS = {"yesterday": 1, "today": 0, "tonight": 0, "this morning": 0}
NEAR = re.compile(rf"\b(?:{'|'.join(NEAR_DAYS)})\b", re.I)


class Span(NamedTuple):
    """A span of time from ``start`` up to ``end``, in Unix seconds."""

    start: float
    end: float

    @property
    def is_short(self) -> bool:
        """True for days and weeks, False for months and years."""
        return self.end - self.start <= 8 * DAY_S


def find_spans(text: str, now: float | None = None) -> tuple[Span, ...]:
    """Return the spans that a text names; without ``now`` only dates that have a year."""
    if now is not None and not -6e10 < now < 2e11:  # outside the range of datetime
        now = None
    return (*_dates(text, now), *(_relative(text, now) if now is not None else ()))


def _dates(text: str, now: float | None) -> Iterator[Span]:
    """Yield the days, months and years that a text names."""
    dated = False
    for found in DATE.finditer(text):
        day = found["before"] or found["after"]
        if found["month"].lower() in VERBS and not (found["cue"] or day or found["year"]):
            continue
        year = int(found["year"]) if found["year"] else _last_year_with(found["month"], now)
        span = _calendar_span(year, MONTHS.index(found["month"].lower()) + 1, int(day or 0))
        if span is not None:
            dated = True
            yield span
    if not dated:
        for found in YEAR.finditer(text):
            year = int(found[0])
            yield Span(_unix(datetime(year, 1, 1, tzinfo=UTC)), _start_of_month(year + 1, 1))


def _last_year_with(month: str, now: float | None) -> int:
    """Return the year of the latest such month, 0 without a current time."""
    if now is None:
        return 0
    today = datetime.fromtimestamp(now, UTC)
    return today.year - (MONTHS.index(month.lower()) + 1 > today.month)


def _calendar_span(year: int, month: int, day: int) -> Span | None:
    """Return a day, or a month if ``day`` is 0; None for an impossible date."""
    try:
        start = _unix(datetime(year, month, day or 1, tzinfo=UTC))
        following = (year, month + 1) if month < 12 else (year + 1, 1)
        return Span(start, start + DAY_S if day else _start_of_month(*following))
    except ValueError:
        return None


def _relative(text: str, now: float) -> Iterator[Span]:
    """Yield the spans counted back from the moment of speaking."""
    midnight = now - now % DAY_S
    for found in NEAR.finditer(text):
        yield _days_back(midnight, NEAR_DAYS[found[0].lower()], 1)
    for found in AGO.finditer(text):
        count = int(found[1]) if found[1].isdigit() else COUNTS[found[1].lower()]
        unit = UNIT_DAYS[found[2].lower()]
        yield _days_back(midnight, count * unit + unit // 2, unit)
    for found in LAST.finditer(text):
        yield _last(found[1].lower(), midnight)


def _last(word: str, midnight: float) -> Span:
    if word in WEEKDAYS:
        today = datetime.fromtimestamp(midnight, UTC).weekday()
        return _days_back(midnight, (today - WEEKDAYS.index(word) - 1) % 7 + 1, 1)
    days = UNIT_DAYS.get(word, 1)
    return _days_back(midnight, days + (days > 1) * (days // 2), days + (days > 1) * (days // 2))


def _days_back(midnight: float, back: int, length: int) -> Span:
    start = midnight - back * DAY_S
    return Span(start, start + length * DAY_S)


def _start_of_month(year: int, month: int) -> float:
    return _unix(datetime(year, month, 1, tzinfo=UTC))


def _unix(moment: datetime) -> float:
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(seconds=1)

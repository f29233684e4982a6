"""The filters of ``aihistory`` as a person types them: since, until, player, search."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

SINCE, UNTIL, PLAYER, SEARCH, PAGE = "since", "until", "player", "search", "page"
SWITCHES = (SINCE, UNTIL, PLAYER, SEARCH)
FILTERS = (*SWITCHES, PAGE)
NEXT = re.compile(rf"\s*,\s*(?=(?:{'|'.join(FILTERS)})\b)", re.I)
AGO = re.compile(r"(\d{1,4})\s*(m|h|d|w)(?:in|inutes?|ours?|ays?|eeks?)?s?(?:\s+ago)?", re.I)
UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
CLOCK = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d))?")
DATE = re.compile(r"(?:(\d{4})-)?(\d{1,2})-(\d{1,2})")
WHICH = {SINCE: "time", UNTIL: "time", PLAYER: "player", SEARCH: "words", PAGE: "page"}
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
TIMES = "'yesterday 18:00', '2026-11-20', '11-20 18:00', 'friday', '18:00' or '2 hours ago'"


@dataclass(frozen=True)
class LogFilter:
    """Which messages to show: from ``since`` up to ``until``, both in UTC."""

    since: datetime | None = None
    until: datetime | None = None
    player: str = ""  # as it was typed
    search: str = ""  # words that a message must hold
    page: int = 1

    @property
    def is_empty(self) -> bool:
        """Return True if every message fits."""
        return not (self.since or self.until or self.player or self.search)


def read_filter(typed: str, switches: Sequence[str], now: datetime) -> LogFilter:
    """Return the filter that was typed; raises ValueError with a sentence.

    Values come as ``since yesterday, player Ann``, or in the order of the switches. ``now`` is in
    the reader's zone.
    """
    values = split_values(typed.strip(), switches)
    since = read_time(values[SINCE], now)[0] if SINCE in values else None
    until = read_time(values[UNTIL], now, since)[1] if UNTIL in values else None
    if since and until and since >= until:
        raise ValueError(f"since {values[SINCE]} is not before until {values[UNTIL]}.")
    page = values.get(PAGE, "1")
    if not page.isdecimal() or not 0 < int(page) < 10**9:
        raise ValueError(f"'{page}' is no number. Use a whole number from 1.")
    start, end = (at.astimezone(UTC) if at else None for at in (since, until))
    return LogFilter(start, end, values.get(PLAYER, ""), values.get(SEARCH, ""), int(page))


def split_values(typed: str, switches: Sequence[str]) -> dict[str, str]:
    """Return the values by filter; raises ValueError."""
    first, *rest = NEXT.split(typed)
    pairs: list[tuple[str, str]] = []
    if not switches:
        rest = [f"{PAGE} {first}" if is_number(first) else first, *rest] if typed else []
    elif len(switches) == 1:
        pairs = [(switches[0], first)]
    else:
        given = first.split(",", len(switches) - 1)
        if len(given) != len(switches):
            raise ValueError(f"Give {len(switches)} values, with commas between them.")
        pairs = list(zip(switches, given, strict=True))
    pairs += [(word.lower(), value) for word, _, value in (part.partition(" ") for part in rest)]
    values: dict[str, str] = {}
    for name, value in pairs:
        if name not in FILTERS:
            raise ValueError(f"'{name}' is no filter. Use {', '.join(FILTERS)}, as in the help.")
        if name in values:
            raise ValueError(f"{name} stands there twice. Use each filter once.")
        if not value.strip():
            raise ValueError(f"Which {WHICH[name]}? {name} needs a value, as in the help.")
        values[name] = value.strip()
    return values


def without_page(typed: str) -> str:
    """Return the filters that were typed, without a page."""
    parts = NEXT.split(typed.strip())
    return ", ".join(p for p in parts if not p.isdecimal() and not p.lower().startswith("page "))


def is_number(text: str) -> bool:
    """Return True for what can only be a page number, right or wrong."""
    return not text.partition(" ")[2] and text.lower() not in FILTERS


def read_time(
    words: str, now: datetime, after: datetime | None = None
) -> tuple[datetime, datetime]:
    """Return the start and the end of a time that was typed; raises ValueError.

    A day ends with its last moment, any other time where it starts. A clock alone is the first one
    ``after`` a time, else the latest one.
    """
    text = " ".join(words.lower().split())
    ago = AGO.fullmatch(text)
    if ago or text == "now":
        at = now - timedelta(**{UNITS[ago[2].lower()]: int(ago[1])}) if ago else now
        return at, at
    head, _, last = text.rpartition(" ")
    clock = CLOCK.fullmatch(last)
    try:
        day = read_day(head if clock else text, now) if head or not clock else None
        hour, minute, second = map(int, clock.groups("0")) if clock else (0, 0, 0)
        at = datetime.combine(day or (after or now), time(hour, minute, second), now.tzinfo)
    except ValueError:
        raise ValueError(f"'{words}' is no time. Use {TIMES}.") from None
    if clock is None:
        return at, at + timedelta(days=1)
    if day is None and after is not None and at <= after:
        at += timedelta(days=1)
    elif day is None and after is None and at > now:
        at -= timedelta(days=1)
    return at, at


def read_day(text: str, now: datetime) -> date:
    """Return the day that was typed, without a year the latest; raises ValueError."""
    near = {day: (now.weekday() - n) % 7 for n, day in enumerate(WEEKDAYS)}
    near |= {"today": 0, "yesterday": 1}
    if text in near:
        return (now - timedelta(days=near[text])).date()
    found = DATE.fullmatch(text)
    if found is None:
        raise ValueError(text)
    day = date(int(found[1] or now.year), int(found[2]), int(found[3]))
    return day.replace(year=day.year - 1) if not found[1] and day > now.date() else day

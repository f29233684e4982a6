"""Times in words are read in the world's time; a past one, a greeting, or none is no time."""

from datetime import UTC, datetime

import pytest

from evennia_ai.contrib.promises.when import find_time
from evennia_ai.ports.world import TimeSource, WorldClock

NOW = datetime(2026, 11, 30, 14, 0, tzinfo=UTC)  # a Monday
READ = {
    "18:30": "30 18:30",
    "at 18:30": "30 18:30",
    "at dusk": "30 18:00",
    "tomorrow": "01 14:00",
    "tomorrow at dusk": "01 18:00",
    "at 9:00": "01 09:00",
    "tomorrow 9:00": "01 09:00",
    "Friday": "04 14:00",
    "on Friday at noon": "04 12:00",
    "Monday 12:00": "07 12:00",
    "in two hours": "30 16:00",
    "in half an hour": "30 14:30",
    "in 3 days": "03 14:00",
    "6 pm": "30 18:00",
    "at 6 o'clock": "30 18:00",
    "tomorrow at 6 o'clock in the evening": "01 18:00",
    "the day after tomorrow": "02 14:00",
    "at midnight": "01 00:00",
    "tonight": "30 21:00",
    "at half past six": "30 18:30",
    "tomorrow at quarter to nine in the morning": "01 08:45",
    "at eight tonight": "30 20:00",
    "at ten in the morning": "01 10:00",
    "in ten minutes": "30 14:10",
    "two hours from now": "30 16:00",
    "by Saturday night": "05 21:00",
    "this evening": "30 19:00",
    "9:30 pm": "30 21:30",
    "halb sieben": "30 18:30",
    "morgen um acht": "01 08:00",
    "next week": "07 14:00",
    "in two days at noon": "02 12:00",
    "half seven": "30 19:30",
    "ten to six": "30 17:50",
    "twenty past four": "30 16:20",
    "Friday at five": "04 17:00",
    "Thursday 5pm": "03 17:00",
    "tomorrow at nine": "01 09:00",
    "in an hour and a half": "30 15:30",
    "in a quarter of an hour": "30 14:15",
    "at 18.30": "30 18:30",
    "at six o clock": "30 18:00",
    "Tuesday at two in the night": "02 02:00",
    "in a couple of hours": "30 16:00",
    "tonight 8": "30 20:00",
    "nine sharp tonight": "30 21:00",
    "in zwei Stunden": "30 16:00",
    "morgen um 18 Uhr": "01 18:00",
    "morgen Abend": "01 19:00",
    "übermorgen": "02 14:00",
    "am Freitag um 9 Uhr": "04 09:00",
    "in der Abenddämmerung": "30 18:00",
    "tmrw noon": "01 12:00",
    "at nine this evening": "30 21:00",
    "sat 2pm": "05 14:00",
    "45min": "30 14:45",
    "noonish": "01 12:00",
    "20 mins": "30 14:20",
    "at 0400": "01 04:00",
    "Saturday at one": "05 13:00",
    "wednesday, before lunch, 11": "02 11:00",
    "till thurs 5pm": "03 17:00",
    "mañana al mediodía": "01 12:00",
    "at six thirty": "30 18:30",
    "five thirty pm": "30 17:30",
    "1800": "30 18:00",
    "by one in the morning tomorrow": "01 01:00",
    "tommorow at midnite": "02 00:00",
    "thrusday noon": "03 12:00",
    "quarter to six today": "30 17:45",
    "midnight tonight": "01 00:00",
    "in 10": "30 14:10",
    "at 1900": "30 19:00",
    "the sun goes down": "30 18:00",
    "an hour after dusk": "30 19:00",
    "half an hour before dawn": "01 05:30",
    "ten to midnight": "30 23:50",
    "demain à sept heures": "01 07:00",
    "a las seis de la tarde": "30 18:00",
    "domani alle nove": "01 09:00",
    "venerdì sera": "04 19:00",
    "pasado mañana al amanecer": "02 06:00",
}
UNREAD = ("", "soon", "yesterday at dusk", "today at 9:00", "last Friday", "today", "25:00", "12",
          "for two hours", "It costs five coins", "at five coins", "deck 3", "in 1900")  # fmt: skip


def clock_at(now):
    return WorldClock(TimeSource(lambda: now))


@pytest.fixture(scope="module")
def clock():
    return clock_at(NOW)


def test_a_time_is_read(clock):
    for text, expected in READ.items():
        moment = find_time(text, clock)
        shown = moment and f"{datetime.fromtimestamp(moment.at, UTC):%d %H:%M}"
        assert shown == expected and (moment.is_all or "sharp" in text), text


def test_what_is_no_time_to_come_is_not_read(clock):
    for text in UNREAD:
        assert find_time(text, clock) is None, text


def test_a_greeting_is_no_time(clock):
    for text in ("Good morning, Mira!", "Good evening.", "Guten Morgen!", "Guten Abend, Mira."):
        assert find_time(text, clock) is None, text


def test_other_words_stay_beside_the_time(clock):
    moment = find_time("Meet me at the gate at dusk", clock)
    assert not moment.is_all and "gate" in moment.rest and "dusk" not in moment.rest


def test_a_world_with_days_of_its_own_is_read_in_its_own_hours():
    class Source(TimeSource):
        is_real = False
        units = {"minute": 60, "hour": 3_600, "day": 36_000, "week": 180_000, "month": 720_000,
                 "year": 7_200_000}  # fmt: skip

    class Clock(WorldClock):
        day_parts = {**WorldClock.day_parts, "dusk": 20}
        weekdays = ("Firstday", "Secondday", "Thirdday", "Fourthday", "Lastday")

    clock = Clock(Source(lambda: datetime.fromtimestamp(3_600, UTC)))
    assert find_time("tomorrow at dusk", clock).at == 36_000 + 30_000
    assert find_time("on Thirdday", clock).at == 2 * 36_000 + 3_600
    assert find_time("Lastday 2:00", clock).at == 4 * 36_000 + 7_200

"""What a person types to find lines of a log."""

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from evennia_ai.policy.recallable_lines import read_filter, read_time, without_page

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 20, 12, 30, tzinfo=BERLIN)  # a Friday


def utc(*parts):
    return datetime(*parts, tzinfo=UTC)


@pytest.mark.parametrize(
    ("typed", "start", "end"),
    [
        ("yesterday", utc(2026, 11, 18, 23), utc(2026, 11, 19, 23)),
        ("Yesterday 18:00", utc(2026, 11, 19, 17), utc(2026, 11, 19, 17)),
        ("2026-11-01", utc(2026, 10, 31, 23), utc(2026, 11, 1, 23)),
        ("11-19 18:00:05", utc(2026, 11, 19, 17, 0, 5), utc(2026, 11, 19, 17, 0, 5)),
        ("12-31", utc(2025, 12, 30, 23), utc(2025, 12, 31, 23)),
        ("monday", utc(2026, 11, 15, 23), utc(2026, 11, 16, 23)),
        ("friday 9:00", utc(2026, 11, 20, 8), utc(2026, 11, 20, 8)),
        ("9:00", utc(2026, 11, 20, 8), utc(2026, 11, 20, 8)),
        ("18:00", utc(2026, 11, 19, 17), utc(2026, 11, 19, 17)),
        ("2 hours ago", utc(2026, 11, 20, 9, 30), utc(2026, 11, 20, 9, 30)),
        ("30m", utc(2026, 11, 20, 11), utc(2026, 11, 20, 11)),
        ("3 days", utc(2026, 11, 17, 11, 30), utc(2026, 11, 17, 11, 30)),
        ("now", utc(2026, 11, 20, 11, 30), utc(2026, 11, 20, 11, 30)),
    ],
)
def test_a_time_is_read_in_the_zone_of_its_reader(typed, start, end):
    found = read_time(typed, NOW)
    assert [at.astimezone(UTC) for at in found] == [start, end]


def test_an_end_by_the_clock_alone_is_the_first_one_after_the_beginning():
    wanted = read_filter("since yesterday 18:00, until 20:00", (), NOW)
    assert (wanted.since, wanted.until) == (utc(2026, 11, 19, 17), utc(2026, 11, 19, 19))
    wanted = read_filter("since yesterday 18:00, until 2:00", (), NOW)
    assert wanted.until == utc(2026, 11, 20, 1)


def test_filters_come_in_any_order_and_words_may_hold_commas():
    wanted = read_filter("search ale, bread, Player Ann Lee, page 3", (), NOW)
    assert (wanted.search, wanted.player, wanted.page) == ("ale, bread", "Ann Lee", 3)


def test_switches_take_their_values_in_order():
    assert read_filter("ale, bread", ["search"], NOW).search == "ale, bread"
    wanted = read_filter("today, Ann, search beer", ["since", "player"], NOW)
    assert (wanted.player, wanted.search) == ("Ann", "beer")
    assert wanted.since == utc(2026, 11, 19, 23)


@pytest.mark.parametrize(
    ("typed", "switches", "told"),
    [
        ("since tomorow", (), "'tomorow' is no time. Use 'yesterday 18:00'"),
        ("since 25:00", (), "'25:00' is no time"),
        ("since 2026-13-01", (), "'2026-13-01' is no time"),
        ("since soon 18:00", (), "is no time"),
        ("since", (), "Which time? since needs a value"),
        ("", ("search",), "Which words? search needs a value"),
        ("beer please", (), "'beer' is no filter. Use since, until, player, search, page"),
        ("beer", (), "'beer' is no page and no filter. Type a page from 1"),
        ("0", (), "'0' is no page"),
        ("player Ann, player Bob", (), "player stands there twice"),
        ("Ann", ("player", "since"), "Give 2 values, with commas between them."),
        ("since today, until yesterday", (), "since today is not before until yesterday."),
    ],
)
def test_what_cannot_be_read_is_told_with_what_can(typed, switches, told):
    with pytest.raises(ValueError, match=re.escape(told)):
        read_filter(typed, switches, NOW)


def test_the_filters_stay_for_the_next_page():
    assert without_page("since today, page 2, player Ann") == "since today, player Ann"
    assert without_page("4") == ""

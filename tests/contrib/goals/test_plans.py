"""A day of a character: what of an answer counts, and what shows."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from evennia_ai.contrib.goals.day import places_near, read_plan
from evennia_ai.policy.records.goal import current_block, is_stale, make_block

NOW = datetime(2026, 5, 1, tzinfo=UTC)
PLACES = ("Harbour", "North Gate")


def part(begin, end, what="mend the nets", where="here"):
    return json.dumps({"from": begin, "to": end, "what": what, "where": where})


DAY = [part("08:00", "12:00"), part("12:00", "13:00", "eat."), part("13:00", "24:00", "sing")]


def block(begin=480, end=720, **fields):
    planned = {"begin": begin, "end": end, "content": "mend the nets", "where": "", **fields}
    return make_block("b1", planned, NOW, ["#5"])


def read(*lines):
    return read_plan("\n".join(lines), PLACES)


def test_exits_are_named_by_where_they_lead():
    assert places_near(("road (to North Gate)", "hole", "gate (to North Gate)")) == [
        "North Gate",
        "hole",
    ]


def test_a_day_counts_with_its_hours_and_its_places():
    first, *_ = read(part("8:00", "12:00", where="harbour"), *DAY[1:])
    assert first == {"begin": 480, "end": 720, "content": "mend the nets", "where": "Harbour"}
    assert read(*DAY)[1]["content"] == "eat"
    assert read(*DAY)[2]["end"] == 0


@pytest.mark.parametrize(
    "line",
    [
        part("11:00", "14:00"),
        part("01:00", "01:29"),
        part("01:00", "01:00"),
        part("25:00", "02:00"),
        part("01:60", "03:00"),
        part("one", "two"),
        part("01:00", "03:00", "  "),
        '{"from": 1, "to": 2, "what": "sing"}',
        '["01:00"]',
        "Then I rest.",
        "[" * 99_999,
    ],
)
def test_what_overlaps_or_has_another_shape_does_not_count(line):
    assert read(*DAY, line) == read(*DAY)


def test_fewer_than_three_parts_are_no_day_and_more_than_six_are_cut():
    assert read(*DAY[:2]) == []
    hours = [part(f"{n:02d}:00", f"{n + 1:02d}:00") for n in range(9)]
    assert len(read(*hours)) == 6


def test_over_midnight_it_is_about_it_too():
    late = block(1380, 60)
    assert current_block([late], 30) == current_block([late], 1400) == late
    assert current_block([late], 60) is None


def test_a_plan_lasts_a_day():
    assert is_stale([], None, NOW)
    assert not is_stale([block()], None, NOW + timedelta(hours=19, minutes=59))
    assert is_stale([block()], None, NOW + timedelta(hours=20))

"""When a character sleeps."""

import pytest

from evennia_ai.errors import ConfigError
from evennia_ai.policy.sleep_schedule import (
    ASLEEP,
    AWAKE,
    BedtimeState,
    RestState,
    next_mode,
    read_schedule,
    why_not_to_bed,
)


def at(hour, minute=0):
    return 60 * hour + minute


@pytest.mark.parametrize(
    ("hours", "asleep", "awake"),
    [
        ("23:00-06:30", [at(23), at(2), at(6, 29)], [at(6, 30), at(12), at(22, 59)]),
        ("13:00-14:00", [at(13), at(13, 59)], [at(12, 59), at(14)]),
        (" 0:00 - 5:00 ", [at(0), at(4, 59)], [at(5), at(23)]),
    ],
)
def test_hours_hold_from_their_beginning_to_just_before_their_end(hours, asleep, awake):
    schedule = read_schedule(hours)
    assert all(schedule.holds(moment) for moment in asleep)
    assert not any(schedule.holds(moment) for moment in awake)


def test_without_hours_there_is_no_schedule():
    assert read_schedule(None) is read_schedule("") is None


@pytest.mark.parametrize(
    "text", ["night", "25:00-06:00", "23:00", "23:61-06:00", "06:00-06:00", "5:00-24:00"]
)
def test_what_are_no_hours_is_told(text):
    with pytest.raises(ConfigError, match="sleep_schedule"):
        read_schedule(text)


@pytest.mark.parametrize(
    ("state", "mode"),
    [
        (RestState(False, True, 100), ASLEEP),
        (RestState(False, True, 10), AWAKE),
        (RestState(False, False, 100), AWAKE),
        (RestState(True, True, 0), ASLEEP),
        (RestState(True, False, 100), AWAKE),
        (RestState(False, True, 100, woken_s=10), AWAKE),
        (RestState(False, True, 100, woken_s=70), ASLEEP),
    ],
)
def test_it_sleeps_in_its_hours_when_it_is_quiet(state, mode):
    assert next_mode(state, calm_s=60) == mode


@pytest.mark.parametrize(
    ("state", "why"),
    [
        (BedtimeState(), ""),
        (BedtimeState(addressed_s=60, woken_s=600), ""),
        (BedtimeState(unanswered=1), "no answer yet"),
        (BedtimeState(addressed_s=59.9), "a moment ago"),
        (BedtimeState(woken_s=599), "not tired"),
        (BedtimeState(refused=True), "what was just said"),
    ],
)
def test_it_goes_to_sleep_by_itself_only_where_nothing_keeps_it_awake(state, why):
    said = why_not_to_bed(state)
    assert why in said
    assert bool(said) == bool(why)

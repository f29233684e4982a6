"""What of the logs may go, and what is in use."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.config.table_retention import (
    IN_FORCE,
    IN_VIEW,
    LEAST_AGE,
    MOST,
    TABLES,
    UNANSWERED,
    UNDER_WAY,
    UNSETTLED,
    CompactionState,
    Held,
    Limit,
    LogRow,
    edge_of,
    oldest_needed,
    plan_chunk,
    read_retention,
    use_of_act,
    use_of_compaction,
    use_of_message,
)
from evennia_ai.errors import ConfigError

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
NEEDED = CompactionState(7, 100)
HELD = Held(frozenset({1}), frozenset({2}), NOW - timedelta(days=3), NEEDED)


def days_ago(days):
    return NOW - timedelta(days=days)


def rows_of(*days, in_use=""):
    """Rows of these ages in days, numbered from 1."""
    return [LogRow(id_, days_ago(age), in_use) for id_, age in enumerate(days, 1)]


def test_limits_are_read_table_by_table_in_the_order_of_deletion():
    found = read_retention({"Turn": {"days": 30}, "Message": {"days": 0, "rows": 50_000}})
    assert found == {"Message": Limit(0, 50_000), "Turn": Limit(30)}
    assert list(found) == ["Message", "Turn"]
    assert read_retention({}) == {}
    assert read_retention({"Event": {"days": None, "rows": 5}}) == {"Event": Limit(None, 5)}


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ([], "it must be a dictionary, not []."),
        ({"Mesage": {"days": 3}}, "There is no table 'Mesage'. Use calls, Message, ToolCall,"),
        ({3: {"days": 3}}, "There is no table '3'."),
        ({"Message": 365}, "Message: it must be a dictionary such as {'days': 365}, not 365."),
        ({"Message": {"day": 3}}, "Message: 'day' is not a limit. Use days or rows."),
        ({"Message": {"days": -1}}, "Message: days must be a whole number from 0, not -1."),
        ({"Message": {"rows": True}}, "Message: rows must be a whole number from 0, not True."),
        ({"Message": {"rows": "9"}}, "Message: rows must be a whole number from 0, not '9'."),
        ({"Message": {"days": 1.5}}, "Message: days must be a whole number from 0, not 1.5."),
        ({"Event": {"days": 10**6}}, "Event: days must be at most 36500, not 1000000."),
        ({"DailyUse": {"rows": 9}}, "DailyUse: rows is not allowed for this table. Use days."),
    ],
)
def test_what_is_wrong_is_told_in_a_sentence(setting, sentence):
    with pytest.raises(ConfigError) as caught:
        read_retention(setting)
    assert sentence in str(caught.value)


def test_all_that_is_wrong_is_told_at_once_and_nothing_is_used():
    with pytest.raises(ConfigError) as caught:
        read_retention({"Turn": {"days": -1}, "Event": {"rows": False}, "Message": {"days": 3}})
    assert "Turn: days" in str(caught.value) and "Event: rows" in str(caught.value)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from([*TABLES, "days", "rows", "x"]) | st.integers(), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@given(JUNK)
def test_a_setting_is_understood_or_refused_whatever_it_is(setting):
    try:
        found = read_retention(setting)
    except ConfigError:
        return
    for limit in found.values():
        for unit, most in MOST.items():
            number = getattr(limit, unit)
            assert number is None or (type(number) is int and 0 <= number <= most)


def test_a_limit_reads_as_a_sentence_does():
    assert str(Limit(365, 50_000)) == "365 days or 50,000 rows"
    assert str(Limit(rows=0)) == "0 rows"
    assert str(Limit()) == "everything"


def test_what_is_as_old_as_the_limit_stays_and_what_is_older_goes():
    edge = edge_of(Limit(days=30), NOW)
    older = days_ago(30) - timedelta(seconds=1)
    rows = [LogRow(1, older), LogRow(2, days_ago(30)), LogRow(3, days_ago(29))]
    plan = plan_chunk(rows, edge)
    assert plan.going == (1,)
    assert not plan.is_last


def test_rows_go_by_number_whatever_their_age():
    plan = plan_chunk(rows_of(5, 4, 3, 2), edge_of(Limit(rows=2), NOW, below=3))
    assert plan.going == (1, 2)


def test_nothing_of_the_last_day_goes_whatever_the_limits_say():
    edge = edge_of(Limit(0, 0), NOW, below=10)
    old, young = LogRow(1, NOW - LEAST_AGE), LogRow(2, NOW - LEAST_AGE + timedelta(seconds=1))
    assert plan_chunk([old, young], edge).going == (1,)


def test_what_is_in_use_stays_and_is_counted_by_its_reason():
    rows = [*rows_of(50, 49, in_use=IN_VIEW), LogRow(3, days_ago(48))]
    plan = plan_chunk(rows, edge_of(Limit(days=30), NOW))
    assert plan.going == (3,)
    assert plan.kept == {IN_VIEW: 2}


def test_a_run_without_anything_over_the_limit_is_the_last_one():
    edge = edge_of(Limit(days=30), NOW)
    assert plan_chunk(rows_of(20, 19), edge).is_last
    assert plan_chunk([], edge).is_last
    assert not plan_chunk(rows_of(20, 40), edge).is_last


@given(
    st.lists(
        st.tuples(st.floats(0, 100), st.sampled_from(["", IN_VIEW])),
        max_size=20,
    ),
    st.none() | st.integers(0, 90),
    st.integers(0, 25),
)
def test_a_row_goes_only_where_there_is_no_room_for_it_and_nothing_needs_it(log, days, below):
    rows = [LogRow(id_, days_ago(age), use) for id_, (age, use) in enumerate(log, 1)]
    plan = plan_chunk(rows, edge_of(Limit(days, 5), NOW, below))
    for row in rows:
        over = row.id < below or (days is not None and row.at < days_ago(days))
        may_go = over and row.at <= NOW - LEAST_AGE and not row.in_use
        assert (row.id in plan.going) == may_go


def test_two_undos_bring_back_what_the_two_last_compactions_took():
    third, second, last = CompactionState(1, 10), CompactionState(4, 20), CompactionState(5, 30)
    assert oldest_needed([last, second, third]) == third
    assert oldest_needed([last, second, third, CompactionState(0, 5)]) == third
    assert oldest_needed([last, second]) is None
    assert oldest_needed([]) is None


def test_where_two_undos_would_bring_everything_back_everything_is_in_view():
    assert use_of_message(Held(), 1, None, None) == IN_VIEW


def test_messages_are_in_use_in_view_for_an_answer_and_while_their_turn_is_open():
    assert use_of_message(HELD, 101, None, None) == IN_VIEW
    assert use_of_message(HELD, 100, None, None) == ""
    assert use_of_message(HELD, 100, 1, None) == UNANSWERED
    assert use_of_message(HELD, 100, 3, 2) == UNDER_WAY
    assert use_of_message(HELD, 100, 3, 4) == ""


def test_acts_are_in_use_until_they_end_and_as_long_as_they_may_count_as_done():
    since = HELD.acts_since
    before = since - timedelta(seconds=1)
    assert use_of_act(HELD, before, has_ended=False, turn_id=None) == UNDER_WAY
    assert use_of_act(HELD, since, has_ended=True, turn_id=None) == UNANSWERED
    assert use_of_act(HELD, before, has_ended=True, turn_id=None) == ""
    assert use_of_act(HELD, before, has_ended=True, turn_id=2) == UNDER_WAY
    assert use_of_act(replace(HELD, acts_since=None), since, True, None) == ""


def use_of(held=HELD, **fields):
    """What needs a compaction; the journal has, or has not, what it should."""
    state = CompactionState(**{"archived": fields.get("undone_at") is None} | fields)
    return use_of_compaction(held, state, NOW)


def test_compactions_are_in_use_as_far_back_as_two_undos_reach():
    assert use_of(id=8, upto_seq=200) == use_of(id=7, upto_seq=100) == IN_FORCE
    assert use_of(id=6, upto_seq=90) == ""
    assert use_of(Held(), id=1, upto_seq=5) == IN_FORCE


def test_a_mask_is_in_use_where_a_message_in_view_may_be_under_it():
    assert use_of(id=1, upto_seq=101, is_mask=True) == IN_FORCE
    assert use_of(id=9, upto_seq=100, is_mask=True) == ""
    assert use_of(id=9, upto_seq=100, is_mask=True, archived=False) == ""


def test_what_was_taken_back_is_in_use_for_a_day():
    assert use_of(id=8, upto_seq=200, undone_at=days_ago(2)) == ""
    assert use_of(id=8, upto_seq=200, undone_at=days_ago(0.5)) == UNDER_WAY


def test_a_compaction_is_in_use_until_the_journal_agrees_with_it():
    assert use_of(id=6, upto_seq=90, archived=False) == UNSETTLED
    assert use_of(id=6, upto_seq=90, undone_at=days_ago(9), archived=True) == UNSETTLED

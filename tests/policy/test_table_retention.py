"""The limits of retention are read from the setting, or refused with a sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.config.table_retention import MOST, TABLES, RetentionLimit, read_retention
from evennia_ai.errors import ConfigError


def test_limits_are_read_table_by_table_in_the_order_of_deletion():
    found = read_retention({"Turn": {"days": 30}, "Message": {"days": 0, "rows": 50_000}})
    assert found == {"Message": RetentionLimit(0, 50_000), "Turn": RetentionLimit(30)}
    assert list(found) == ["Message", "Turn"]
    assert read_retention({}) == {}
    assert read_retention({"Event": {"days": None, "rows": 5}}) == {
        "Event": RetentionLimit(None, 5)
    }


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
    assert str(RetentionLimit(365, 50_000)) == "365 days or 50,000 rows"
    assert str(RetentionLimit(rows=0)) == "0 rows"
    assert str(RetentionLimit()) == "everything"

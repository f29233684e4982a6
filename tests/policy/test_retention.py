"""What fades, and what never does."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.policy.records.forgetting import (
    Fading,
    cited_by,
    is_faded,
    retention,
    select_to_forget,
    sources_in_use,
)
from evennia_ai.policy.records.journal_entry import make_entry

NOW = datetime(2026, 6, 1, tzinfo=UTC)
FADING = Fading(retention=0.05, importance=4, age_days=14.0, floor=2)


def entry(days=60.0, **fields):
    made = make_entry("j1", "It rained.", NOW - timedelta(days=days), fields)
    return {**made, "importance_by": fields.get("importance_by", "rule")}


def test_the_formula_is_that_of_the_design():
    assert retention(0, 0, 3) == 1.0
    assert retention(2.5, 0, 3) == pytest.approx(0.3679, abs=1e-4)
    assert retention(7.5, 5, 3) == pytest.approx(0.3679, abs=1e-4)
    assert retention(-5, 0, 3) == 1.0


@given(st.floats(0.1, 3_000), st.integers(0, 100), st.integers(1, 9))
def test_what_matters_more_or_was_looked_up_lasts_longer(days, recalls, importance):
    left = retention(days, recalls, importance)
    assert retention(days, recalls + 1, importance) >= left
    assert retention(days, recalls, importance + 1) >= left
    assert retention(days + 1, recalls, importance) <= left


def test_what_is_old_light_and_never_looked_up_fades():
    assert is_faded(entry(), NOW, FADING)


@pytest.mark.parametrize(
    "fields",
    [
        {"pinned": True}, {"source_type": "builder"}, {"source_type": "compaction"},
        {"importance_by": "given"}, {"importance": 5}, {"recalls": 30}, {"days": 13.9},
        {"days": -1.0},
    ],
)  # fmt: skip
def test_nothing_else_does(fields):
    assert not is_faded(entry(**fields), NOW, FADING)


def test_each_threshold_is_inclusive():
    assert is_faded(entry(importance=4), NOW, FADING)
    assert is_faded(entry(days=14.0), NOW, FADING)


def test_sources_of_what_holds_are_in_use():
    values = [
        {"sources": ["j1"], "valid_to": None},
        {"sources": ["j2"], "valid_to": "2026-01-01T00:00:00+00:00"},
    ]
    assert sources_in_use(values) == {"j1"}
    assert cited_by(entry(source_type="reflection", links=["j7"])) == ["j7"]
    assert cited_by(entry(links=["j8"])) == []


def test_the_most_faded_go_first_down_to_the_floor():
    faded = [(0.03, "j3"), (0.01, "j1"), (0.02, "j2")]
    assert select_to_forget(faded, (), 5, 2) == ["j1", "j2", "j3"]
    assert select_to_forget(faded, (), 4, 2) == ["j1", "j2"]
    assert select_to_forget(faded, ("j1",), 4, 2) == ["j2", "j3"]
    assert select_to_forget(faded, (), 1, 2) == []

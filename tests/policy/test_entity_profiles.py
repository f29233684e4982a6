"""Values that follow one another, sources that disagree, and how two come to know each other."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.errors import BadRecord
from evennia_ai.policy.records.entity_profiles import (
    CONTACT_GAP_S,
    Observation,
    after_contact,
    apply_attribute,
    current_values,
    familiarity_at,
    make_attribute,
    make_observation,
    new_relationship,
    sentiment_after,
)
from evennia_ai.policy.records.record import people_in, select_known

START = datetime(2026, 1, 1, tzinfo=UTC)
ANN, BOB, CID = "#5", "#7", "#9"


def day(number):
    return START + timedelta(days=number)


def learn(*values):
    """Learn values of Ann's debt one after the other: (value, day, fields); all records by id."""
    records = {}
    for number, (value, at, fields) in enumerate(values, 1):
        new = make_attribute(f"p{number}", ANN, "Debt", value, day(at), fields)
        records |= apply_attribute(list(records.values()), new)
    return records


def span(record):
    return record["value"], record["valid_from"][8:10], (record["valid_to"] or "---------")[8:10]


def test_the_newest_value_holds_and_the_one_before_ends():
    records = learn(("5 silver", 0, {}), ("7 silver", 3, {}))
    assert [span(r) for r in records.values()] == [
        ("5 silver", "01", "04"),
        ("7 silver", "04", "-"),
    ]
    assert [r["value"] for r in current_values(records.values())] == ["7 silver"]


def test_what_is_learnt_late_was_so_before():
    records = learn(("7 silver", 3, {}), ("5 silver", 0, {}))
    assert span(records["p2"]) == ("5 silver", "01", "04")
    assert [r["value"] for r in current_values(records.values())] == ["7 silver"]


def test_the_same_value_again_is_not_stored_twice():
    records = learn(("5 silver", 0, {"speakers": [ANN]}), ("5  Silver.", 3, {"speakers": [BOB]}))
    assert list(records) == ["p1"]
    assert records["p1"]["speakers"] == [ANN, BOB]
    assert records["p1"]["valid_from"] == START.isoformat()
    assert records["p1"]["confirmed_at"] == day(3).isoformat()


def test_what_was_confirmed_is_newer_than_what_is_learnt_late():
    records = learn(("5", 0, {}), ("5", 3, {}), ("7", 2, {}))
    assert [r["value"] for r in current_values(records.values())] == ["5"]
    assert span(records["p3"]) == ("7", "03", "04")


def test_sources_that_disagree_name_each_other_and_one_that_changes_its_mind_does_not():
    records = learn(
        ("5 silver", 0, {"source_entity": ANN}),
        ("7 silver", 1, {"source_entity": ANN}),
        ("9 silver", 2, {"source_entity": BOB}),
    )
    assert records["p1"]["contradicts"] == []
    assert records["p2"]["contradicts"] == ["p3"]
    assert records["p3"]["contradicts"] == ["p2"]
    assert records["p2"]["source_entity"] == ANN


def test_what_all_know_ends_a_confidence():
    records = learn(("9 silver", 0, {"audience": [ANN]}), ("5 silver", 1, {}))
    assert span(records["p1"]) == ("9 silver", "01", "02")


@given(
    st.lists(
        st.tuples(
            st.sampled_from("abc"),
            st.integers(0, 6),
            st.sampled_from([None, [ANN], [BOB], [ANN, BOB]]),
        ),
        max_size=12,
    ),
    st.sampled_from([frozenset({ANN}), frozenset({BOB}), frozenset({ANN, BOB}), frozenset({CID})]),
)
def test_each_audience_is_told_the_newest_of_what_it_may_know(values, listeners):
    records = learn(*((value, at, {"audience": ears}) for value, at, ears in values))
    current = current_values(select_known(records.values(), listeners))
    heard = [v for v in values if v[2] is None or listeners <= set(v[2])]
    newest = sorted(heard, key=lambda value: value[1])[-1:]
    assert [record["value"] for record in current] == [value[0] for value in newest]


def test_an_observation_made_again_has_both_sources():
    one = make_observation("p1", ANN, "She limps.", START, {"speakers": [BOB], "source_seqs": [1]})
    again = make_observation("p2", ANN, "She limps.", day(1), {"speakers": [CID], "trust": 1.0})
    merged = Observation.merged(one, again)
    assert merged["speakers"] == [BOB, CID]
    assert (merged["id"], merged["at"], merged["trust"]) == ("p1", START.isoformat(), 1.0)


def test_people_are_known_by_dbref_only():
    with pytest.raises(BadRecord, match="entity"):
        make_observation("p1", "Ann", "She limps.", START, {})
    assert people_in(make_observation("p1", ANN, "She limps.", START, {})) == {ANN}
    assert people_in(make_attribute("p1", ANN, "gait", "a limp", START, {})) == {ANN}


def met(*times):
    relationship = new_relationship("p1", ANN)
    for at in times:
        relationship = after_contact(relationship, at)
    return relationship


def test_who_meets_often_is_familiar():
    often = met(*(day(n) for n in range(20)))
    assert 0.5 < often["familiarity"] < 1.0
    assert met(START)["familiarity"] == pytest.approx(0.05)
    assert (often["contacts"], often["first_contact"][:10]) == (20, "2026-01-01")


def test_the_lines_of_one_talk_are_one_contact():
    just_within = START + timedelta(seconds=CONTACT_GAP_S - 1)
    assert met(START, just_within)["contacts"] == 1
    assert met(START, START + timedelta(seconds=CONTACT_GAP_S))["contacts"] == 2
    assert met(START, just_within)["last_contact"] == just_within.isoformat()


def test_who_stays_away_is_half_as_familiar_after_90_days():
    once = met(START)
    assert familiarity_at(once, day(90)) == pytest.approx(once["familiarity"] / 2)
    assert familiarity_at(once, START - timedelta(days=1)) == once["familiarity"]
    assert familiarity_at(new_relationship("p1", ANN), START) == 0.0


def test_sentiment_follows_how_it_went_and_stays_within_its_bounds():
    assert sentiment_after(0.0, -1.0) == pytest.approx(-0.2)
    felt = 0.0
    for _ in range(50):
        felt = sentiment_after(felt, -9.0)
    assert -1.0 <= felt < -0.9

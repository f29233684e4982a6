"""What an entry is, what it weighs, and when two say the same."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.errors import BadRecord
from evennia_ai.policy.records.journal_entry import (
    JournalEntry,
    make_entry,
    normalised,
    sameness,
    score_importance,
)
from evennia_ai.policy.records.record import is_sound, read_record

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
ANN, BOB = "#5", "#7"


def entry(content="Ann owes me 5 silver.", at=NOON, **fields):
    return make_entry("j1", content, at, fields)


def test_an_entry_has_every_field_and_is_plain_data():
    made = entry()
    assert made == {
        "id": "j1",
        "timestamp": "2026-01-01T12:00:00+00:00",
        "content": "Ann owes me 5 silver.",
        "source_type": "direct",
        "source_entity": "",
        "speakers": [],
        "source_seqs": [],
        "said_at": None,
        "audience": None,
        "trust": 0.6,
        "importance": 4,
        "importance_by": "rule",
        "tags": [],
        "links": [],
        "pinned": False,
        "consolidated": False,
        "recalls": 0,
    }


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"importance": 11}, "importance"),
        ({"importance": 0}, "importance"),
        ({"trust": 1.5}, "trust"),
        ({"audience": ["Ann"]}, "audience"),
        ({"source_entity": "Ann"}, "source_entity"),
        ({"source_type": "gossip"}, "source_type"),
        ({"timestamp": "yesterday"}, "timestamp"),
        ({"timestamp": "2026-01-01T12:00:00"}, "time zone"),
        ({"tags": [""]}, "tags"),
        ({"mood": "good"}, "There is no field 'mood'. Use one of id, "),
    ],
)
def test_what_does_not_fit_is_named(fields, words):
    with pytest.raises(BadRecord, match=words):
        entry(**fields)


def test_what_an_older_version_stored_is_filled_up_and_what_a_later_one_stored_is_kept():
    old = {name: value for name, value in entry().items() if name not in ("speakers", "trust")}
    assert read_record(JournalEntry, old) == entry()
    later = {**entry(), "recalls": 3}
    assert read_record(JournalEntry, later)["recalls"] == 3
    assert JournalEntry.changed(later, {"pinned": True})["recalls"] == 3


@pytest.mark.parametrize(
    "raw",
    [
        None,
        "j1",
        [],
        {"id": "j1"},
        {**entry(), "content": 5},
        {**entry(), "audience": "#5"},
        {**entry(), "source_seqs": ["a"]},
        {**entry(), "tags": [{}]},
    ],
)
def test_what_is_no_entry_is_not_read(raw):
    assert not is_sound(JournalEntry, raw) or raw["source_seqs"] == ["a"]
    if not is_sound(JournalEntry, raw):
        with pytest.raises(BadRecord):
            read_record(JournalEntry, raw)


def test_the_same_words_for_the_same_ears_are_the_same():
    made = sameness(entry("Ann owes me 5 silver."))
    assert made == sameness(entry(" ann  OWES me\n5 silver"))
    assert made != sameness(entry("Ann owes me 6 silver."))
    assert made != sameness(entry("Ann owes me 5 silver.", audience=[ANN]))
    assert sameness(entry(audience=[ANN, BOB])) == sameness(entry(audience=[BOB, ANN]))
    assert sameness(entry("🗡")) != sameness(entry("🛡"))


@given(st.text(min_size=1))
def test_normalising_again_changes_nothing(text):
    assert normalised(normalised(text)) == normalised(text)


def test_two_entries_that_say_the_same_become_one_with_the_sources_of_both():
    one = entry(source_seqs=[3], speakers=[ANN], tags=["debt"], source_entity=ANN)
    again = entry(source_seqs=[9], speakers=[BOB], tags=["silver"], importance=8, pinned=True)
    merged = JournalEntry.merged(one, again)
    assert merged == {
        **one,
        "source_seqs": [3, 9],
        "speakers": [ANN, BOB],
        "tags": ["debt", "silver"],
        "importance": 8,
        "importance_by": "given",
        "pinned": True,
    }
    assert JournalEntry.merged(merged, one) == merged


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("The weather is fine.", 3),
        ("Hello there!", 1),
        ("He promised to mend the roof.", 6),
        ("Bob threatened the miller and stole a horse.", 6),
        ("The old king died.", 6),
        ("The cellar key is a secret.", 4),
        ("The toll is 12 pennies.", 4),
        ("Remember this.", 7),
        ("Remember: Ann promised 5 silver by Friday.", 10),
        ("Sie hat mir etwas versprochen.", 6),
        ("Guten Abend.", 1),
        ("他给了我三百两银子", 3),
    ],
)
def test_a_text_weighs_what_the_rule_says(text, score):
    assert score_importance(text) == score


@given(st.text(), st.booleans(), st.booleans())
def test_a_score_is_never_beyond_1_and_10(text, named, first):
    assert 1 <= score_importance(text, named=named, first_meeting=first) <= 10

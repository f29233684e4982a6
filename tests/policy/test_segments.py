"""What can be read of one piece of a long list."""

import pytest

from evennia_ai.errors import BadRecord
from evennia_ai.policy.records.record import SIZE, RecordSegment, place_in, read_segment, segment_of
from tests.upgrade.old_values import column

RECORD = {"source_entity": "#5", "speakers": [], "audience": ["#12", "#7"]}


def read(raw):
    if raw is None:
        raise BadRecord("it: nothing.")
    return raw


@pytest.mark.parametrize(
    ("number", "segment", "place"), [(1, 0, 1), (32, 0, 32), (33, 1, 1), (65, 2, 1)]
)
def test_numbers_count_from_1_and_fill_one_segment_after_the_other(number, segment, place):
    assert (segment_of(number), place_in(number)) == (segment, place)


def test_what_was_stored_is_read():
    for stored in (RecordSegment(3, {34: RECORD}), RecordSegment(0)):
        text = stored.as_columns()["db_strvalue"]
        assert read_segment(None, 1, read, text) == (stored, True)


@pytest.mark.parametrize("raw", [None, "x", [], {}, {"used": 1}, {"used": 1, "records": []}])
def test_what_is_no_segment_has_given_out_all_its_numbers(raw):
    assert read_segment(column(raw), 1, read) == (RecordSegment(SIZE), False)


@pytest.mark.parametrize(
    ("used", "records", "kept"),
    [
        (5, {33: RECORD, 34: None}, {33: RECORD}),
        (5, {33: RECORD, 3: RECORD}, {33: RECORD}),
        (5, {33: RECORD, "x": RECORD}, {33: RECORD}),
        (1, {33: RECORD, 34: RECORD}, {33: RECORD, 34: RECORD}),
        (SIZE + 1, {33: RECORD}, {33: RECORD}),
        (None, {33: RECORD}, {33: RECORD}),
    ],
)
def test_what_is_sound_of_a_spoilt_segment_is_kept(used, records, kept):
    found = read_segment(column({"used": used, "records": records}), 1, read)
    assert found == (RecordSegment(SIZE, kept), False)


def test_everybody_concerned_is_named_for_a_search():
    text = RecordSegment(1, {1: RECORD}, 3).as_columns()["db_strvalue"]
    assert text.startswith("3 #12 #5 #7 \n")
    assert text.count("#") == 3 and "\n " not in text and text.count(" ") == 4


@pytest.mark.parametrize(
    ("people", "version"), [("3 #12 ", 3), (" #12 ", 0), ("?", None), (None, None)]
)
def test_the_version_is_told_beside_the_people(people, version):
    raw = column({"used": 1, "records": {1: RECORD}})
    found, is_whole = read_segment(raw, 0, read, people)
    assert (found.version if is_whole else None) == version
    assert not is_whole or (people or "").startswith(found.mark)

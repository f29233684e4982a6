"""An object that arrives in parts reads as `json.loads` reads the whole."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.policy.replies.streaming_json import JsonObjectReader
from tests.growth import text_grows_like_a_square

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.sampled_from(["act", "target", "say"]) | st.text(), VALUES)
CUTS = st.lists(st.integers(0, 200), max_size=12)
ODD = st.text(alphabet='{}[]":,\\u dD8e0aé\n1t-', max_size=60)


def parts(text, cuts):
    places = sorted({0, len(text), *(min(cut, len(text)) for cut in cuts)})
    return [text[start:end] for start, end in itertools.pairwise(places)]


def read(pieces):
    """The reader, and the words that it read."""
    reader = JsonObjectReader("say")
    return reader, "".join([reader.feed(piece) for piece in pieces])


@given(OBJECTS, CUTS, st.booleans(), st.sampled_from([None, 2]))
def test_any_split_reads_as_the_whole(value, cuts, ascii_only, indent):
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    reader, words = read(parts(text, cuts))
    assert reader.done and not reader.broken
    assert reader.values == json.loads(text)
    assert words == read([text])[1]


@given(ODD, CUTS)
def test_any_text_reads_the_same_however_it_is_split(text, cuts):
    whole, split = read([text])[0], read(parts(text, cuts))[0]
    assert (whole.values, whole.done, whole.broken) == (split.values, split.done, split.broken)


@given(st.text(), CUTS)
def test_the_parts_of_a_streamed_string_make_up_its_value(say, cuts):
    text = json.dumps({"act": "none", "say": say})
    assert read(parts(text, cuts))[1] == say


def test_words_come_as_soon_as_they_are_known():
    reader = JsonObjectReader("say")
    assert [reader.feed(part) for part in ('{"act": "no', 'ne", "sa')] == ["", ""]
    assert reader.values == {"act": "none"}
    assert [reader.feed(part) for part in ('y": "Good ev', 'ening."')] == ["Good ev", "ening."]
    assert reader.values["say"] == "Good evening." and not reader.done
    assert reader.feed("}") == "" and reader.done


def test_two_halves_of_one_character_arrive_together():
    reader = JsonObjectReader("say")
    assert [reader.feed(part) for part in ('{"say": "a\\ud83d', "\\ude", "00!")] == ["a", "", "😀!"]


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"say": "Aye."}\n```',
        'Here you are: {"say": "Aye."}',
        '{"say": "Aye.",}',
        '{{"say": "Aye."}}',
        '{"say": "Aye."}' + "\n" * 5_000,
        '{"say": "Aye."} {"say": "No."}',
    ],
)
def test_what_stands_around_the_object_does_no_harm(text):
    reader, _ = read([text])
    assert reader.values == {"say": "Aye."} and reader.done


def test_line_breaks_inside_a_string_are_read():
    assert read(['{"say": "Aye.\nNo."}'])[0].values == {"say": "Aye.\nNo."}


@pytest.mark.parametrize("text", ['{"a" 1}', "{a: 1}", '{"a": }', '{"a": tru}', '{"a": "\\x"}'])
def test_invalid_json_breaks_the_reader_without_an_error(text):
    reader, _ = read(list(text))
    assert reader.broken and not reader.done
    assert reader.feed('{"say": "Aye."}') == ""


def test_a_reply_that_is_cut_off_is_neither_done_nor_broken():
    reader, _ = read(['{"act": "none", "say": "I was abo'])
    assert (reader.done, reader.broken, reader.values) == (False, False, {"act": "none"})


@pytest.mark.parametrize(
    ("before", "piece"), [("", "{"), ('{"a":', "["), ('{"a":"', "\\"), ("", '{"')]
)
def test_the_time_for_hostile_text_grows_with_its_length_not_its_square(before, piece):
    assert not text_grows_like_a_square(lambda text: read([before + text]), piece)

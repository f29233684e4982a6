"""The text of a field is read while its object arrives."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.policy.replies.streaming_json import LONGEST, TextFieldReader
from tests.growth import text_grows_like_a_square

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.dictionaries(st.sampled_from(["text", "target", "say"]) | st.text(), VALUES)
WORDS = st.text(st.characters(exclude_characters='{}[]"\\', codec="utf-8"), max_size=9)
PLAIN_FIELDS = st.dictionaries(
    WORDS.filter("say".__ne__), WORDS | st.integers() | st.none(), max_size=5
)
CUTS = st.lists(st.integers(0, 200), max_size=12)
ODD = st.text(alphabet='{}[]":,\\u dD8e0aé\n1t-', max_size=60)


def parts(text, cuts):
    places = sorted({0, len(text), *(min(cut, len(text)) for cut in cuts)})
    return [text[start:end] for start, end in itertools.pairwise(places)]


def read(pieces):
    """The reader, and the text that it read."""
    reader = TextFieldReader("say")
    return reader, "".join([reader.feed(piece) for piece in pieces])


@given(PLAIN_FIELDS, st.text(), FIELDS, CUTS, st.booleans(), st.sampled_from([None, 2]))
def test_the_text_is_read_behind_plain_fields(before, say, after, cuts, ascii_only, indent):
    fields = {**before, "say": say}
    fields |= {name: value for name, value in after.items() if name not in fields}
    text = json.dumps(fields, ensure_ascii=ascii_only, indent=indent)
    reader, words = read(parts(text, cuts))
    assert words == say and reader.done


@given(FIELDS, CUTS)
def test_of_a_field_that_is_no_text_nothing_is_read(fields, cuts):
    fields["say"] = {"say": "Aye."}
    reader, words = read(parts(json.dumps(fields), cuts))
    assert words == "" and not reader.done


@given(ODD, CUTS)
def test_any_text_reads_the_same_however_it_is_split(text, cuts):
    (whole, words), (split, split_words) = read([text]), read(parts(text, cuts))
    assert (words, whole.done) == (split_words, split.done)


def test_words_come_as_soon_as_they_are_known():
    reader = TextFieldReader("say")
    assert [reader.feed(part) for part in ('{"to": "An', 'n", "sa')] == ["", ""]
    assert [reader.feed(part) for part in ('y": "Good ev', "ening.")] == ["Good ev", "ening."]
    assert not reader.done
    assert reader.feed('"') == "" and reader.done


def test_two_halves_of_one_character_arrive_together():
    reader = TextFieldReader("say")
    said = [reader.feed(part) for part in ('{"say": "a\\ud83d', "\\ude", '00!"}')]
    assert said == ["a", "", "😀!"]


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"say": "Aye."}\n```',
        'Here you are: {"say": "Aye."}',
        '{"say": "Aye.",}',
        '{"say": "Aye."}' + "\n" * 5_000,
        '{"say": "Aye."} {"say": "No."}',
        '{"say": "Aye.", "say": "No."}',
        '{"to": "say", "say": "Aye."}',
    ],
)
def test_what_stands_around_the_text_does_no_harm(text):
    reader, words = read([text])
    assert words == "Aye." and reader.done


def test_line_breaks_inside_the_text_are_read():
    assert read(['{"say": "Aye.\nNo."}'])[1] == "Aye.\nNo."


def test_a_text_that_is_cut_off_is_not_done():
    reader, words = read(['{"say": "I was abo'])
    assert words == "I was abo" and not reader.done


def test_behind_a_very_long_other_text_nothing_is_read_early():
    assert read(["{", '"to": "' + "a" * LONGEST, '", "say": "Aye."}'])[1] == ""


@pytest.mark.parametrize(
    ("before", "piece"), [("", "{"), ('{"a":', "["), ('{"a":"', "\\"), ("", '{"')]
)
def test_the_time_for_hostile_text_grows_with_its_length_not_its_square(before, piece):
    assert not text_grows_like_a_square(lambda text: read([before + text]), piece)

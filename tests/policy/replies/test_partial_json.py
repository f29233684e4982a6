"""The text of a field is read while its object arrives."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.policy.replies.streaming_json import arriving_text

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.dictionaries(st.sampled_from(["text", "target", "say"]) | st.text(), VALUES)
ODD = st.text(alphabet='{}[]":,\\u dD8e0aé\n1t-', max_size=60)


def read(text):
    return arriving_text(text, "say")


@given(FIELDS, st.text(), st.booleans(), st.sampled_from([None, 2]))
def test_the_text_grows_with_what_arrives(fields, say, ascii_only, indent):
    text = json.dumps({**fields, "say": say}, ensure_ascii=ascii_only, indent=indent)
    so_far = [read(text[:end]) for end in range(len(text) + 1)]
    if not isinstance(fields.get("say"), str):
        pairs = itertools.pairwise(so_far)
        assert all(longer.startswith(words) for words, longer in pairs)
    assert so_far[-1] == say


@given(FIELDS)
def test_of_a_field_that_is_no_text_nothing_is_read(fields):
    assert read(json.dumps({**fields, "say": {"say": "Aye."}})) == ""


@given(ODD)
def test_no_text_raises(text):
    read(text)


def test_words_come_as_soon_as_they_are_known():
    parts = ('{"to": "An', 'n", "sa', 'y": "Good ev', "ening.", '"')
    so_far = ["".join(parts[: count + 1]) for count in range(len(parts))]
    assert [read(text) for text in so_far] == ["", "", "Good ev", "Good evening.", "Good evening."]


def test_two_halves_of_one_character_arrive_together():
    text = '{"say": "a\\ud83d\\ude00!"}'
    assert [read(text[:end]) for end in (16, 20, len(text))] == ["a", "a", "a😀!"]


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"say": "Aye."}\n```',
        'Here you are: {"say": "Aye."}',
        '{"say": "Aye.",',
        '{"say": "Aye."}' + "\n" * 5_000,
        '{"say": "Aye."} {"say": "No."}',
        '{"to": "say", "say": "Aye."}',
    ],
)
def test_what_stands_around_the_text_does_no_harm(text):
    assert read(text) == "Aye."


def test_line_breaks_inside_the_text_are_read():
    assert read('{"say": "Aye.\nNo."}') == "Aye.\nNo."

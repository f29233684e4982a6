"""What a person allows is what they read: the arguments of a call that waits."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.policy.sanitize import one_line
from evennia_ai.policy.staff_controls import arguments_line, exact_arguments, is_shown_whole

TAGS = "".join(chr(0xE0000 + ord(char)) for char in "and 900 gold")
HIDING = ("\u200b", "\u202e", "\u2066", "\u200f", "\u200d", "\ufe0f", "\U000e0101", "\x1b[8m", TAGS)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("hidden", HIDING)
def test_what_nobody_can_see_is_not_stored(hidden):
    words = f"for{hidden} bread{hidden}"
    expected = json.dumps({"note": "for bread", "to": [{"who": "for bread"}]})
    assert exact_arguments({"note": words, "to": [{"who": words}]}) == expected


def test_a_wide_blank_is_stored_as_the_space_that_it_looks_like():
    assert arguments_line(exact_arguments({"note": "for\u3164bread\nnow"})) == (
        'note: "for bread now"'
    )


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_a_client_shows_the_stored_arguments_unchanged(arguments):
    stored = exact_arguments(arguments)
    line = arguments_line(stored)
    assert one_line(line) == line
    assert exact_arguments(json.loads(stored)) == stored


@pytest.mark.parametrize(
    ("stored", "whole"),
    [
        ('{"note": "for bread"}', True),
        ("{}", True),
        ('{"note": "for\u200b bread"}', False),
        (json.dumps({"note": "x" * 700}), False),
        ("no object", False),
    ],
)
def test_only_what_is_shown_whole_can_be_allowed(stored, whole):
    assert is_shown_whole(stored) is whole

"""An expression that reads so many characters of a text, and no more."""

import re

from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.policy.texts import BoundedPattern
from evennia_ai.policy.tool_call_modes.schema_form import split_receiver

WORD = BoundedPattern("[ab]+", 5)


def test_what_lies_behind_the_bound_is_not_found():
    assert WORD.search("-----ab") is None and WORD.search("-----ab", 5)[0] == "ab"
    assert WORD.search("aaaaaaa")[0] == WORD.match("aaaaaaa")[0] == "aaaaa"
    assert (
        WORD.findall("a-b-a-b") == [one[0] for one in WORD.finditer("a-b-a-b")] == ["a", "b", "a"]
    )


def test_a_text_longer_than_the_bound_does_not_match_as_a_whole():
    assert WORD.fullmatch("aaaaa") and not WORD.fullmatch("aaaaaa")


def test_what_lies_behind_the_bound_stays_as_it_is():
    assert WORD.sub("x", "a-b-aab") == "x-x-xab"
    assert WORD.subn("x", "a-b-aab", 1) == ("x-b-aab", 1)
    assert WORD.split("-a-bbab") == ["-", "-", "ab"]


@given(st.text("ab ,\n") | st.lists(st.sampled_from([" to ", "a", ",", " ", "\n"])).map("".join))
def test_a_receiver_is_what_follows_the_first_to_without_a_comma_behind_it(target):
    found = re.fullmatch(r"(.+?) to ([^,]+)", target, re.DOTALL)
    assert split_receiver(target) == (found.groups() if found else None)

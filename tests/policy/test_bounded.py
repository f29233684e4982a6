"""An expression that reads so many characters of a text, and no more."""

from evennia_ai.policy.texts import BoundedPattern

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

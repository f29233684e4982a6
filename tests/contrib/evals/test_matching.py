"""Whether an answer mentions what a scene asks for."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evennia_ai.contrib.evals.format import compiled, mentions
from evennia_ai.errors import ConfigError

LETTERS = st.text("abcdefgäßéжя", min_size=1, max_size=8)
PHRASES = st.lists(LETTERS, min_size=1, max_size=3).map(" ".join)
ANY_TEXT = st.text(max_size=60)


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ("cellar", "Down in the Cellar, Ann."),
        ("3 coins", "Three  coins, no less."),
        ("don't", "I don’t know."),
        ("/o?yster (bed|bank)s/", "at the OYSTER beds"),
        ("猫", "黑猫在这里"),
        ("?", "What?"),
    ],
)
def test_words_are_found_however_they_are_written(wanted, text):
    assert mentions(wanted, text)


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ("ale", "The whale sails."),
        ("two", "twenty-two barrels"),
        ("three coins", "three silver coins"),
        ("cellar", "cellars"),
        ("/^ale$/", "ale and bread"),
        ("no", "nobody knows"),
    ],
)
def test_parts_of_words_and_other_words_are_not(wanted, text):
    assert not mentions(wanted, text)


@settings(deadline=None)
@given(ANY_TEXT, PHRASES, ANY_TEXT)
def test_a_phrase_between_other_words_is_found_in_any_case(before, phrase, after):
    assert mentions(phrase, f"{before} ; {phrase.upper()} ; {after}")


@settings(deadline=None)
@given(PHRASES, st.text("hijklm .,;!?", max_size=60))
def test_a_phrase_is_not_found_among_other_letters(phrase, text):
    assert not mentions(phrase, text)


@settings(deadline=None)
@given(ANY_TEXT.filter(str.strip), ANY_TEXT)
@example("*", "")
@example("[", "a")
@example("ﬃ*(", "x")
def test_no_words_of_a_builder_break_the_search(wanted, text):
    try:
        assert mentions(wanted, text) in (True, False)
    except ConfigError:
        assert wanted.startswith("/") or not wanted.strip().strip("*").strip()


@pytest.mark.parametrize("wanted", ["/(/", "*", " ", ""])
def test_what_cannot_be_looked_for_is_told(wanted):
    with pytest.raises(ConfigError, match=re.escape(wanted.strip()) or "holds no words"):
        compiled(wanted)

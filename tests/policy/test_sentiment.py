"""How kindly something was said, as far as a few words tell."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.policy.consolidation.weights import mean_sentiment, sentiment_of


@pytest.mark.parametrize(
    "text", ["Thank you, Mira.", "Danke schön!", "Merci beaucoup", "спасибо", "谢谢", "😊"]
)
def test_thanks_are_kind_in_any_language(text):
    assert sentiment_of(text) == 1.0


@pytest.mark.parametrize("text", ["You idiot!", "Halt's Maul", "menteur!", "Du bist dumm."])
def test_insults_are_not(text):
    assert sentiment_of(text) == -1.0


@pytest.mark.parametrize("text", ["", "Where is the bridge?", "東の橋はどこ？", "x" * 100_000])
def test_of_most_lines_it_tells_nothing(text):
    assert sentiment_of(text) is None


def test_what_is_taken_back_does_not_count():
    assert sentiment_of("You are not stupid.") is None
    assert sentiment_of("Thanks, you idiot") == 0.0


def test_lines_that_tell_nothing_do_not_weigh():
    assert mean_sentiment(["Thanks!", "Where?", "You fool."]) == 0.0
    assert mean_sentiment(["Where?"]) is None
    assert mean_sentiment([]) is None


@given(st.text(max_size=500))
def test_no_text_is_too_strange(text):
    assert sentiment_of(text) is None or -1 <= sentiment_of(text) <= 1

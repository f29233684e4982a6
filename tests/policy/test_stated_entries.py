"""An entry of which nobody stated anything is the character's own thought."""

import pytest

from evennia_ai.messages import make_message
from evennia_ai.policy.facts.origin import ShownContext, compared, is_stated, shown_line
from evennia_ai.policy.facts.terms import SentenceKinds, normal_words

FACT, JEST = SentenceKinds(1, 0, 0), SentenceKinds(0, 0.9, 0)


def shown(*texts, summed_up=""):
    lines = [
        shown_line(
            make_message("user", f"Ann says: {text}", seq=1, speaker="#5", speaker_name="Ann")
        )
        for text in texts
    ]
    return ShownContext(lines, frozenset(normal_words(summed_up)))


def judge(near, is_held, kinds=FACT, summed_up=""):
    talk = shown("I keep bees.", "Do you?", summed_up=summed_up)
    return is_stated("Ann is a beekeeper.", talk, is_held, lambda *_: near, lambda _text: kinds)


def test_an_entry_is_compared_with_what_was_stated_and_names_do_not_count():
    talk = shown("I keep bees.", "Do you?", "Ann keeps bees.")
    assert compared("Ann is a beekeeper.", talk) == [
        "someone is a beekeeper.",
        "I keep bees.",
        "someone keeps bees.",
    ]


@pytest.mark.parametrize(
    ("near", "is_held", "kinds", "stated"),
    [
        ([0.5], False, FACT, True),
        ([0.3], False, FACT, False),
        ([0.3], True, FACT, True),
        ([0.1], True, FACT, False),
        ([0.5], True, JEST, False),
        ([0.5], True, None, True),
    ],
    ids=["in other words", "no word", "a word", "far", "a jest", "another embedder"],
)
def test_an_entry_is_stated_if_it_is_near_a_line_that_is_meant(near, is_held, kinds, stated):
    assert judge(near, is_held, kinds) == stated


def test_without_an_embedder_or_with_a_summary_the_words_decide():
    assert judge([], True) and not judge([], False)
    assert judge([0.0], True, summed_up="Ann is a beekeeper in Dunmore.")

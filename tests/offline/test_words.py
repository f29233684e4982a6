"""Words, their stems and a choice that is the same at every replay."""

import pytest

from evennia_ai.offline.words import (
    an,
    content,
    listed,
    near,
    plain_spelling,
    rotated,
    seed_of,
    sentences,
    small,
    stem,
    with_article,
)


@pytest.mark.parametrize(
    ("word", "other"),
    [("makes", "making"), ("stolen", "steal"), ("berries", "berry"), ("copied", "copy"),
     ("wolves", "wolf"), ("lantern's", "lanterns"), ("stopped", "stop")],
)  # fmt: skip
def test_forms_of_a_word_have_one_stem(word, other):
    assert stem(word) == stem(other)


def test_common_words_carry_no_content():
    assert content("What is the name of your ship?") == [stem("ship")]


def test_near_meanings_go_both_ways():
    assert stem("horse") in near(stem("mare")) and stem("mare") in near(stem("horse"))


def test_chat_spelling_is_written_out_and_a_capital_kept():
    assert plain_spelling("Whats  that? u dont know im here") == (
        "What's that? you don't know I'm here"
    )


def test_an_abbreviation_or_an_initial_ends_no_sentence():
    assert sentences("Ask Mr. Pike. He reads 'R. Tolliver.' Well?") == [
        "Ask Mr. Pike.", "He reads 'R. Tolliver.'", "Well?"
    ]  # fmt: skip


def test_articles_and_lists():
    assert (an("apple core"), an("nails"), an("pair of boots")) == (
        "an apple core", "nails", "a pair of boots"
    )  # fmt: skip
    assert (with_article("a mug"), with_article("mug"), with_article("Thistle")) == (
        "the mug", "the mug", "Thistle"
    )  # fmt: skip
    assert listed(["a", "b", "c"]) == "a, b and c"


def test_a_name_at_the_start_keeps_its_capital():
    assert small("Brannoc owes me.") == "Brannoc owes me."
    assert small("The gate is shut.") == "the gate is shut."
    assert small("I am here.") == "I am here."


def test_a_choice_depends_on_its_seed_alone():
    assert seed_of("a", 1) == seed_of("a", 1) != seed_of("a", 2)
    assert sorted(rotated("abc", 7)) == ["a", "b", "c"] and rotated([], 3) == []

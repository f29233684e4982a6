"""What a question asks for, and what a memory's text offers."""

import pytest

from evennia_ai.policy.retrieval.relevance import LONGEST_TEXT, understand
from evennia_ai.policy.retrieval.words import find_words, stem


def is_mira(word):
    return word == "mira"


@pytest.mark.parametrize(
    "forms", ["hike hikes hiked hiking", "party parties", "bake baking bakes", "stop stopped"]
)
def test_forms_of_a_word_are_one(forms):
    assert len({stem(form) for form in forms.split()}) == 1


@pytest.mark.parametrize(("one", "other"), [("bed", "be"), ("ring", "r")])
def test_what_is_too_short_stays(one, other):
    assert stem(one) == one and stem(other) == other


@pytest.mark.parametrize(("one", "other"), [("1700", "170"), ("k533", "k53")])
def test_a_number_with_a_doubled_digit_is_no_form_of_another(one, other):
    assert find_words(one) != find_words(other)


def test_question_words_and_owners_say_nothing():
    assert find_words("What did the smith's sister do?") == [stem("smith"), stem("sister")]


def test_a_script_without_spaces_is_cut_into_pairs():
    assert find_words("龍は北") == ["龍は", "は北"]
    assert find_words("龍") == ["龍"]


def test_the_names_of_those_who_speak_are_no_words_of_the_question():
    wanted = understand("What did Mira's sister bake?", is_mira)
    assert wanted.names == {"mira"} and stem("mira") not in wanted.words
    assert "Mira" not in wanted.text and "sister" in wanted.text


def test_a_question_of_a_name_alone_keeps_it():
    wanted = understand("Mira?", is_mira)
    assert (
        wanted.text == "Mira?" and list(wanted.words) == [stem("mira")] and wanted.names == {"mira"}
    )


def test_of_a_very_long_text_the_beginning_counts():
    text = "stone " * LONGEST_TEXT + "dragon"
    assert "dragon" not in understand(text).words
    assert len(understand(text).text) <= LONGEST_TEXT

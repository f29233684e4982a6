"""No regular expression of the package can be made to hold the game: each is about linear."""

import re

import pytest

from evennia_ai.policy.word_patterns import one_of, split_alternatives
from tests.expressions.found import NAMES, Expression, expressions
from tests.expressions.hostile import makers
from tests.expressions.timing import grows_too_fast, worst


@pytest.fixture(scope="module")
def every() -> list[Expression]:
    return expressions()


def test_all_expressions_are_found(every):
    places = {one.place for one in every}
    assert len(every) > 700
    assert {
        "game.perception.ARTICLE",  # of a module
        "policy.facts.cues.CUES",  # in a mapping
        "offline.aspects.ASPECTS",  # in a dataclass of a table
    } <= places
    texts = {one.pattern.pattern for one in every}
    assert r"^(?:from|in|to|as|for) " in texts  # inside a function
    assert any(re.escape(NAMES) in text for text in texts)  # made of a name at run time


def test_no_expression_grows_faster_than_its_text(every):
    bad = [(one.place, worst(one)) for one in every]
    bad = [(place, cost) for place, cost in bad if grows_too_fast(cost)]
    lines = [f"{place}: {cost.expression.pattern.pattern[:80]!r} on {cost.text[:40]!r}"
             for place, cost in bad]  # fmt: skip
    assert lines == []


@pytest.mark.parametrize(
    "pattern",
    [
        r"\s*:?\s*\Z",  # a run of spaces: from each of them to the end
        r"(?:(?:go|go and|and)[ ,]+)*stop",  # two ways to read each word: exponential
        r"\b[a-z][a-z0-9+.-]*://\S+",
        r'["“](.+)["”]',
        r"\b(?:.+ )?from \w+ to here",
    ],
)
def test_an_expression_at_fault_is_caught(pattern):
    one = Expression("here", re.compile(pattern), frozenset({"search"}))
    assert grows_too_fast(worst(one))


def test_each_expression_meets_more_than_twenty_hostile_texts():
    assert len(makers(re.compile("plain"))) > 20
    assert all(len(make(10_000)) <= 10_000 + 200 for make in makers(re.compile(r"(?:a|bc)+d")))


@pytest.mark.parametrize("word", ["Two", "twelve", "vorgestern", "Gestern", "10", "letzten"])
def test_grouped_words_match_what_the_alternatives_match(word):
    plain = r"two|twelve|(?:vor)?gestern|\d+|letzte(?:n|s)?"
    assert re.fullmatch(one_of(plain), word, re.IGNORECASE)
    assert not re.fullmatch(one_of(plain), f"x{word}", re.IGNORECASE)


def test_alternatives_in_groups_and_classes_stay_whole():
    assert list(split_alternatives(r"a(?:b|c)|[|d]|e\|f|g")) == [r"a(?:b|c)", "[|d]", r"e\|f", "g"]

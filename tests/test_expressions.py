"""No regular expression of the package can be made to hold the game: each is about linear."""

import re

import pytest

from evennia_ai.policy.redaction import hide_secrets
from evennia_ai.policy.replies.output_checks import find_repeat, is_echo
from evennia_ai.policy.retrieval.time_expressions import find_spans
from evennia_ai.policy.sanitize import spoken_words
from evennia_ai.policy.texts import one_of, split_alternatives
from tests.expressions.found import NAMES, Expression, expressions
from tests.expressions.hostile import makers
from tests.expressions.timing import grows_too_fast, worst
from tests.growth import text_grows_like_a_square

TRIES = 3


@pytest.fixture(scope="module")
def every() -> list[Expression]:
    return expressions()


def test_all_expressions_are_found(every):
    places = {one.place for one in every}
    assert len(every) > 200
    assert {
        "game.perception.ARTICLE",  # of a module
        "policy.facts.terms.CUES",  # in a mapping
    } <= places
    texts = {one.pattern.pattern for one in every}
    assert any(re.escape(NAMES) in text for text in texts)  # made of a name at run time


@pytest.mark.campaign
def test_no_expression_grows_faster_than_its_text(every):
    bad = [(one.place, worst(one)) for one in every]
    bad = [(place, cost) for place, cost in bad if grows_too_fast(cost)]
    lines = [f"{place}: {cost.expression.pattern.pattern[:80]!r} on {cost.text[:40]!r}"
             for place, cost in bad]  # fmt: skip
    assert lines == []


@pytest.mark.campaign
@pytest.mark.parametrize(
    "pattern",
    [
        r"(.+?) to ([^,]+)",
        r"error|.*context.*",  # linear for fullmatch
        r"\s*:?\s*\Z",  # a run of spaces: from each of them to the end
        r"(?:(?:go|go and|and)[ ,]+)*stop",  # two ways to read each word: exponential
        r"\b[a-z][a-z0-9+.-]*://\S+",
        r'["“](.+)["”]',
        r"\b(?:.+ )?from \w+ to here",
    ],
)
def test_an_expression_at_fault_is_caught(pattern):
    one = Expression("here", re.compile(pattern))
    # Work beside it can hide once how the time grows.
    assert any(grows_too_fast(worst(one)) for _ in range(TRIES))


def test_each_expression_meets_more_than_twenty_hostile_texts():
    assert len(makers(re.compile("plain"))) > 20
    assert all(len(make(10_000)) <= 10_000 + 200 for make in makers(re.compile(r"(?:a|bc)+d")))


# What reads players' or a model's words, calls several expressions, and loops over matches. Others
# have such a test beside their own, with pieces made for them.
READERS = {
    "spoken_words": lambda text: spoken_words(text, "Mira", 20_000),
    "echo": lambda text: is_echo(text, [f"{text} x"]),
    "repeat": lambda text: find_repeat(text, [text[1:]] * 3),
    "times": lambda text: find_spans(text, 1.7e9),
    "secrets": lambda text: hide_secrets(text, "sk-0123456789"),
}
PIECES = (
    " ", "a ", "Aye. ", "Ann says: ", "1,", "?! ", "(", '"', '{"a":', "<think>", "My Name Is Tom. ",
)  # fmt: skip


@pytest.mark.campaign
@pytest.mark.parametrize("reader", READERS)
def test_reading_twice_the_text_takes_about_twice_the_time(reader):
    slow = [piece for piece in PIECES if text_grows_like_a_square(READERS[reader], piece)]
    assert slow == []


@pytest.mark.parametrize("word", ["Two", "twelve", "vorgestern", "Gestern", "10", "letzten"])
def test_grouped_words_match_what_the_alternatives_match(word):
    plain = r"two|twelve|(?:vor)?gestern|\d+|letzte(?:n|s)?"
    assert re.fullmatch(one_of(plain), word, re.IGNORECASE)
    assert not re.fullmatch(one_of(plain), f"x{word}", re.IGNORECASE)


def test_alternatives_in_groups_and_classes_stay_whole():
    assert list(split_alternatives(r"a(?:b|c)|[|d]|e\|f|g")) == [r"a(?:b|c)", "[|d]", r"e\|f", "g"]

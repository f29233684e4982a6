"""A request never holds more talk than there is room for."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from evennia_ai.messages import make_message
from evennia_ai.policy.context.projection import newest_that_fit
from evennia_ai.policy.tokens import count_message, stored_tokens

MARKER = make_message("user", "what was before", type="compaction")


def heard(text):
    return make_message("user", text)


def fit(messages, budget):
    return newest_that_fit(messages, budget, count_message)


def total(messages):
    return sum(map(count_message, messages))


def test_what_fits_is_shown_whole():
    messages = [MARKER, heard("one"), heard("two")]
    assert fit(messages, 1_000) == messages
    assert fit([], 10) == []


def test_the_newest_are_kept_and_the_summary_before_them():
    messages = [MARKER, *(heard(f"line {n} " * 10) for n in range(20))]
    shown = fit(messages, 150)
    assert shown[0] is MARKER
    assert shown[1:] == messages[-len(shown) + 1 :]
    assert total(shown) <= 150


def test_a_single_message_that_is_too_long_is_shortened_in_its_middle():
    message = heard("first " + "word " * 4_000 + "last")
    (shown,) = fit([MARKER, message], 200)
    assert shown["content"].startswith("first")
    assert shown["content"].endswith("last")
    assert "[...]" in shown["content"]
    assert count_message(shown) <= 200
    assert len(message["content"]) > 20_000


@given(st.lists(st.text("ab äя中🙂 ", max_size=300), min_size=1, max_size=12), st.integers(60, 600))
def test_no_more_than_the_budget_and_always_something(texts, budget):
    shown = fit([heard(text) for text in texts], budget)
    assert shown
    assert total(shown) <= budget


def starts_of(talk, budget):
    """Return the index of the first message shown after each line of a growing talk."""
    shown = (newest_that_fit(talk[:upto], budget, stored_tokens) for upto in range(1, len(talk)))
    return [messages[0]["metadata"]["number"] for messages in shown]


@given(st.integers(300, 8_000), st.lists(st.integers(5, 60), min_size=400, max_size=400))
@settings(max_examples=20, deadline=None)
def test_over_a_growing_talk_the_start_moves_rarely_and_only_forward(budget, sizes):
    talk = [make_message("user", "x", tokens=size, number=n) for n, size in enumerate(sizes)]
    starts = starts_of(talk, budget)
    moves = [later - earlier for earlier, later in pairwise(starts) if later != earlier]
    assert all(move > 0 for move in moves)
    assert len(moves) <= sum(sizes) / (budget / 4)


@given(st.integers(600, 8_000))
def test_much_is_shown_after_a_cut(budget):
    talk = [make_message("user", "x", tokens=25) for _ in range(500)]
    assert 25 * len(newest_that_fit(talk, budget, stored_tokens)) >= 0.45 * budget


@given(st.lists(st.integers(1, 60), min_size=1, max_size=40), st.integers(60, 900))
def test_without_steps_all_that_fit_are_shown(sizes, budget):
    talk = [make_message("user", "x", tokens=size) for size in sizes]
    shown = newest_that_fit(talk, budget, stored_tokens, in_steps=False)
    assert sum(sizes[-len(shown) :]) <= budget
    assert len(shown) == len(talk) or sum(sizes[-len(shown) - 1 :]) > budget

"""Streams of more choices, calls and parts of names than a reply has; see `tests.attacks`."""

from evennia_ai.policy.replies.text_tool_calls import MOST_CALLS
from evennia_ai.policy.tool_call_modes.form import PLAIN
from tests.attacks.hostile_deltas import MAKERS, call, text
from tests.attacks.test_hostile_deltas import read
from tests.growth import grows_like_a_square

FEW = 500  # events


def test_choices_that_count_up_take_no_square():
    events = [MAKERS["choices counting up"](n) for n in range(10 * FEW)]
    assert not grows_like_a_square(read, events[:FEW], events)


def test_more_calls_than_are_kept_do_no_harm():
    reply = read([call("{}", 0, "say", index=0, id=f"i{n}") for n in range(200)])
    assert len(reply.tool_calls) == MOST_CALLS


def test_the_text_of_the_first_choice_counts_in_whatever_order_choices_come():
    words = [text("Nay.", 7), text("Hm.", 3), text("Good ", 1), text("No.", 2), text("day.", 1)]
    assert read(words, PLAIN).content == "Good day."


def test_a_name_is_kept_up_to_a_bound():
    reply = read([call("", 0, f"n{n}", index=0) for n in range(3_000)])
    assert len(reply.tool_calls[0].name) < 1_000

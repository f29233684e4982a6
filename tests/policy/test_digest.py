"""What stands in the place of old talk without a model, and how a part of a summary is put
together and taken apart again."""

import pytest

from evennia_ai.messages import make_message
from evennia_ai.policy.compaction.summary import (
    count_line,
    make_digest,
    prefix_hash,
    split_turn,
    with_turn,
)


def test_a_digest_keeps_the_summary_and_counts_once():
    messages = [make_message("user", "x"), make_message("assistant", "y")]
    first = make_digest(messages, "Ann is a smith.")
    second = make_digest(messages[:1], first)
    assert first == "[Compacted 2 messages: 1 heard, 1 said or done]\nAnn is a smith."
    assert second == "[Compacted 1 messages: 1 heard]\nAnn is a smith."


def test_of_nothing_nothing_is_counted():
    assert count_line([]) == ""


def test_facts_stand_below_a_digest_once_and_the_newest_stay_if_room_is_short():
    message = make_message("user", "x")
    first = make_digest([message], "Ann is a smith.", ["Ann: I owe you 42.", "Ann: I am Ann."], 99)
    assert first.splitlines()[1:] == [
        "Ann is a smith.",
        "Facts:",
        "- Ann: I owe you 42.",
        "- Ann: I am Ann.",
    ]
    again = ["Ann: I am Ann.", "Bob: I am Bob."]
    second = make_digest([message], first, again, 99).splitlines()
    assert second[3:] == ["- Ann: I owe you 42.", "- Ann: I am Ann.", "- Bob: I am Bob."]
    assert second[:3] == first.splitlines()[:3]
    short = make_digest([message], first, again, 30)
    assert short.splitlines()[3:] == ["- Bob: I am Bob."]
    assert "Facts" not in make_digest([message], first, again, 5)


@pytest.mark.parametrize("text", ["", "Ann is a smith.", "two\nlines", "one\nFacts:\n- Ann: x"])
@pytest.mark.parametrize("turn", ["", "Ann looks around.", "one\ntwo"])
def test_a_part_is_taken_apart_as_it_was_put_together(text, turn):
    assert split_turn(with_turn(text, turn)) == (text, turn)


def test_the_turn_stands_below_the_rest_under_a_heading_of_its_own():
    assert with_turn("Ann is a smith.", "She looks.").splitlines() == [
        "Ann is a smith.",
        "The turn under way, so far:",
        "She looks.",
    ]


def test_the_fingerprint_tells_of_every_change_but_in_what_tools_gave_back():
    rows = [(1, "user", "Ann says: a"), (2, "assistant", "b"), (5, "tool", "seen")]
    known = prefix_hash(rows)
    assert prefix_hash(iter(rows)) == known
    for changed in (
        rows[1:],
        [rows[0], (2, "assistant", "c"), rows[2]],
        [rows[0], (3, "assistant", "b"), rows[2]],
        [(1, "user", "Ann says: a\n2 assistant 1 b"), rows[2]],
    ):
        assert prefix_hash(changed) != known
    assert prefix_hash([*rows[:2], (5, "tool", "[TOOL OUTPUT ARCHIVED]")]) == known

"""What a pass of sleep came to, in figures and in words."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.policy.sleep_schedule import describe_step, split_result, summarise_pass
from evennia_ai.sleep import STEP_TEXTS

COMPACTED = {
    "success": True,
    "compaction_id": 3,
    "compacted_messages": 40,
    "original_tokens": 6_100,
    "new_tokens": 2_300,
    "rung": "summary",
}


def test_words_that_somebody_may_have_said_are_not_among_the_figures():
    result = {"success": True, "facts": ["Ann owes 40 crowns"], "said": "a secret", "count": 2}
    assert split_result(result) == ({"success": True, "facts": 1, "count": 2}, "")


@given(
    st.dictionaries(st.text(), st.floats() | st.text() | st.none() | st.binary() | st.booleans())
)
def test_whatever_a_step_comes_to_can_be_stored(result):
    json.dumps(split_result(result), allow_nan=False)


@pytest.mark.parametrize(
    ("name", "figures", "error", "line"),
    [
        ("context_compaction", COMPACTED, "",
         "Old talk summed up: 40 messages, 6,100 tokens before and 2,300 after"),
        ("episodic_prune", {"skipped": True, "reason": "nothing old enough"}, "",
         "Old memories let go: not done, nothing old enough"),
        ("memory_links", {"success": True, "stored": 4, "already_there": 0, "model_failed": True},
         "", "Journal into long-term memory: stored 4, model failed"),
        ("memory_links", {"success": True}, "", "Journal into long-term memory: nothing to do"),
        ("dream_up", {"success": False}, "it rained", "dream up: failed, it rained"),
    ],
)  # fmt: skip
def test_each_step_is_told_in_words(name, figures, error, line):
    assert describe_step(STEP_TEXTS, name, figures, error) == line


def test_a_pass_in_a_line_tells_what_was_done_and_what_failed():
    results = {
        "context_compaction": COMPACTED,
        "episodic_prune": {"skipped": True, "reason": "few"},
        "stale_conversations": {"success": True, "ended": 0, "running": 2},
        "pre_compaction_extraction": {"success": True, "facts_recorded": 0, "stopped_by": "noop"},
        "memory_links": {"success": False},
    }
    assert summarise_pass(STEP_TEXTS, results, {"memory_links": "down"}) == (
        "Old talk summed up: 40 messages, 6,100 tokens before and 2,300 after; "
        "Journal into long-term memory: failed, down"
    )
    assert (
        summarise_pass(STEP_TEXTS, {"episodic_prune": {"skipped": True}}, {})
        == "nothing was to be done"
    )

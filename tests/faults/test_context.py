"""What goes wrong with a full context, one test for each, numbered as on the list.

The engine, the gateway and the client against the stub on loopback.
"""

import json
from dataclasses import replace

import pytest

from evennia_ai.messages import make_message
from evennia_ai.sleep.compaction import compact, compact_conversation_history
from evennia_ai.sleep.order import Order
from evennia_ai.testing.stub_replies import build_completion

SUMMARY = {"text": "Ann told of her journey, and how she crossed nine rivers."}
TOO_LONG_FOR_ITS_ROOM = {"text": "Ann went on and on. " * 250}
NO_SUMMARIES = {
    "empty": {"text": ""},
    "only thoughts": {"text": "<think>What could I write?</think>"},
    "a refusal": {"text": "I'm sorry, but I can't help with that."},
    "longer than its input": {"text": "and then " * 6_000},
    "longer than its room": TOO_LONG_FOR_ITS_ROOM,
}


@pytest.fixture
def full(road):
    """A character with a small window and a long talk behind it."""
    road.script.config = replace(road.script.config, max_context_tokens=12_000)
    road.script.character = road.script  # of which nothing but what it remembers is touched
    said = "I crossed a river and then another one and went on through the wide and empty land. "
    for number in range(60):
        line = f"Ann says: {number}. " + said * 7
        meta = {"speaker": "#5", "speaker_name": "Ann", "audience": ["#5"]}
        road.script.conversation.append([make_message("user", line, **meta)])
        road.script.conversation.append([make_message("assistant", f"Well, {number}.")])
    return road


def compacted(road):
    """The result of a compaction."""
    return road.outcome(compact_conversation_history(road.script, road.script, force=True))


def stored(road):
    """Everything that is kept of the talk, and what is in view of it."""
    log = road.script.conversation
    return json.dumps([log.messages, list(log.view()), len(log.moves)])


@pytest.mark.parametrize("reply", NO_SUMMARIES.values(), ids=NO_SUMMARIES)
def test_fault_47_what_is_no_summary_leaves_the_history_as_it_was(full, reply):
    before = stored(full)
    full.provider.queue(*[reply] * 20)
    assert compacted(full) == {"success": False, "error": "summary generation failed"}
    assert stored(full) == before


@pytest.mark.parametrize("reply", NO_SUMMARIES.values(), ids=NO_SUMMARIES)
def test_fault_47_the_next_rung_takes_its_place(full, reply):
    full.provider.queue(reply, *[SUMMARY] * 20)
    result = compacted(full)
    assert (result["success"], result["rung"]) == (True, "cleared")
    assert SUMMARY["text"] in full.script.conversation.view()[0]["content"]


def test_fault_47_one_that_was_cut_off_is_none_either(full):
    before = stored(full)
    completion = build_completion(SUMMARY, {}, 1)
    completion["choices"][0]["finish_reason"] = "length"
    full.provider.queue(*[{"completion": completion}] * 20)
    assert not compacted(full)["success"]
    assert stored(full) == before


def test_fault_47_after_two_of_them_room_is_made_without_a_model(full):
    full.provider.queue(*[NO_SUMMARIES["empty"]] * 40)
    order = Order(force=True)
    assert not full.outcome(compact(full.script, order))["success"]
    assert not full.outcome(compact(full.script, order))["success"]
    asked = len(full.provider.requests())
    assert full.outcome(compact(full.script, order))["rung"] == "digest"
    assert len(full.provider.requests()) == asked

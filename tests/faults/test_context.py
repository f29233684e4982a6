"""Faults of a full context window, numbered as on the list they come from.

The engine, the gateway and the client against the stub on loopback.
"""

import json
from dataclasses import replace

import pytest

from evennia_ai.messages import make_message, wire_call
from evennia_ai.policy.compaction.plan import CompactionOrder

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
    """A character with a small context window after a long talk."""
    road.script.config = replace(road.script.config, max_context_tokens=12_000)
    said = "I crossed a river and then another one and went on through the wide and empty land. "
    for number in range(60):
        line = f"Ann says: {number}. " + said * 7
        meta = {"speaker": "#5", "speaker_name": "Ann", "audience": ["#5"]}
        road.script.conversation.append([make_message("user", line, **meta)])
        road.script.conversation.append([make_message("assistant", f"Well, {number}.")])
    return road


def compacted(road):
    """Return the result of a compaction."""
    return road.outcome(road.script.compactor.compact(CompactionOrder(force=True)))


def stored(road):
    """Return all stored messages, and those in view."""
    log = road.script.conversation
    return json.dumps([log.messages, list(log.view()), len(log.moves)])


@pytest.mark.parametrize("reply", NO_SUMMARIES.values(), ids=NO_SUMMARIES)
def test_fault_47_what_is_no_summary_leaves_the_history_as_it_was(full, reply):
    before = stored(full)
    full.provider.queue(*[reply] * 20)
    assert compacted(full) == {"success": False, "error": "summary generation failed"}
    assert stored(full) == before


def test_fault_47_after_two_of_them_room_is_made_without_a_model(full):
    full.provider.queue(*[NO_SUMMARIES["empty"]] * 40)
    order = CompactionOrder(force=True)
    assert not full.outcome(full.script.mind.compactor.compact(order))["success"]
    assert not full.outcome(full.script.mind.compactor.compact(order))["success"]
    asked = len(full.provider.requests())
    assert full.outcome(full.script.mind.compactor.compact(order))["rung"] == "digest"
    assert len(full.provider.requests()) == asked


# --- 24: more than the window ---------------------------------------------------------------------


def ends(road):
    """Return the end of each line that needs an answer, by its text."""
    return road.script.mind.states()


def test_fault_24_an_overflow_is_answered_after_one_compaction_and_one_retry(full):
    full.provider.fault("too_long")
    full.hears("Are you there?")
    assert ends(full) == {"Are you there?": "answered"}
    first, second = (request["body"]["messages"] for request in full.provider.requests())
    assert len(second) < len(first)
    (move,) = full.script.conversation.moves
    assert (move.record.reason, move.record.rung) == ("overflow", "digest")
    assert full.pauses == []  # which no retry of the gateway's was spent on


def test_fault_24_a_second_overflow_is_an_excuse_and_no_second_compaction(full):
    full.provider.fault("too_long", "too_long", "too_long")
    full.hears("Are you there?")
    assert ends(full) == {"Are you there?": "excused"}
    assert len(full.provider.requests()) == 2
    assert len(full.script.conversation.moves) == 1


# --- 39: calls without results, results without calls ---------------------------------------------


def looked(number, *, call=True, result=True):
    """Return a `look` call with its result, or only one of the two."""
    call_id = f"look{number}"
    asked = make_message("assistant", "", tool_calls=[wire_call(call_id, "look", "{}")])
    seen = make_message("tool", "A room with many doors. " * 20, tool_call_id=call_id)
    return [asked] * call + [seen] * result


@pytest.fixture
def torn(full):
    """Return a long talk whose `look` calls or results are missing."""
    log = full.script.conversation
    for number in range(4):
        log.append(looked(3 * number))
        log.append(looked(3 * number + 1, call=False))
        log.append(looked(3 * number + 2, result=False))
        log.append([make_message("assistant", "Doors, and more doors.", audience=["#5"])])
        log.append([make_message("user", f"Ann says: So {number}?", audience=["#5"])])
    return full


def pairs_are_whole(messages):
    """Return True if each call is followed by its results, and no other result exists."""
    waiting = []
    for message in messages:
        if message["role"] == "tool":
            if not waiting or message["tool_call_id"] != waiting.pop(0):
                return False
        elif waiting:
            return False
        else:
            waiting = [call["id"] for call in message.get("tool_calls", ())]
    return not waiting


def lose_rows(road):
    """Cut the talk as a purge does: it begins with the result of a `look`."""
    log = road.script.conversation.messages
    first = next(n for n, message in enumerate(log) if message["role"] == "tool")
    del log[:first]


CHANGES = {
    "as it is": lambda road: None,
    "after a compaction": lambda road: road.script.mind.emergency.on_overflow(),
    "after one into the midst of the looks": lambda road: road.outcome(
        road.script.mind.compactor.compact(CompactionOrder("overflow", force=True, keep_recent=3))
    ),
    "after a mask": lambda road: road.script.conversation.mask(10_000),
    "after an undo": lambda road: (
        road.script.mind.emergency.on_overflow(),
        road.script.conversation.mask(10_000),
        road.script.conversation.undo(),
    ),
    "after a loss of rows": lose_rows,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_fault_39_halves_of_calls_are_mended_on_the_wire_and_nowhere_else(torn, change):
    change(torn)
    before = json.dumps(torn.script.conversation.messages)
    torn.hears("What have you seen?")
    assert ends(torn) == {"What have you seen?": "answered"}
    sent = torn.provider.requests()[0]["body"]["messages"]
    assert any(message["role"] == "tool" for message in sent)
    assert pairs_are_whole(sent)
    after = json.dumps(torn.script.conversation.messages)
    assert after.startswith(before[:-1])

"""Faults of a model's output, numbered as on the list they come from.

The engine, the real tool registry, the gateway and the client against the stub on loopback.
"""

import json

import pytest

from evennia_ai.policy.conversation.tool_call_rules import CUT_OFF, REPEATS_FATAL, TOO_MANY
from tests.faults.conftest import KEY
from tests.provider.model_faults import MANY_CALLS, MODEL

ECHO = "I heard: hello"
FALLBACK = "(fallback)"
# Characters that no line for players may hold, and that no database or client should be given.
FORBIDDEN = ("\ud800", "\x00", "\x1b", "\u202e", "\u2066", "\u200b", "|", "\n", "\r", "$eval")


MENDED = {"tool_calls": [{"name": "say", "arguments": {"text": "Good evening."}}]}


def broken(number):
    """Return a ``say`` call with truncated arguments; no two are equal."""
    return {"tool_calls": [{"name": "say", "arguments": f'{{"text": "try {number}'}]}


def asked(road):
    """Return the number of model calls."""
    return len(road.provider.requests())


def stored(road):
    """Return all that is stored of a turn, as text."""
    acts = [(act.call.name, act.call.arguments, act.result) for act in road.script.mind.turns.acts]
    return json.dumps([acts, road.script.conversation.messages], ensure_ascii=False, default=str)


def test_fault_15_truncated_json_is_asked_for_again_and_there_is_one_reply(road):
    road.provider.fault("truncated_json")
    turn = road.hears("hello")
    assert turn.outcome == "answered"
    assert road.hall.said == [ECHO]
    assert asked(road) == 2


def test_fault_16_arguments_that_are_not_json_are_an_error_the_model_may_mend(road):
    road.provider.queue({"fault": "broken_arguments"}, MENDED)
    turn = road.hears("hello")
    assert turn.outcome == "answered"
    assert road.hall.said == ["Good evening."]
    assert road.acts == [("failed", "say"), ("done", "say")]
    assert "do not fit" in road.results()[0]


@pytest.mark.parametrize("alike", [True, False])
def test_fault_16_it_may_mend_them_twice_at_most(road, alike):
    road.provider.queue(*(broken(0 if alike else number) for number in range(6)))
    turn = road.hears("hello")
    assert asked(road) == 3
    assert turn.outcome == "excused"
    assert road.hall.said == [FALLBACK]


def test_fault_19_calls_with_one_id_are_told_apart_in_one_reply_and_in_the_whole_log(road):
    look = {"id": "call_0", "name": "look", "arguments": {"target": "fire"}}
    say = {"id": "call_0", "name": "say", "arguments": {"text": "Warm your hands."}}
    road.provider.queue({"fault": "same_ids"}, {"tool_calls": [look, say]})
    for _ in range(2):
        assert road.hears("hello").outcome == "answered"
    assert road.hall.looked == ["fire"] * 2
    assert road.hall.said == ["It burns.", "Warm your hands."]
    log = road.script.conversation.messages
    ids = [call["id"] for message in log for call in message.get("tool_calls", ())]
    assert len(ids) == len(set(ids)) == 4
    assert ids == [message["tool_call_id"] for message in log if message["role"] == "tool"]


def test_fault_20_of_a_hundred_calls_only_so_many_are_run(road):
    limit = road.script.config.max_tool_calls
    assert limit < MANY_CALLS
    road.provider.fault("many_calls")
    turn = road.hears("hello")
    assert len(road.hall.looked) == limit
    assert road.results()[limit : limit + 1] == [TOO_MANY]
    assert (
        len(road.script.mind.turns.acts) == limit + 2
    )  # the one that stands for the rest, and say
    assert turn.outcome == "answered"


@pytest.mark.parametrize("fault", ["no_choices", "no_content"])
def test_fault_21_a_reply_with_nothing_in_it_is_asked_for_once_more(road, fault):
    road.provider.fault(fault)
    assert road.hears("hello").outcome == "answered"
    road.provider.fault(fault, fault)
    assert road.hears("Are you deaf?").outcome == "excused"
    assert road.hall.said[1:] == [FALLBACK]


def test_fault_23_a_call_of_a_reply_that_was_cut_off_is_not_run(road):
    road.provider.queue({"fault": "cut_off"}, MENDED)
    turn = road.hears("hello")
    assert turn.outcome == "answered"
    assert road.hall.said == ["Good evening."]
    assert road.acts == [("refused", "say"), ("done", "say")]
    assert road.results()[0] == CUT_OFF


def test_fault_25_the_same_call_again_and_again_stops_the_turn(road):
    road.provider.mix_faults(1.0, names=["same_call"])
    turn = road.hears("hello")
    assert asked(road) == REPEATS_FATAL
    assert road.hall.looked == ["fire"]
    assert turn.outcome == "excused"


def test_fault_26_a_special_token_in_a_players_words_reaches_the_model_and_breaks_nothing(road):
    text = "<|endoftext|> hello <|im_start|>system"
    turn = road.hears(text)
    assert turn.outcome == "answered"
    assert turn.model_calls[0].estimated_tokens > 0
    (request,) = road.provider.requests()
    assert any(text in str(message["content"]) for message in request["body"]["messages"])


@pytest.mark.parametrize("fault", ["hostile_text", "hostile_arguments"])
def test_fault_27_hostile_characters_are_neither_spoken_nor_stored_nor_sent_on(road, fault):
    road.provider.queue({"fault": fault}, MENDED)
    turn = road.hears("hello")
    assert turn.outcome == "answered"
    assert not any(part in line for line in road.hall.said for part in FORBIDDEN)
    assert "\ud800" not in stored(road)
    assert "\x00" not in stored(road)

    road.provider.clear()
    road.hears("and you?")
    assert road.hall.said[-1] == "I heard: and you?"


@pytest.mark.parametrize("fault", ["no_usage", "absurd_usage"])
def test_fault_28_without_a_usage_that_can_be_true_our_estimate_counts(road, fault):
    road.provider.fault(fault)
    turn = road.hears("hello")
    assert turn.outcome == "answered"
    (call,) = turn.model_calls
    assert call.usage is None
    assert call.estimated_tokens > 0


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_whatever_a_model_gives_back_every_line_of_a_player_is_closed(road, seed, logged):
    road.provider.mix_faults(0.7, seed, sorted(MODEL))
    for number in range(25):
        turn = road.hears(f"line {number}")
        assert turn.outcome in ("answered", "excused", "noted")
        road.clock.advance(120.0)
    assert {"waiting", "claimed"}.isdisjoint(road.script.mind.states().values())
    assert not any(part in line for line in road.hall.said for part in FORBIDDEN)
    assert not any(KEY in line or "Traceback" in line for line in logged)

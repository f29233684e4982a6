"""What of a reply is run, and when the turn is over."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.messages import LLMReply, ToolCallRequest
from evennia_ai.policy.conversation.tool_call_rules import (
    ALREADY_DONE,
    CUT_OFF,
    GAVE_UP,
    REPAIRS,
    SAME_AGAIN,
    TOO_MANY,
    LoopState,
    apply_call,
    begin_step,
    own_call_id,
    read_arguments,
    refusal_for,
    take_calls,
    wire_arguments,
    with_earlier_acts,
)

CATEGORIES = {"say": "final", "look": "free", "give": "once", "whisper": "final"}
START = begin_step(LoopState(turn_id=7))


def reply(*calls, finish="tool_calls"):
    return LLMReply("", tuple(ToolCallRequest("x", name, args) for name, args in calls), finish)


def work_off(state, *calls, finish="tool_calls", good=True):
    """Refusals of one reply's calls, and the loop after it; what is run turns out ``good``."""
    refusals = []
    for number, call in enumerate(take_calls(reply(*calls), state, 4)):
        refusals.append(refusal_for(call, number, state, CATEGORIES, finish, 4))
        state = apply_call(state, call, good and not refusals[-1], CATEGORIES)
    return refusals, state


def test_free_tools_may_be_chained_in_one_reply():
    assert work_off(START, ("look", '{"target":"a"}'), ("look", '{"target":"b"}'))[0] == ["", ""]


@pytest.mark.parametrize("name", ["give", "say"])
def test_a_limited_tool_succeeds_once(name):
    calls = ((name, '{"a":1}'), (name, '{"a":2}'))
    assert work_off(START, *calls)[0] == ["", ALREADY_DONE]
    assert work_off(START, *calls, good=False)[0] == ["", ""]


def test_it_may_whisper_once_to_each():
    calls = [("whisper", json.dumps({"target": who, "text": "x"})) for who in ("Ann", "Ben", "ANN")]
    assert work_off(START, *calls)[0] == ["", "", ALREADY_DONE]


def test_only_a_final_tool_that_succeeded_ends_the_turn():
    assert work_off(START, ("say", "{}"))[1].ended
    assert not work_off(START, ("say", "{}"), good=False)[1].ended
    assert not work_off(START, ("give", "{}"))[1].ended


def test_the_same_call_is_refused_the_second_time_and_ends_the_turn_the_third():
    state, seen = START, []
    for spelling in ('{"a":1,"b":2}', '{"b": 2, "a": 1}', '{"a":1, "b":2}'):
        refusals, state = work_off(state, ("look", spelling))
        seen += refusals
    assert seen == ["", SAME_AGAIN, GAVE_UP]
    assert state.ended


def test_calls_beyond_the_limit_are_one_refusal():
    calls = [("look", f'{{"target":"{n}"}}') for n in range(2_000)]
    assert work_off(START, *calls)[0] == ["", "", "", "", TOO_MANY]


def test_a_reply_that_was_cut_off_runs_nothing():
    assert work_off(START, ("say", '{"text":"hal'), finish="length")[0] == [CUT_OFF]


def test_what_was_done_before_a_crash_is_not_done_again_and_does_not_end_the_turn():
    earlier = [ToolCallRequest("1", "give", '{"item":"mug"}'), ToolCallRequest("2", "look", "{}")]
    state = with_earlier_acts(START, earlier, CATEGORIES)
    assert not state.ended
    refusals, _ = work_off(state, ("give", '{"item": "mug"}'), ("give", '{"item":"cup"}'))
    assert refusals == [ALREADY_DONE, ALREADY_DONE]
    assert work_off(state, ("look", "{}"), ("look", '{"target":"x"}'))[0] == [SAME_AGAIN, ""]


@pytest.mark.parametrize("raw", ['{"text": "Hel', "[]", "nonsense", '"text"'])
def test_arguments_that_are_no_object_never_go_back_to_a_model(raw):
    (call,) = take_calls(reply(("say", raw)), START, 4)
    assert call.arguments == raw
    assert wire_arguments(call) == "{}"


@given(st.text(st.characters(codec=None)), st.text(st.characters(codec=None)))
def test_whatever_a_model_wrote_can_be_stored_and_sent(name, arguments):
    (call,) = take_calls(reply((name, arguments)), START, 4)
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", call.name)
    json.dumps([call.name, call.arguments], ensure_ascii=False).encode()
    assert "\x00" not in call.arguments
    assert isinstance(json.loads(wire_arguments(call)), dict)


def test_every_call_gets_an_id_of_its_own_whatever_the_model_wrote():
    calls = [("look", '{"a":1}'), ("look", '{"a":2}')]
    first = take_calls(reply(*calls), START, 4)
    second = take_calls(reply(*calls), begin_step(START), 4)
    third = take_calls(reply(*calls), LoopState(turn_id=8, step=1), 4)
    assert len({call.id for call in (*first, *second, *third)}) == 6


@given(st.integers(0, 36**5 - 1), st.integers(0, 99), st.integers(0, 99))
def test_ids_are_nine_letters_or_digits(turn, step, number):
    assert re.fullmatch(r"[0-9a-z]{9}", own_call_id(turn, step, number))


def test_a_model_may_mend_its_json_twice_however_many_calls_a_reply_has():
    state = START
    for step in range(1, REPAIRS + 2):
        assert not state.ended
        state = begin_step(state)
        for number in range(3):
            garbled = ToolCallRequest("", "say", f'{{"text": "{step} {number}')
            state = apply_call(state, garbled, False, CATEGORIES)
            assert state.ended == (step > REPAIRS)


def test_what_goes_wrong_for_another_reason_is_no_try_to_write_json():
    state = START
    for step in range(REPAIRS + 3):
        fine = ToolCallRequest("", "look", json.dumps({"target": step}))
        state = apply_call(begin_step(state), fine, False, {})
    assert not state.ended


def test_arguments_that_are_nested_too_deeply_count_as_garbled() -> None:
    """Python raises RecursionError on deep JSON, a RuntimeError and no ValueError."""
    call = ToolCallRequest("", "say", "[" * 19_999)
    assert read_arguments(call) is None
    assert apply_call(LoopState(1), call, False, CATEGORIES).garbled == {0}

"""What of a reply is run, and when the turn is over."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.messages import LLMReply, ToolCallRequest
from evennia_ai.policy.react import (
    ALREADY_DONE,
    CUT_OFF,
    SAME_AGAIN,
    TOO_MANY,
    LoopState,
    apply_step,
    own_call_id,
    plan_step,
)

CATEGORIES = {"say": "final", "look": "free", "give": "once"}


def reply(*calls, finish="tool_calls"):
    requests = [ToolCallRequest("x", name, args) for name, args in calls]
    return LLMReply("", tuple(requests), finish)


def plan(state, *calls, **kwargs):
    return plan_step(reply(*calls, **kwargs), CATEGORIES, state, max_calls=4)


def refusals(planned):
    return [item.refusal for item in planned]


START = LoopState(turn_id=7)


def test_free_tools_may_be_chained_in_one_reply():
    assert refusals(plan(START, ("look", '{"target":"a"}'), ("look", '{"target":"b"}'))) == ["", ""]


@pytest.mark.parametrize("name", ["give", "say"])
def test_a_limited_tool_runs_once_in_a_reply(name):
    assert refusals(plan(START, (name, '{"a":1}'), (name, '{"a":2}'))) == ["", ALREADY_DONE]


def test_a_limited_tool_runs_once_in_a_turn_if_it_succeeded():
    planned = plan(START, ("give", '{"a":1}'))
    after_success = apply_step(START, planned, [True], CATEGORIES)
    after_failure = apply_step(START, planned, [False], CATEGORIES)
    assert refusals(plan(after_success, ("give", '{"a":2}'))) == [ALREADY_DONE]
    assert refusals(plan(after_failure, ("give", '{"a":2}'))) == [""]


def test_only_a_final_tool_that_succeeded_ends_the_turn():
    planned = plan(START, ("say", "{}"))
    assert apply_step(START, planned, [True], CATEGORIES).ended
    assert not apply_step(START, planned, [False], CATEGORIES).ended
    assert not apply_step(START, plan(START, ("give", "{}")), [True], CATEGORIES).ended


def test_the_same_call_is_refused_the_second_time_and_ends_the_turn_the_third():
    spellings = ['{"a":1,"b":2}', '{"b": 2, "a": 1}', '{"a":1, "b":2}']
    state, seen = START, []
    for spelling in spellings:
        planned = plan(state, ("look", spelling))
        seen += refusals(planned)
        state = apply_step(state, planned, [True], CATEGORIES)
    assert seen == ["", SAME_AGAIN, SAME_AGAIN]
    assert state.ended


def test_calls_beyond_the_limit_are_answered_but_not_run():
    planned = plan(START, *(("look", f'{{"target":"{n}"}}') for n in range(6)))
    assert refusals(planned) == ["", "", "", "", TOO_MANY, TOO_MANY]


def test_a_reply_that_was_cut_off_runs_nothing():
    assert refusals(plan(START, ("say", '{"text":"hal'), finish="length")) == [CUT_OFF]


def test_arguments_that_are_no_json_do_not_break_the_plan():
    assert refusals(plan(START, ("look", "{broken"), ("look", "{broken"))) == ["", SAME_AGAIN]


def test_every_call_gets_an_id_of_its_own_whatever_the_model_wrote():
    first = plan(START, ("look", '{"a":1}'), ("look", '{"a":2}'))
    second = plan(LoopState(turn_id=8), ("look", '{"a":1}'))
    made = [item.call.id for item in (*first, *second)]
    assert len(set(made)) == 3


@given(st.integers(0, 36**5 - 1), st.integers(0, 99), st.integers(0, 99))
def test_ids_are_nine_letters_or_digits(turn, step, number):
    assert re.fullmatch(r"[0-9a-z]{9}", own_call_id(turn, step, number))

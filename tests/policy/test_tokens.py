"""Counting: every part of a message, and what endpoints reported of it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.messages import make_message, wire_call
from evennia_ai.policy.tokens import (
    Calibration,
    UsageReport,
    calibrate,
    count_conversation_tokens,
    count_message,
    count_tools,
    estimate_tokens,
)

LOOK = {
    "type": "function",
    "function": {
        "name": "look",
        "description": "Look at something in the room.",
        "parameters": {"type": "object", "properties": {"target": {"type": "string"}}},
    },
}


def grown(message, **changes):
    return count_message({**message, **changes}) - count_message(message)


def test_calls_and_ids_count_as_words_do():
    bare = make_message("assistant", "")
    calling = make_message("assistant", "", tool_calls=[wire_call("1", "say", '{"text": "hello"}')])
    assert count_message(calling) > count_message(bare)
    assert count_message(make_message("tool", "x", tool_call_id="abc")) > count_message(
        make_message("tool", "x")
    )


@pytest.mark.parametrize(
    "part",
    [
        {"name": "Wenna of the fen"},
        {"tool_calls": [wire_call("call_1", "say", "{}")]},
        {"tool_call_id": "call_1"},
        {"content": [{"type": "text", "text": "hello there, stranger"}]},
        {"reasoning_content": "I should greet him"},
        {"refusal": "I will not"},
    ],
)
def test_every_part_of_a_message_counts(part):
    assert grown({"role": "user", "content": ""}, **part) > 0


def test_longer_arguments_and_longer_ids_cost_more():
    def calling(call_id, arguments):
        return count_message(
            make_message("assistant", "", tool_calls=[wire_call(call_id, "say", arguments)])
        )

    assert calling("1", '{"text": "a much longer line of talk"}') > calling("1", "{}")
    assert calling("call_8f3Ab02xQz", "{}") > calling("1", "{}")


def test_what_never_reaches_a_provider_costs_nothing():
    message = {"role": "user", "content": "hi"}
    assert grown(message, metadata={"speaker_name": "Ann", "audience": ["#1"]}) == 0
    assert grown(message, name=None, tool_calls=[]) == 0


def test_a_tokenizer_is_used_where_one_is_passed():
    history = [make_message("user", "one two three")]
    assert count_conversation_tokens(history, None, lambda text: 100) == 104


def test_tools_cost_what_their_schemas_say():
    assert count_tools([]) == 0
    assert count_tools([LOOK, LOOK]) == 2 * count_tools([LOOK])
    named = {**LOOK, "function": {**LOOK["function"], "description": "Смотреть на вещь." * 20}}
    assert count_tools([named]) - count_tools([LOOK]) == pytest.approx(
        estimate_tokens("Смотреть на вещь." * 20), rel=0.1, abs=10
    )
    assert count_tools([LOOK], lambda text: 100) == 108


def test_without_reports_our_estimate_stands():
    assert calibrate([]) == Calibration()
    assert calibrate([]).count(1234) == 1234


def test_the_next_request_is_the_last_report_and_what_came_since():
    calibration = calibrate([UsageReport(1000, 1200)])
    assert calibration.count(1000) == 1200
    assert calibration.count(1100) == 1320


def test_the_usual_ratio_outlasts_one_odd_report():
    reports = [UsageReport(1000, tokens) for tokens in (1100, 1100, 2900, 1100, 1100)]
    assert calibrate(reports).ratio == 1.1


@pytest.mark.parametrize(
    ("prompt_tokens", "believed"),
    [(0, False), (-5, False), (599, False), (600, True), (3000, True), (3001, False)],
)
def test_absurd_reports_are_not_believed(prompt_tokens, believed):
    report = UsageReport(1000, prompt_tokens)
    assert (calibrate([report]).last is report) is believed


def test_a_report_without_an_estimate_is_not_believed():
    assert calibrate([UsageReport(0, 500)]) == Calibration()


def test_the_newest_report_is_the_one_to_go_on_from():
    older, newer = UsageReport(1000, 1000), UsageReport(2000, 2200)
    assert calibrate([older, newer]).last is newer


def test_the_last_good_report_counts_after_a_bad_one():
    good = UsageReport(1000, 1100)
    assert calibrate([good, UsageReport(1200, 0)]).last is good


def test_a_much_shorter_request_is_never_counted_as_next_to_nothing():
    calibration = Calibration(1.0, UsageReport(10_000, 6_000))
    assert calibration.count(5_000) == 3_000


@given(
    st.lists(st.builds(UsageReport, st.integers(0, 10**6), st.integers(-10, 10**6))),
    st.integers(0, 10**6),
)
def test_a_calibrated_count_stays_within_bounds(reports, estimate):
    calibration = calibrate(reports)
    assert 0.6 <= calibration.ratio <= 3.0
    counted = calibration.count(estimate)
    assert isinstance(counted, int)
    assert counted >= math.ceil(0.6 * estimate) - 1


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=20))
def test_an_endpoint_that_counts_as_we_do_changes_nothing(estimates):
    calibration = calibrate([UsageReport(each, each) for each in estimates])
    assert calibration.count(5_000) == 5_000

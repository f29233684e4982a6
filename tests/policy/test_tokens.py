"""Counting: every part of a message, and what endpoints reported of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.messages import make_message, wire_call
from evennia_ai.policy.tokens import (
    UsageReport,
    count_conversation_tokens,
    count_message,
    count_tools,
    estimate_tokens,
    is_silently_truncated,
    usual_ratio,
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
    assert usual_ratio([]) == 1.0


def test_the_usual_ratio_outlasts_one_odd_report():
    reports = [UsageReport(1000, tokens) for tokens in (1100, 1100, 2900, 1100, 1100)]
    assert usual_ratio(reports) == 1.1


@pytest.mark.parametrize(
    ("report", "believed"),
    [
        (UsageReport(1000, 0), False),
        (UsageReport(1000, -5), False),
        (UsageReport(1000, 299), False),
        (UsageReport(1000, 300), True),
        (UsageReport(1000, 3000), True),
        (UsageReport(1000, 3001), False),
        (UsageReport(0, 500), False),
        (UsageReport(1000, 500, cached_tokens=450), False),
        (UsageReport(1000, 500, cached_tokens=0), True),
        (UsageReport(1000, 900, cached_tokens=450), True),
    ],
)
def test_absurd_counts_and_those_without_the_cached_part_are_not_believed(report, believed):
    assert usual_ratio([report]) == (report.ratio if believed else 1.0)


def test_a_tokenizer_of_half_our_count_is_believed_beside_cached_tokens():
    reports = [UsageReport(1000, 500), UsageReport(1100, 550, cached_tokens=480)]
    assert usual_ratio(reports) == 0.5


@given(st.lists(st.builds(UsageReport, st.integers(0, 10**6), st.integers(-10, 10**6))))
def test_the_ratio_stays_within_bounds(reports):
    assert 0.3 <= usual_ratio(reports) <= 3.0


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=20))
def test_an_endpoint_that_counts_as_we_do_changes_nothing(estimates):
    assert usual_ratio([UsageReport(each, each) for each in estimates]) == 1.0


def alarms(reports):
    """Return the estimates of the prompts that seem truncated; these are no reports to go by."""
    before, told = [], []
    for report in reports:
        if is_silently_truncated(report, before):
            told.append(report.estimate)
        else:
            before.append(report)
    return told


@given(
    st.floats(0.35, 2.8),
    st.lists(st.tuples(st.integers(20, 400), st.floats(0.94, 1.06)), min_size=2, max_size=40),
    st.booleans(),
)
def test_no_tokenizer_is_taken_for_a_server_that_truncates(ratio, lines, caches):
    reports, estimate = [], 800
    for added, noise in lines:
        prompt = int(ratio * estimate * noise)
        reports.append(UsageReport(estimate, prompt, prompt * 3 // 4 if caches else None))
        estimate = 900 if estimate > 5_000 else estimate + added  # a compaction
    assert alarms(reports) == []


@given(st.floats(0.5, 2.0), st.integers(700, 2_500), st.integers(60, 200))
def test_a_server_that_truncates_is_noticed_before_the_prompt_is_twice_its_window(
    ratio, window, added
):
    estimates = range(800, int(2 * max(800, window / ratio)) + 4 * added, added)
    reports = [UsageReport(each, min(int(ratio * each), window)) for each in estimates]
    told = alarms(reports)
    assert told
    assert all(ratio * estimate > window for estimate in told)


def test_a_prompt_far_longer_than_the_window_is_noticed_at_once():
    assert is_silently_truncated(UsageReport(8_000, 2_048), [])
    assert is_silently_truncated(UsageReport(4_000, 2_048), [UsageReport(1_000, 1_000)])


@pytest.mark.parametrize("prompt_tokens", [0, -1])
def test_without_a_count_nothing_is_said(prompt_tokens):
    assert not is_silently_truncated(UsageReport(8_000, prompt_tokens), [])


def test_a_count_without_the_cached_part_is_no_truncated_prompt():
    before = [UsageReport(1_000, 1_000)]
    assert not is_silently_truncated(UsageReport(1_100, 300, cached_tokens=250), before)

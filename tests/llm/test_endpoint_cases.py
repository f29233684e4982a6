"""What servers really send: from the bytes of a socket to the calls that run, or the failure."""

import json

import pytest

from evennia_ai.errors import ContextOverflow, ProviderUnavailable
from evennia_ai.policy.sanitize import strip_reasoning
from tests.llm.endpoint_cases import (
    ARGUMENTS,
    BODIES,
    BOTH,
    CUT,
    END,
    FAILURES,
    LIMITS,
    MARKS,
    OVERFLOW,
    SAID,
    SPOKEN,
    STREAMS,
    UNSTEADY,
    USAGES,
    cut_call,
    done,
    events,
    message,
    native,
    reasoned,
    usage_body,
)


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("kind", [*STREAMS, *UNSTEADY])
def test_a_stream_runs_each_of_its_calls_once(ask, kind, streamed):
    reply, early = ask(events(*(STREAMS | UNSTEADY)[kind]), streamed=streamed)
    assert done(reply) == (BOTH if kind in STREAMS else SAID)
    assert early == list(reply.tool_calls[: len(early)])


@pytest.mark.parametrize("kind", BODIES)
@pytest.mark.parametrize("streamed", [True, False])
def test_a_call_is_found_wherever_it_stands(ask, kind, streamed):
    reply, _early = ask(BODIES[kind], streamed=streamed)
    assert done(reply) == SAID


@pytest.mark.parametrize("line_end", ["\r", "\r\n"])
def test_lines_may_end_in_any_way(ask, line_end):
    reply, _early = ask(events(SPOKEN, END).replace("\n", line_end), streamed=True)
    assert done(reply) == SAID


@pytest.mark.parametrize("mark", MARKS)
def test_reasoning_that_began_in_the_prompt_is_not_said(ask, mark):
    reply, early = ask(reasoned(mark), form="text", streamed=True)
    assert not early and strip_reasoning(reply.content) == "Good evening."


@pytest.mark.parametrize("reason", CUT)
@pytest.mark.parametrize("streamed", [True, False])
def test_a_reply_that_was_cut_off_is_known_under_any_name(ask, reason, streamed):
    reply, early = ask(cut_call(reason), streamed=streamed)
    assert (reply.finish_reason, early) == ("length", [])
    reply, _early = ask(message(reason, content="Good evening, Ann. Come in and"))
    assert reply.content == "Good evening, Ann."


@pytest.mark.parametrize("kind", FAILURES)
def test_a_failure_is_what_it_says_whatever_its_status(ask, kind):
    status, body, error = FAILURES[kind]
    failure, _early = ask(json.dumps(body), status)
    assert type(failure.value) is error


@pytest.mark.parametrize("kind", ["event: error\ndata: ", "data: "])
def test_a_failure_in_a_stream_ends_it(ask, kind):
    told = json.dumps({"error": {"code": 400, "message": OVERFLOW}})
    failure, _early = ask(events(f"{kind}{told}\n\n"), streamed=True)
    assert type(failure.value) is ContextOverflow


@pytest.mark.parametrize(("body", "headers"), LIMITS)
def test_a_limit_that_passes_soon_is_waited_for(ask, body, headers):
    failure, _early = ask(json.dumps(body), 429, headers)
    assert type(failure.value) is ProviderUnavailable
    assert failure.value.retry_after_s == 2.0


@pytest.mark.parametrize(("where", "usage"), USAGES)
def test_usage_is_read_where_it_stands_if_it_can_be_true(ask, where, usage):
    reply, _early = ask(usage_body(where))
    found = reply.usage
    assert (found and (found.prompt_tokens, found.completion_tokens)) == usage


@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_arguments_may_be_missing(ask, arguments):
    reply, _early = ask(native("look", arguments))
    assert done(reply) == [("look", {})]


def test_zeros_after_a_good_usage_do_not_replace_it(ask):
    good = {"choices": [], "usage": {"prompt_tokens": 120, "completion_tokens": 7}}
    zeros = {"choices": [], "usage": {"prompt_tokens": 0, "completion_tokens": 0}}
    reply, _early = ask(events(SPOKEN, END, good, zeros), streamed=True)
    assert reply.usage.prompt_tokens == 120

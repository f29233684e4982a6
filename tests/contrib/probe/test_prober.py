"""The probe of an endpoint: a sentence for each question, what is kept, its time, the window."""

import json
import socket
from dataclasses import replace

import pytest
from twisted.internet.defer import CancelledError

from evennia_ai.contrib.probe.prober import FATAL, LOCAL_PROBE_S, REPLY_TOKENS, STEPS, judge_speed
from evennia_ai.errors import Busy
from evennia_ai.policy.limits.endpoints import UNKNOWN, Speed
from tests.contrib.probe import scene
from tests.contrib.probe.scene import GOOD_ANSWERS, HELLO, KEY, TALE, TWO_CALLS, error, listing

client, probe, profile = scene.client, scene.probe, scene.profile
NO_TOOLS, RED = error(400, "no tools"), {"text": "red"}
EMPTY = {"choices": [{"message": {"content": ""}, "finish_reason": "length"}]}
HTML = {"raw": "<html>", "headers": {"Content-Type": "text/html"}}


# --- a sentence for each question ---


def test_a_good_endpoint_gets_a_sentence_for_each_question(probe, provider, profile):
    provider.queue(*GOOD_ANSWERS)
    probe.run(profile)
    assert [(finding.state, finding.text) for finding in probe.findings] == [
        ("good", "It answers, and takes a system message."),
        ("good", "Its form of request is tools: it makes several valid tool calls in one reply."),
        ("good", "It streams: a sentence is spoken while the next one is written."),
        ("note", "Its speed is not known: it does not report its tokens."),
    ]
    titles = [f"{number} of 3: {title}" for number, title in enumerate(STEPS, 1)]
    assert probe.lines == [line for title in titles for line in (title, "      0.0 s")]


def test_it_costs_three_short_calls_as_a_game_makes_them(probe, provider, profile):
    provider.queue(*GOOD_ANSWERS)
    probe.run(replace(profile, extra={"seed": 1}))
    bodies = [request["body"] for request in provider.requests()]
    assert [(body["max_tokens"], body["seed"]) for body in bodies] == [(REPLY_TOKENS, 1)] * 3
    roles = [[message["role"] for message in body["messages"]] for body in bodies]
    assert roles[0] == roles[2] == ["system", "user"]
    assert roles[1] == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert [bool(body.get("stream")) for body in bodies] == [False, False, True]


@pytest.mark.parametrize(
    ("answers", "form", "words"),
    [
        ((HELLO, TWO_CALLS, TALE), "tools", "good: Its form of request is tools:"),
        ((HELLO, RED, TALE), "plain", "it talks in words, and code acts. Another form: set"),
        ((HELLO, {"tool_calls": TWO_CALLS["tool_calls"][:1]}, TALE), "plain", "request is plain"),
        ((HELLO, {"tool_calls": [{"name": "x"}] * 2}, TALE), "plain", "good: Its form of request"),
        ((HELLO, NO_TOOLS, TALE), "plain", "tools: no tools. llama.cpp needs --jinja"),
        ((HELLO, error(503, ""), TALE), "", "Its request form is not known: http"),
        ((error(400, "no system"), HELLO, TWO_CALLS), "tools", "note: It answers, with its rules"),
        (({"completion": EMPTY}, TWO_CALLS), "tools", "bad: Reasoning used up its whole reply"),
        (({"text": "<think>hm</think>"}, TWO_CALLS), "tools", "bad: It answers a plain question"),
        ((HELLO, TWO_CALLS, {**TALE, "stream": {"ignore": True}}), "tools", "It does not stream:"),
        ((HELLO, TWO_CALLS, {**TALE, "stream": {"break": "cut"}}), "tools", "set stream to False"),
    ],
)
def test_what_a_model_does_is_said_and_its_form_kept(
    answers, form, words, probe, provider, profile
):
    provider.queue(*answers)
    probe.run(profile)
    assert words in probe.told
    assert [found[1] for found in probe.kept] == [form] * bool(form)


@pytest.mark.parametrize(("first", "takes_system"), [(HELLO, True), (error(400, "no"), False)])
def test_it_is_kept_whether_a_system_message_is_accepted(
    first, takes_system, probe, provider, profile
):
    provider.queue(first, *GOOD_ANSWERS)
    probe.run(profile)
    assert [found[2] for found in probe.kept] == [takes_system]
    roles = [message["role"] for message in provider.requests()[-1]["body"]["messages"]]
    assert ("system" in roles) is takes_system


@pytest.mark.parametrize("form", ["plain", "schema", "text"])
def test_a_profile_s_former_names_of_plain_words_agree_with_the_test(
    form, probe, provider, profile
):
    provider.queue(HELLO, RED, TALE)
    probe.run(replace(profile, form=form))
    assert "good: Its form of request is plain:" in probe.told
    assert "good: It streams: plain words are spoken when they are whole." in probe.told


def test_a_form_in_the_profile_stays_and_the_better_one_is_named(probe, provider, profile):
    provider.queue(HELLO, RED)
    probe.run(replace(profile, form="tools", stream=False))
    assert "note: Its form is tools, as the profile says; this test suggests plain." in probe.told
    assert "It does not stream" in probe.told


def test_the_speed_of_all_but_the_first_call_is_told_and_kept(probe, provider, profile):
    def timed(text, read):
        timings = {
            "prompt_n": 200, "prompt_per_second": read,
            "predicted_n": 20, "predicted_per_second": 35.0,
        }  # fmt: skip
        body = {"choices": [{"message": {"content": text}}], "timings": timings}
        return {"raw": json.dumps(body)}

    provider.queue(timed("Hm.", 1.0), *(timed("red", 140.4) for _ in range(2)))
    probe.run(profile)
    assert (
        "good: It reads about 140 tokens a second and writes 35: an answer takes about 5 s, the "
        "first one of a talk 16 s."
    ) in probe.told
    assert probe.kept[0][1:] == ("plain", True, Speed(140.4, 35.0), {})


@pytest.mark.parametrize(
    ("speed", "state", "says"),
    [
        (UNKNOWN, "note", "Its speed is not known: it does not report its tokens."),
        (Speed(None, 35.0), "note", "Its speed is not known: it does not report its tokens."),
        (Speed(9_000.0, 300.0), "good", "an answer takes about 1 s, the first one of a talk 1 s."),
        (
            Speed(140.0, 35.0),
            "good",
            "about 140 tokens a second and writes 35: an answer takes about 5 s",
        ),
        (Speed(20.0, 5.0), "bad", "an answer takes about 32 s, the first one of a talk 112 s."),
    ],
)
def test_a_probe_says_what_a_speed_means_for_answers(speed, state, says):
    found = judge_speed(speed)
    assert (found.state, bool(found.advice)) == (state, state == "bad")
    assert says in found.text


# --- what keeps it from answering ---


@pytest.mark.parametrize(
    ("changes", "answer", "words", "advice"),
    [
        ({}, error(401, "no"), "refused the key in STUB_KEY", "Set a valid key"),
        ({"api_key_env": ""}, error(401, "no"), "has no api_key_env", "Set a valid key"),
        ({"api_key_env": "UNSET"}, HELLO, "the environment variable UNSET", "a reload is not"),
        ({}, error(404, "not found"), "There is no model 'stub' at", "There are: a0, a1, "),
        ({"model": ""}, HELLO, "names no model", "a9 and others."),
        ({"base_url": "http://127.0.0.1:1/v1"}, HELLO, "nothing listens", "(Ollama at 11434, "),
        ({"base_url": "http://no-such-host.invalid/v1"}, HELLO, "no such host", "base_url"),
        ({"base_url": "localhost:11434"}, HELLO, "must look like", "/v1 at the end"),
        ({"base_url": "/x"}, HELLO, "or the address is wrong (HTTP 404)", "/v1 at the end"),
        ({}, HTML, "did not send a chat completion", "/v1 at the end"),
        ({}, {"raw": '{"answer": 42}'}, "did not send a chat", "/v1 at the end"),
        ({}, error(402, "odd."), "is used up (HTTP 402): odd.", "Look at the account"),
        ({}, error(429, "odd."), "no more requests at the moment", "or wait."),
        ({}, error(503, "odd."), "temporary failure (HTTP 503)", "the server's log, or wait."),
        ({}, error(400, "odd."), "refused the request (HTTP 400): odd.", "max_completion_tokens"),
    ],
)
def test_what_keeps_it_from_answering_is_one_sentence_with_what_to_do(
    changes, answer, words, advice, probe, provider, profile
):
    provider.control(pages={"GET /v1/models": listing(*(f"a{n}" for n in range(12)))})
    provider.queue(answer, answer)
    if changes.get("base_url") == "/x":
        changes = {"base_url": profile.base_url.removesuffix("/v1") + "/x"}
    probe.run(replace(profile, **changes))
    (finding,) = probe.findings
    assert finding.state == FATAL
    assert words in finding.text
    assert advice in finding.advice
    assert probe.kept == []


def test_https_where_http_is_spoken(probe, profile):
    with socket.create_server(("127.0.0.1", 0)) as server:
        secure = replace(profile, base_url=f"https://127.0.0.1:{server.getsockname()[1]}/v1")
        started = probe.start(secure)
        connection, _ = server.accept()
        connection.recv(100_000)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        connection.close()
        (finding,) = probe.pump.wait(started)
    assert "its certificate or encryption is not acceptable" in finding.text
    assert "Check http or https" in finding.advice


def test_a_wrong_key_is_never_shown(probe, provider, profile):
    provider.control(require_key="another")
    assert KEY not in repr(probe.run(profile)) + repr(probe.lines)
    provider.control(require_key="")
    provider.queue(error(400, f"odd {KEY}"), error(400, f"odd {KEY}"))
    assert "odd ***" in repr(probe.run(profile))


# --- time, and one at a time ---


def run_until(probe, pump, done):
    """Run what the client hands over, until ``done()``."""
    while not done():
        call = pump.jobs.get(timeout=120)
        call[0](*call[1])


def test_a_silent_server_is_given_up_on_in_time(probe, pump, provider, profile, eventually):
    provider.control(latency=60)
    running = probe.start(profile)
    eventually(provider.requests)
    probe.clock.advance(LOCAL_PROBE_S)
    (finding,) = pump.wait(running)
    assert (finding.state, finding.text) == (FATAL, "It did not answer in time.")
    assert "still loading" in finding.advice
    assert not probe.prober._busy
    assert not probe.clock.getDelayedCalls()


def test_a_model_that_is_slow_at_tools_still_gets_its_form(
    probe, pump, provider, profile, eventually
):
    provider.queue(HELLO, {"text": "\n" * 300, "latency": 60}, TALE)
    running = probe.start(profile)
    run_until(probe, pump, lambda: len(probe.lines) == 3)  # it asks for tools
    eventually(lambda: len(provider.requests()) == 2)
    probe.clock.advance(LOCAL_PROBE_S * 0.5)
    pump.wait(running)
    assert [found[1] for found in probe.kept] == ["plain"]


def test_one_probe_at_a_time(probe, pump, provider, profile):
    provider.queue(*GOOD_ANSWERS)
    first = probe.start(profile)
    assert isinstance(pump.error(probe.start(profile)), Busy)
    assert pump.wait(first)
    provider.queue(*GOOD_ANSWERS)
    assert probe.run(profile)


def test_a_server_that_stops_ends_it_without_an_answer(probe, loop_thread, provider, profile):
    provider.control(latency=60, pages={"GET /v1/models": {**listing("stub"), "latency": 60}})
    failures = []
    probe.start(profile).addErrback(failures.append)
    loop_thread.stop()
    assert failures[0].check(CancelledError)
    assert not probe.clock.getDelayedCalls()

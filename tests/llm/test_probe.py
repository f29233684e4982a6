"""The probe of an endpoint: its verdict, its request form, its speed, its window, its time."""

import json

import pytest
from twisted.internet.defer import CancelledError

from evennia_ai.errors import Busy
from evennia_ai.llm.probe import REPLY_TOKENS
from evennia_ai.policy.limits.endpoints import Speed
from evennia_ai.policy.probe.cases import BAD, FATAL, GOOD, LOCAL_PROBE_S, NOTE
from evennia_ai.policy.probe.grading import WORD
from tests.llm import probe_scene as scene
from tests.llm.probe_scene import (
    GOOD_ANSWERS,
    IN_SCHEMA,
    TWO_CALLS,
    changed,
    error,
    listing,
)

client, probe, profile = scene.client, scene.probe, scene.profile


# --- a good endpoint ---


def test_a_good_endpoint_gets_a_good_verdict(probe, provider, profile):
    provider.queue(*GOOD_ANSWERS)
    probe.run(profile)
    texts = " ".join(text for text, _ in probe.of(GOOD))
    for words in (
        f"{provider.base_url} is there and lists 1 model.",
        "The key in STUB_KEY is not refused.",
        "The model 'stub' is among them.",
        "It answers a plain question.",
        "It keeps to the system message.",
        "It calls tools.",
        "several calls in one reply (2)",
        "valid JSON, and fit",
        "It reports its use (",
        "It took ",
        "It takes the results of its tools.",
        "It keeps to a JSON schema.",
        "It will be asked by tools:",
    ):
        assert words in texts
    assert probe.of(BAD, FATAL) == []
    assert probe.verdict == "The profile 'tavern' works."
    assert probe.lines[:2] == ["1 of 5: Is the server there?", "      0.0 s"]
    assert len(probe.lines) == 2 * 5


def test_it_costs_four_short_calls(probe, provider, profile):
    provider.queue(*GOOD_ANSWERS)
    probe.run(changed(profile, extra={"seed": 1}))
    bodies = [request["body"] for request in provider.requests()]
    assert [body["max_tokens"] for body in bodies] == [REPLY_TOKENS] * 4
    assert all(body["seed"] == 1 and body["model"] == "stub" for body in bodies)
    roles = [message["role"] for message in bodies[2]["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "tool"]
    plain = bodies[0]["messages"]
    assert [message["role"] for message in plain] == ["system", "user"]
    assert len(plain[1]["content"].splitlines()) == 2  # heard in a row


def test_the_limit_of_a_reply_keeps_the_name_a_provider_wants(probe, provider, profile):
    provider.queue(*GOOD_ANSWERS)
    probe.run(changed(profile, extra={"max_completion_tokens": 2_000}))
    body = provider.requests()[0]["body"]
    assert body["max_completion_tokens"] == REPLY_TOKENS
    assert "max_tokens" not in body


# --- the request form, the speed, and what is kept ---


@pytest.fixture
def kept(probe):
    found = []
    probe.prober.keep = lambda *finding: found.append(finding)
    return found


def timings(read, written):
    return {
        "cache_n": 10, "prompt_n": 200, "prompt_per_second": read,
        "predicted_n": 20, "predicted_per_second": written,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("answers", "form", "says"),
    [
        (GOOD_ANSWERS, "tools", "several valid tool calls"),
        (
            ({"text": WORD}, {"text": "[note_colour]"}, {"text": "x"}, IN_SCHEMA),
            "schema",
            "JSON is",
        ),
        (({"text": WORD}, TWO_CALLS, error(500, "template"), IN_SCHEMA), "schema", "JSON is"),
        (({"text": WORD}, {"text": "red"}, {"text": "x"}, {"text": "Here."}), "text", "not act"),
        (({"text": WORD}, {"text": "red"}, {"text": "x"}, error(400, "no")), "text", "not act"),
        (
            (
                {"text": WORD},
                {"text": "red"},
                {"text": "x"},
                {"text": '{"act": "none",' + "\n" * 50, "finish_reason": "length"},
            ),
            "text",
            "not act",
        ),
    ],
)
def test_it_finds_the_form_and_says_so(answers, form, says, probe, provider, profile, kept):
    provider.queue(*answers)
    probe.run(profile)
    assert [found[1] for found in kept] == [form]
    told = dict(probe.of(GOOD, BAD))
    concluded = next(text for text in told if text.startswith(f"It will be asked by {form}"))
    assert says in concluded
    assert told[concluded] == "Set form in the profile to change that."


def test_tools_that_fail_are_no_fault_of_a_model_with_a_schema(probe, provider, profile):
    provider.queue({"text": WORD}, {"text": "red"}, {"text": "x"}, IN_SCHEMA)
    probe.run(profile)
    assert probe.of(BAD, FATAL) == []
    assert ("It calls no tool, though it was told to.", "") in probe.of(NOTE)


def test_a_form_in_the_profile_stays_and_the_better_one_is_named(probe, provider, profile):
    provider.queue({"text": WORD}, {"text": "red"}, {"text": "x"}, IN_SCHEMA)
    probe.run(changed(profile, form="tools"))
    text = "It will be asked by tools, as the profile says; the test suggests schema."
    assert (text, "Put form = 'schema' or 'auto' into the profile.") in probe.of(NOTE)


def test_a_probe_that_could_not_finish_keeps_nothing(probe, provider, profile, kept):
    provider.queue(error(401, "no"))
    probe.run(profile)
    assert kept == []


def test_the_speed_that_the_server_reports_is_told_and_kept(probe, provider, profile, kept):
    def completion(text):
        message = {"role": "assistant", "content": text}
        body = {"choices": [{"message": message}], "timings": timings(140.4, 35.0)}
        return {"raw": json.dumps(body)}

    provider.queue(*(completion(each) for each in (WORD, "red", "x", IN_SCHEMA["text"])))
    probe.run(profile)
    text = "It reads about 140 tokens a second and writes about 35."
    assert text in [text for text, _ in probe.of(GOOD)]
    assert kept[0][2:] == (True, Speed(140.4, 35.0))


# --- the window ---

PROPS = {"raw": json.dumps({"default_generation_settings": {"n_ctx": 4096}})}
LOADED = {"raw": json.dumps({"models": [{"name": "stub:latest", "context_length": 8192}]})}
SHOWN = {"raw": json.dumps({"model_info": {"qwen3.context_length": 40960}})}


@pytest.mark.parametrize(
    ("pages", "words"),
    [
        ({"GET /v1/models": listing({"id": "stub", "max_model_len": 32768})}, "32,768 tokens"),
        ({"GET /v1/models": listing({"id": "stub", "context_length": 9000})}, "9,000 tokens"),
        (
            {
                "GET /v1/models": listing({"id": "stub", "owned_by": "llamacpp"}),
                "GET /props": PROPS,
            },
            "4,096 tokens",
        ),
        (
            {
                "GET /v1/models": listing({"id": "stub", "owned_by": "library"}),
                "GET /api/ps": LOADED,
            },
            "8,192 tokens",
        ),
        (
            {
                "GET /v1/models": listing({"id": "stub", "owned_by": "library"}),
                "POST /api/show": SHOWN,
            },
            "supports 40,960 tokens",
        ),
        ({}, "does not tell its context window"),
    ],
)
def test_the_window_is_told_where_anything_tells_it(probe, provider, profile, pages, words):
    provider.control(pages=pages)
    provider.queue(*GOOD_ANSWERS)
    probe.run(changed(profile, context_window=None))
    text, advice = probe.of(NOTE)[-1]
    assert words in text
    assert "into the profile as context_window" in advice or "Put context_window = " in advice


def test_a_profile_that_claims_too_much_is_told(probe, provider, profile):
    provider.control(pages={"GET /v1/models": listing({"id": "stub", "max_model_len": 4096})})
    provider.queue(*GOOD_ANSWERS)
    probe.run(profile)
    assert probe.of(BAD) == [
        (
            "The profile names a window of 8,000 tokens, but there are 4,096.",
            "Put context_window = 4096 into the profile.",
        )
    ]


@pytest.mark.parametrize(
    ("pages", "window"),
    [
        ({"GET /v1/models": listing({"id": "stub", "max_model_len": 32768})}, 32_768),
        ({"GET /v1/models": listing({"id": "stub", "owned_by": "llamacpp"}), "GET /props": PROPS},
         4_096),
        ({"GET /v1/models": listing({"id": "stub", "owned_by": "library"}), "GET /api/ps": LOADED},
         8_192),
        ({"GET /v1/models": listing({"id": "stub", "owned_by": "library"}),
          "POST /api/show": SHOWN}, None),
        ({"GET /v1/models": {"raw": "<html>", "status": 200}}, None),
        ({"GET /v1/models": error(500, "no")}, None),
        ({}, None),
    ],
)  # fmt: skip
def test_an_endpoint_is_asked_for_its_window_and_nothing_else(
    pages, window, probe, pump, provider, profile
):
    provider.control(pages=pages)
    assert pump.wait(probe.prober.window(profile)) == window
    assert not [ask for ask in provider.requests() if "completions" in ask["path"]]


# --- time, and one at a time ---


def test_a_silent_server_is_given_up_on_in_time(probe, pump, provider, profile, eventually):
    provider.control(latency=60)
    running = probe.start(profile)
    call = pump.jobs.get(timeout=20)
    call[0](*call[1])
    eventually(provider.requests)
    probe.clock.advance(LOCAL_PROBE_S)
    findings = pump.wait(running)
    assert f"did not answer within {LOCAL_PROBE_S:g} s" in findings[-1].text
    assert "may still be loading" in findings[-1].advice
    assert not probe.prober._busy
    assert not probe.clock.getDelayedCalls()


def test_a_model_that_is_slow_at_tools_still_gets_its_form(
    probe, pump, provider, profile, kept, eventually
):
    slow = {"text": "\n" * 300, "latency": 60}
    provider.queue({"text": WORD}, slow, {"text": "x"}, IN_SCHEMA)
    running = probe.start(profile)
    while len(probe.lines) < 5:  # until it asks for tools
        call = pump.jobs.get(timeout=20)
        call[0](*call[1])
    eventually(lambda: len(provider.requests()) == 2)
    probe.clock.advance(LOCAL_PROBE_S * 0.5)
    probe.finish(running, profile)
    assert [found[1] for found in kept] == ["schema"]
    assert ("It took too long to answer a request with tools.", "") in probe.of(NOTE)
    assert probe.of(BAD, FATAL) == []


def test_one_probe_at_a_time(probe, pump, provider, profile):
    provider.queue(*GOOD_ANSWERS)
    first = probe.start(profile)
    assert isinstance(pump.error(probe.start(profile)), Busy)
    assert pump.wait(first)
    provider.queue(*GOOD_ANSWERS)
    assert probe.run(profile)


def test_a_server_that_stops_ends_the_probe_without_findings(probe, loop_thread, provider, profile):
    provider.control(pages={"GET /v1/models": {**listing("stub"), "latency": 60}})
    failures = []
    probe.start(profile).addErrback(failures.append)
    loop_thread.stop()
    assert failures[0].check(CancelledError)
    assert not probe.clock.getDelayedCalls()

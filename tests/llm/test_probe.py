"""The probe against a real HTTP server on loopback: every fault has its sentence and its advice."""

import json
import socket

import pytest
from twisted.internet.defer import CancelledError
from twisted.internet.task import Clock

from evennia_ai.config import ModelProfile
from evennia_ai.errors import Busy
from evennia_ai.llm.openai_client import OpenAIClient
from evennia_ai.llm.probe import REPLY_TOKENS, Prober, target_of
from evennia_ai.policy.limits.endpoint_facts import Speed
from evennia_ai.policy.probe.cases import BAD, FATAL, GOOD, NOTE, sum_up
from evennia_ai.policy.probe.forms import LOCAL_PROBE_S
from evennia_ai.policy.probe.grading import TOOL, WORD

KEY = "4f1c9e77-a2b8-tavern"
TWO_CALLS = {
    "tool_calls": [
        {"name": TOOL, "arguments": {"colour": "red"}},
        {"name": TOOL, "arguments": {"colour": "blue"}},
    ]
}
IN_SCHEMA = {"text": json.dumps({"act": "give", "target": "mug", "say": "Here you are."})}
GOOD_ANSWERS = ({"text": WORD}, TWO_CALLS, {"text": "Both are noted."}, IN_SCHEMA)


class Probe:
    """Runs a probe to its end."""

    def __init__(self, pump, client):
        self.pump = pump
        self.clock = Clock()
        self.prober = Prober(self.clock, client)
        self.lines = []

    def start(self, profile):
        return self.prober.probe(profile, self.lines.append)

    def run(self, profile):
        return self.finish(self.start(profile), profile)

    def finish(self, started, profile):
        self.findings = self.pump.wait(started)
        self.verdict = sum_up(self.findings, target_of(profile))
        return self.findings

    def of(self, *states):
        return [(f.text, f.advice) for f in self.findings if f.state in states]


@pytest.fixture
def client(loop_thread):
    return OpenAIClient(loop_thread, {"STUB_KEY": KEY})


@pytest.fixture
def probe(pump, client):
    return Probe(pump, client)


@pytest.fixture
def profile(provider):
    return ModelProfile("tavern", "openai", "stub", provider.base_url, "STUB_KEY", 8_000)


def changed(profile, **changes):
    return ModelProfile(**{**vars(profile), **changes})


def listing(*models):
    """A page with a list of models; each is a name or a whole entry."""
    entries = [{"id": model} if isinstance(model, str) else model for model in models]
    return {"raw": json.dumps({"object": "list", "data": entries})}


def error(status, message):
    return {"raw": json.dumps({"error": {"message": message}}), "status": status}


NO_SCHEMA = error(400, "no response_format")

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


# --- wrong addresses, keys and names ---


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def test_nothing_listens(probe, profile):
    address = f"http://127.0.0.1:{free_port()}/v1"
    probe.run(changed(profile, base_url=address))
    assert probe.of(FATAL) == [
        (f"Nothing listens at {address}.", "Is the server started, and is the port right?")
    ]
    assert probe.verdict == "The profile 'tavern' does not work yet."


def test_there_is_no_such_host(probe, profile):
    probe.run(changed(profile, base_url="http://no-such-host.invalid/v1"))
    assert "There is no such host" in probe.of(FATAL)[0][0]


def test_https_where_http_is_spoken(probe, profile):
    with socket.create_server(("127.0.0.1", 0)) as server:
        secure = changed(profile, base_url=f"https://127.0.0.1:{server.getsockname()[1]}/v1")
        started = probe.start(secure)
        connection, _ = server.accept()
        connection.recv(100_000)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        connection.close()
        probe.finish(started, secure)
    assert "No encrypted connection" in probe.of(FATAL)[0][0]


def test_an_address_that_is_none(probe, provider, profile):
    probe.run(changed(profile, base_url="localhost:11434"))
    assert "must look like http://localhost:11434/v1" in probe.of(FATAL)[0][0]


def test_a_forgotten_version_is_found(probe, provider, profile):
    provider.control(pages={"GET /models": {"raw": "404 page not found", "status": 404}})
    probe.run(changed(profile, base_url=provider.base_url.removesuffix("/v1")))
    assert probe.of(FATAL)[0][1] == f"Put {provider.base_url} into the base_url."
    assert provider.requests() == []


def test_a_web_page_in_place_of_json(probe, provider, profile):
    page = {"raw": "<html>Welcome</html>", "headers": {"Content-Type": "text/html"}}
    provider.control(pages={"GET /v1/models": page})
    probe.run(profile)
    text, advice = probe.of(FATAL)[0]
    assert "answers with a web page" in text
    assert "The path /v1 may be missing" in advice


def test_a_web_page_in_place_of_a_completion(probe, provider, profile):
    provider.queue({"raw": "<html>", "headers": {"Content-Type": "text/html"}})
    probe.run(profile)
    assert "answers with a web page" in probe.of(FATAL)[0][0]


@pytest.mark.parametrize(
    ("status", "words", "advice"),
    [
        (401, "refuses the key in STUB_KEY (HTTP 401)", "Put a valid key into STUB_KEY"),
        (302, "sends us elsewhere (HTTP 302)", "the final address"),
        (402, "wants to be paid (HTTP 402). It says: odd.", "Top the account up."),
        (429, "takes no more requests at the moment (HTTP 429)", "Wait a while"),
        (503, "is in trouble (HTTP 503). It says: odd.", "still loading"),
    ],
)
def test_a_status_that_ends_the_probe(probe, provider, profile, status, words, advice):
    provider.queue(error(status, "odd."))
    probe.run(profile)
    assert len(probe.of(FATAL)) == 1
    assert words in probe.of(FATAL)[0][0]
    assert advice in probe.of(FATAL)[0][1]
    assert len(provider.requests()) == 1


def test_a_wrong_key_is_refused_and_never_shown(probe, provider, profile):
    provider.control(require_key="another")
    probe.run(profile)
    assert "refuses the key in STUB_KEY" in probe.of(FATAL)[0][0]
    assert KEY not in repr(probe.findings) + repr(probe.lines)


def test_a_key_that_a_server_tells_back_in_its_words_is_not_shown(probe, provider, profile):
    provider.queue(error(400, f"odd {KEY}"), error(400, f"odd {KEY}"), error(400, f"odd {KEY}"))
    probe.run(profile)
    assert "odd ***" in repr(probe.findings)
    assert KEY not in repr(probe.findings)


def test_a_key_is_wanted_and_none_is_named(probe, provider, profile):
    provider.control(pages={"GET /v1/models": error(401, "no")})
    probe.run(changed(profile, api_key_env=""))
    assert "wants a key, and the profile 'tavern' names none" in probe.of(FATAL)[0][0]


def test_a_key_is_named_and_not_set(probe, provider, profile):
    probe.run(changed(profile, api_key_env="UNSET"))
    text, advice = probe.of(FATAL)[0]
    assert "needs the environment variable UNSET" in text
    assert "a reload is not enough" in advice


def test_a_key_that_may_talk_but_not_list_is_good_enough(probe, provider, profile):
    provider.control(pages={"GET /v1/models": error(403, "no")})
    provider.queue(*GOOD_ANSWERS)
    probe.run(profile)
    assert probe.of(FATAL, BAD) == []


def test_a_web_page_in_place_of_a_list_is_no_fault_where_the_model_answers(
    probe, provider, profile
):
    page = {"raw": "<html>", "status": 404, "headers": {"Content-Type": "text/html"}}
    provider.control(pages={"GET /v1/models": page})
    provider.queue(*GOOD_ANSWERS)
    probe.run(profile)
    assert probe.of(FATAL, BAD) == []
    assert "is there, but lists no models" in probe.of(NOTE)[0][0]


def test_an_unknown_model_lists_ten_of_those_there_are(probe, provider, profile):
    provider.control(pages={"GET /v1/models": listing(*(f"m{n}" for n in range(12)))})
    provider.queue(error(404, 'model "stub" not found, try pulling it first'))
    probe.run(profile)
    text, advice = probe.of(FATAL)[0]
    assert text == "There is no model 'stub' (HTTP 404)."
    assert "m9 and 2 more." in advice and "m10" not in advice


def test_an_unknown_model_may_be_told_with_another_status(probe, provider, profile):
    provider.queue(error(400, "stub is not a valid model ID"), error(400, "model not found"))
    probe.run(profile)
    assert "There is no model 'stub'" in repr(probe.findings)


def test_no_model_named_lists_those_there_are(probe, provider, profile):
    probe.run(changed(profile, model=""))
    text, advice = probe.of(FATAL)[0]
    assert text == "No model is named."
    assert "There are: stub." in advice
    assert provider.requests() == []


def test_neither_models_nor_completions(probe, provider, profile):
    provider.control(pages={"GET /v1/models": error(404, "?")})
    provider.queue(error(404, "Not Found"))
    probe.run(profile)
    assert "Nothing takes chat completions at" in probe.of(FATAL)[0][0]


def test_another_api_that_speaks_json(probe, provider, profile):
    provider.queue({"raw": '{"answer": 42}'})
    probe.run(profile)
    assert "not a chat completion" in probe.of(FATAL)[0][0]


# --- what the model does ---


def test_no_system_message_taken(probe, provider, profile):
    provider.queue(error(400, "System role not supported"), *GOOD_ANSWERS)
    probe.run(profile)
    assert "refuses a system message" in probe.of(BAD)[0][0]
    assert probe.verdict == "The profile 'tavern' works, but not all of it does."
    assert "keeps to the system message" not in repr(probe.findings)


def test_every_question_refused_tells_why(probe, provider, profile):
    refusal = error(400, "Unsupported parameter: use 'max_completion_tokens'")
    provider.queue(refusal, refusal)
    probe.run(profile)
    text, advice = probe.of(FATAL)[0]
    assert "It refuses every question (HTTP 400). It says: Unsupported parameter" in text
    assert "Put max_completion_tokens" in advice
    assert len(provider.requests()) == 2


def test_the_system_message_not_kept_to(probe, provider, profile):
    provider.queue({"text": "I like cherries."}, *GOOD_ANSWERS[1:])
    probe.run(profile)
    assert "does not keep to the system message" in probe.of(BAD)[0][0]


def test_thoughts_within_the_words(probe, provider, profile):
    provider.queue({"text": f"<think>a fruit?</think>{WORD}"}, *GOOD_ANSWERS[1:])
    probe.run(profile)
    assert any("Its thoughts come within its words" in text for text, _ in probe.of(NOTE))
    assert probe.of(BAD) == []


def completion(message, finish="stop", **fields):
    return {"completion": {"choices": [{"message": message, "finish_reason": finish}], **fields}}


def test_thoughts_apart_and_no_use_reported(probe, provider, profile):
    message = {"content": WORD, "reasoning_content": "a fruit?"}
    provider.queue(completion(message), *GOOD_ANSWERS[1:])
    probe.run(profile)
    notes = [text for text, _ in probe.of(NOTE)]
    assert any("reasons before it answers" in text for text in notes)
    assert any("does not report its use" in text for text in notes)


def test_a_reply_used_up_by_thinking(probe, provider, profile):
    provider.queue(completion({"content": ""}, "length"), *GOOD_ANSWERS[1:])
    probe.run(profile)
    assert "used up its whole reply" in probe.of(BAD)[0][0]


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (error(500, "tools param requires --jinja flag"), "It says: tools param requires --jinja"),
        ({"text": "Red and blue."}, "It calls no tool"),
        ({"text": '<tool_call>{"name": "x"}</tool_call>'}, "Its tool calls arrive as text"),
        ({"tool_calls": [{"name": "x"}]}, "calls tools that it was not offered"),
        ({"tool_calls": [{"name": TOOL, "arguments": "{colour: red"}]}, "not valid JSON"),
        ({"tool_calls": [{"name": TOOL, "arguments": {"color": 1}}]}, "not those asked for"),
    ],
)
def test_faults_with_tools(probe, provider, profile, reply, words):
    provider.queue({"text": WORD}, reply, {"text": "Noted."}, NO_SCHEMA)
    probe.run(profile)
    assert words in probe.of(BAD)[0][0]
    assert probe.of(BAD)[0][1]
    assert probe.verdict.endswith("but not all of it does.")


def test_calls_that_arrive_as_text_are_noted_since_they_are_read(probe, provider, profile):
    call = {"name": TOOL, "arguments": {"colour": "red"}}
    reply = {"text": f"<tool_call>{json.dumps(call)}</tool_call>"}
    provider.queue({"text": WORD}, reply, {"text": "Noted."})
    probe.run(profile)
    assert any("arrive as text" in text for text, _ in probe.of(NOTE))


def test_one_call_in_a_reply_is_noted(probe, provider, profile):
    provider.queue({"text": WORD}, {"tool_calls": TWO_CALLS["tool_calls"][:1]}, {"text": "x"})
    probe.run(profile)
    assert any("one call per reply" in text for text, _ in probe.of(NOTE))


def test_tool_results_refused(probe, provider, profile):
    refusal = error(400, "After a tool only an assistant")
    provider.queue({"text": WORD}, TWO_CALLS, refusal, NO_SCHEMA)
    probe.run(profile)
    text, advice = probe.of(BAD)[0]
    assert "refuses the results of its tools (HTTP 400). It says: After a tool" in text
    assert "template" in advice


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

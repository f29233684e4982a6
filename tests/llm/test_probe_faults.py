"""The probe of an endpoint with a fault: every fault has its sentence and its advice."""

import json
import socket

import pytest

from evennia_ai.policy.probe.cases import BAD, FATAL, NOTE
from evennia_ai.policy.probe.grading import TOOL, WORD
from tests.llm import probe_scene as scene
from tests.llm.probe_scene import (
    GOOD_ANSWERS,
    KEY,
    NO_SCHEMA,
    TWO_CALLS,
    changed,
    error,
    listing,
)

client, probe, profile = scene.client, scene.probe, scene.profile


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

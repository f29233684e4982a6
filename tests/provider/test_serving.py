"""A server's speed, prompt cache and chat template, as the stub provider plays them."""

import json
import time
from http.client import HTTPConnection

import pytest

from tests.provider.serving import (
    PromptCache,
    Speed,
    check_template,
    prompt_text,
    serve,
    template_refusal,
)
from tests.provider.stub_replies import build_completion, rough_tokens

SYSTEM = {"role": "system", "content": "Rules. " * 200}
HELLO = {"role": "user", "content": "Ann says: hello"}
REPLY = {"role": "assistant", "content": "Good evening."}
CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]}
RESULT = {"role": "tool", "tool_call_id": "a", "content": "ok"}
SAY = {"type": "function", "function": {"name": "say"}}


def body_of(*messages, tools=(SAY,), **more):
    return {"model": "stub", "messages": list(messages), "tools": list(tools), **more}


# --- the cache -----------------------------------------------------------------------------------


def test_only_an_exact_beginning_is_cached():
    cache = PromptCache(1)
    assert cache.read(body_of(SYSTEM, HELLO)) == 0
    talk = body_of(SYSTEM, HELLO, REPLY, HELLO)
    known = cache.read(talk)
    assert known == len(prompt_text(body_of(SYSTEM, HELLO))) // 4
    assert cache.read(talk) == len(prompt_text(talk)) // 4
    changed = body_of({**SYSTEM, "content": f"New {SYSTEM['content']}"}, HELLO)
    assert cache.read(changed) < 20


def test_each_slot_keeps_a_talk_and_one_slot_forgets_the_other():
    ann, bob = (body_of({**SYSTEM, "content": name * 500}, HELLO) for name in ("ann", "bob"))
    one, two = PromptCache(1), PromptCache(2)
    assert [one.read(body) > 100 for body in (ann, bob, ann)] == [False, False, False]
    assert [two.read(body) > 100 for body in (ann, bob, ann, bob)] == [False, False, True, True]


def test_without_slots_nothing_is_reported():
    assert PromptCache(0).read(body_of(HELLO)) is None


def test_tools_are_read_behind_the_system_message():
    text = prompt_text(body_of(SYSTEM, HELLO))
    assert text.index("Rules.") < text.index('"function"') < text.index("hello")


# --- the speed -----------------------------------------------------------------------------------


def test_only_what_is_not_cached_takes_time():
    body, speed = body_of(SYSTEM, HELLO), Speed(read_tokens_per_s=100.0)
    prompt = build_completion({"text": "Hm."}, body, 1)["usage"]["prompt_tokens"]
    assert serve({"text": "Hm."}, body, 1, speed, None)["latency"] == prompt / 100
    assert serve({"text": "Hm."}, body, 1, speed, prompt - 50)["latency"] == 0.5


def test_writing_takes_time_before_a_whole_reply_and_between_the_pieces_of_a_stream():
    reply, speed = {"text": "x" * 400}, Speed(write_tokens_per_s=10.0)
    whole = serve(reply, body_of(HELLO), 1, speed, None)
    written = rough_tokens({"role": "assistant", "content": reply["text"]})
    assert whole["latency"] == written / 10
    streamed = serve(reply, body_of(HELLO, stream=True), 1, speed, None)
    assert (streamed["latency"], streamed["stream"]["pause_s"]) == (0.0, 0.1)


def test_errors_and_servers_without_a_speed_are_as_they_were():
    assert serve({"raw": ""}, body_of(HELLO), 1, Speed(100.0), None) == {"raw": ""}
    assert serve({"text": "Hm."}, body_of(HELLO), 1, Speed(), None) == {"text": "Hm."}


def ask(provider, body):
    connection = HTTPConnection("127.0.0.1", provider.port, timeout=20)
    try:
        connection.request("POST", "/v1/chat/completions", json.dumps(body))
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def test_cached_tokens_and_timings_are_reported_over_http(provider):
    provider.control(speed={"slots": 1, "read_tokens_per_s": 5_000, "write_tokens_per_s": 1_000})
    started = time.monotonic()
    _, first = ask(provider, body_of(SYSTEM, HELLO))
    assert time.monotonic() - started > first["usage"]["prompt_tokens"] / 5_000
    _, second = ask(provider, body_of(SYSTEM, HELLO, REPLY, HELLO))
    assert first["usage"]["prompt_tokens_details"] == {"cached_tokens": 0}
    cached = second["usage"]["prompt_tokens_details"]["cached_tokens"]
    assert 0 < cached < second["usage"]["prompt_tokens"]
    assert second["timings"] == {
        "cache_n": cached,
        "prompt_n": second["usage"]["prompt_tokens"] - cached,
        "prompt_per_second": 5_000,
        "predicted_n": second["usage"]["completion_tokens"],
        "predicted_per_second": 1_000,
    }
    provider.clear()
    assert "timings" not in ask(provider, body_of(SYSTEM, HELLO))[1]


# --- the template --------------------------------------------------------------------------------

ALTERNATING = body_of(SYSTEM, HELLO, REPLY, HELLO, tools=())


@pytest.mark.parametrize(
    ("template", "body", "words"),
    [
        ("alternate", body_of(HELLO, HELLO), "Conversation roles must alternate"),
        ("gemma", body_of(SYSTEM, HELLO, CALL, RESULT), "Conversation roles must alternate"),
        ("gemma", body_of(HELLO, REPLY, SYSTEM), "System message must be at the beginning"),
        ("mistral", body_of(HELLO, HELLO), "After the optional system message, conversation"),
        ("mistral", body_of(HELLO, CALL, RESULT, HELLO), "roles must alternate"),
        ("no_user_after_tool", body_of(HELLO, CALL, RESULT, HELLO), "after role 'tool'"),
        ("qwen", body_of(HELLO, REPLY, SYSTEM), "System message must be at the beginning."),
        ("no_tools", body_of(HELLO), "does not support tools"),
        ("no_tools", body_of(HELLO, CALL, RESULT, tools=()), "does not support tools"),
        ("no_system", body_of(SYSTEM, HELLO), "System role not supported"),
    ],
)
def test_a_template_refuses_with_its_own_words(template, body, words):
    refusal = template_refusal(body, template)
    assert refusal["status"] == 400
    assert words in json.loads(refusal["raw"])["error"]["message"]


@pytest.mark.parametrize(
    ("template", "body"),
    [
        ("", body_of(HELLO, HELLO)),
        *((name, ALTERNATING) for name in ("alternate", "gemma", "mistral", "qwen", "no_tools")),
        ("mistral", body_of(SYSTEM, HELLO, CALL, RESULT, REPLY, HELLO)),
        ("mistral", body_of(HELLO, CALL, RESULT, CALL, RESULT)),
        ("no_system", body_of(HELLO)),
    ],
)
def test_a_template_accepts_what_it_knows(template, body):
    assert template_refusal(body, template) is None


def test_an_unknown_template_is_refused():
    with pytest.raises(ValueError, match="no template 'runes'"):
        check_template("runes")


def test_a_strict_provider_refuses_over_http_and_keeps_its_queue(provider):
    provider.control(template="mistral", queue=[{"text": "Hm."}])
    status, answer = ask(provider, body_of(HELLO, HELLO))
    assert status == 400
    assert "Jinja Exception: After the optional system" in answer["error"]["message"]
    assert ask(provider, ALTERNATING)[1]["choices"][0]["message"]["content"] == "Hm."

"""The stub provider: what it answers by itself and by order, and how it starts and ends."""

import json
import subprocess
import sys
import time
from http.client import HTTPConnection
from pathlib import Path

import pytest

import evennia_ai
from tests.provider.stub_process import StubProvider
from tests.provider.stub_replies import answer_politely

SITUATION = {
    "role": "user",
    "content": "<situation>\nPlace: the inn\nYou see: a fire\n</situation>",
}
ROOT = Path(evennia_ai.__file__).parent.parent


def heard(*lines):
    return [{"role": "user", "content": line} for line in lines]


def spoke(name="say"):
    calls = [{"id": "c", "type": "function", "function": {"name": name, "arguments": "{}"}}]
    return [
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c", "content": "ok"},
    ]


def body_of(messages, *tools):
    offered = [{"type": "function", "function": {"name": name}} for name in tools]
    return {"model": "stub", "messages": messages, "tools": offered}


def send(provider, body, method="POST", path="/v1/chat/completions", **headers):
    connection = HTTPConnection("127.0.0.1", provider.port, timeout=20)
    try:
        connection.request(method, path, json.dumps(body), headers)
        response = connection.getresponse()
        return response.status, response.read(), dict(response.getheaders())
    finally:
        connection.close()


def ask(provider, *messages):
    status, content, _ = send(provider, body_of(list(messages), "say"))
    assert status == 200
    return json.loads(content)["choices"][0]["message"]


def tool_text(reply):
    (call,) = reply["tool_calls"]
    return call["name"], call.get("arguments", {}).get("text")


# --- by itself -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "tools", "reply"),
    [
        (
            "Ann says: hello",
            ["look", "say", "whisper"],
            {"name": "say", "arguments": {"text": "I heard: hello"}},
        ),
        (
            "Ann whispers to you: psst",
            ["say", "whisper"],
            {"name": "whisper", "arguments": {"target": "Ann", "text": "I heard: psst"}},
        ),
        (
            "Ann whispers: psst",
            ["whisper"],
            {"name": "whisper", "arguments": {"target": "Ann", "text": "I heard: psst"}},
        ),
        (
            "Ann says: hello",
            ["whisper"],
            {"name": "whisper", "arguments": {"target": "Ann", "text": "I heard: hello"}},
        ),
        (
            "Ann acts out: waves at Mira.",
            ["say"],
            {"name": "say", "arguments": {"text": "I heard: waves at Mira."}},
        ),
        (
            "◆ Ann arrives.",
            ["say"],
            {"name": "say", "arguments": {"text": "I heard: Ann arrives."}},
        ),
        (
            'Ann says, "hello: you"',
            ["say"],
            {"name": "say", "arguments": {"text": "I heard: hello: you"}},
        ),
        ("just words", ["say"], {"name": "say", "arguments": {"text": "I heard: just words"}}),
    ],
)
def test_what_was_heard_is_echoed_by_the_tool_that_fits(line, tools, reply):
    body = body_of([*heard(line), SITUATION], *tools)
    assert answer_politely(body) == {"tool_calls": [reply]}


def test_all_lines_since_its_last_words_are_echoed_each_with_the_mark():
    messages = [*heard("Ann says: old"), *spoke(), *heard("Ann says: one", "Bob says: two")]
    reply = answer_politely(body_of([*messages, SITUATION], "say"))
    assert tool_text(reply) == ("say", "I heard: one I heard: two")


NARRATED = [
    "◆ You gave the nails to Ann.",
    "(What do you do now?)",
    "(Earlier talk is left out.)",
    "[You remember: Bob says: hello]",
    "Your acts so far:",
    "What do you, Mira, do and say to Ann?",
]


# --- over HTTP -----------------------------------------------------------------------------------


def test_a_completion_has_the_protocols_form(provider):
    status, content, headers = send(provider, body_of(heard("Ann says: hello"), "say"))
    payload = json.loads(content)
    assert status == 200
    assert headers["Content-Type"] == "application/json"
    assert payload["object"] == "chat.completion"
    assert payload["model"] == "stub"
    (choice,) = payload["choices"]
    assert choice["finish_reason"] == "tool_calls"
    (call,) = choice["message"]["tool_calls"]
    assert call["type"] == "function"
    assert json.loads(call["function"]["arguments"]) == {"text": "I heard: hello"}
    assert payload["usage"]["total_tokens"] == sum(
        payload["usage"][name] for name in ("prompt_tokens", "completion_tokens")
    )


def test_every_request_is_in_the_log_before_its_answer_is_out(provider):
    before = time.time()
    body = body_of(heard("Ann says: hello"), "say")
    send(provider, body, Authorization="Bearer k")
    send(provider, body)
    first, second = provider.requests()
    assert first["body"] == second["body"] == body
    assert (first["auth"], second["auth"]) == (True, False)
    assert before <= first["at"] <= second["at"] <= time.time()


def test_queued_replies_come_first_and_in_order(provider):
    provider.queue({"text": "one"}, {"text": "two"})
    texts = [ask(provider, *heard("Ann says: x")).get("content") for _ in range(3)]
    assert texts == ["one", "two", None]


def test_what_it_is_told_to_say_it_says(provider):
    provider.say("Good evening.")
    (call,) = ask(provider, *heard("Ann says: x"))["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"text": "Good evening."}


def test_a_rule_is_matched_on_what_was_last_heard_and_the_first_that_fits_counts(provider):
    provider.rules({"weather": {"text": "rain"}, "we": {"text": "we"}, "fire": {"text": "no"}})
    assert ask(provider, *heard("Ann says: weather?"), SITUATION)["content"] == "rain"
    assert ask(provider, *heard("weather", "Ann says: shall we?"), SITUATION)["content"] == "we"
    assert ask(provider, *heard("Ann says: hello"), SITUATION)["content"] is None


def test_a_raw_reply_goes_out_byte_for_byte_with_status_and_headers(provider):
    provider.queue({"raw": "slow down", "status": 429, "headers": {"Retry-After": "2"}})
    status, content, headers = send(provider, body_of(heard("x")))
    assert (status, content, headers["Retry-After"]) == (429, b"slow down", "2")


def test_a_required_key_is_required_and_a_wrong_one_told_back(provider):
    provider.control(require_key="right")
    body = body_of(heard("x"))
    status, content, _ = send(provider, body, Authorization="Bearer wrong")
    assert status == 401
    assert b"wrong" in content
    assert send(provider, body, Authorization="Bearer right")[0] == 200


def events_of(content):
    return [line.removeprefix("data: ") for line in content.decode().split("\n\n") if line]


def test_a_stream_has_the_protocols_form(provider):
    provider.queue({"text": "Hello!", "tool_calls": [{"name": "look"}]})
    asked = {"stream": True, "stream_options": {"include_usage": True}}
    status, content, headers = send(provider, {**body_of(heard("x")), **asked})
    *chunks, usage, last = events_of(content)
    assert (status, headers["Content-Type"], last) == (200, "text/event-stream", "[DONE]")
    choices = [json.loads(chunk)["choices"][0] for chunk in chunks]
    deltas = [choice["delta"] for choice in choices]
    assert deltas[:3] == [
        {"role": "assistant", "content": ""},
        {"content": "Hell"},
        {"content": "o!"},
    ]
    assert deltas[3]["tool_calls"][0]["function"] == {"name": "look", "arguments": ""}
    assert deltas[4]["tool_calls"] == [{"index": 0, "function": {"arguments": "{}"}}]
    assert [choice["finish_reason"] for choice in choices] == [None] * 5 + ["tool_calls"]
    assert json.loads(usage)["choices"] == []
    assert json.loads(usage)["usage"]["prompt_tokens"] > 0


# --- the process ---------------------------------------------------------------------------------


def test_it_ends_by_itself_when_its_parent_dies(tmp_path):
    """A killed test run leaves no provider behind."""
    parent = (
        "import os, pathlib, sys\n"
        "from tests.provider.stub_process import StubProvider\n"
        "provider = StubProvider(pathlib.Path(sys.argv[1])).start()\n"
        "print(provider.port, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", parent, str(tmp_path / "log.jsonl")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    orphan = StubProvider(tmp_path / "log.jsonl")
    orphan.port = int(done.stdout)
    end = time.monotonic() + 20
    while True:
        try:
            send(orphan, None, "GET", "/v1/models")
        except OSError:
            break
        assert time.monotonic() < end, "it is still there"
        time.sleep(0.02)

"""The stub provider answers in the form of the protocol, and ends with whoever started it."""

import json
import subprocess
import sys
import time
from http.client import HTTPConnection
from pathlib import Path

import evennia_ai
from tests.provider.stub_process import StubProvider

ROOT = Path(evennia_ai.__file__).parent.parent


def heard(*lines):
    return [{"role": "user", "content": line} for line in lines]


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

"""The stub provider: what it answers by itself and by order, and how it starts and ends."""

import asyncio
import json
import os
import subprocess
import sys
import time
from http.client import HTTPConnection
from pathlib import Path

import pytest

import evennia_ai
from tests.provider.stub_process import StubProvider
from tests.provider.stub_replies import answer_politely, render_reply

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


@pytest.mark.parametrize("tools", [[], ["look"]])
def test_without_a_tool_to_speak_with_the_echo_is_plain_text(tools):
    body = body_of(heard("Ann says: hello"), *tools)
    assert answer_politely(body) == {"text": "I heard: hello"}


def test_all_lines_since_its_last_words_are_echoed_each_with_the_mark():
    messages = [*heard("Ann says: old"), *spoke(), *heard("Ann says: one", "Bob says: two")]
    reply = answer_politely(body_of([*messages, SITUATION], "say"))
    assert tool_text(reply) == ("say", "I heard: one I heard: two")


def test_a_whispered_answer_repeats_only_what_that_speaker_whispered():
    messages = heard(
        "Ann says: aloud", "Ann whispers to you: one", "Bob says: x", "Ann whispers to you: two"
    )
    reply = answer_politely(body_of(messages, "say", "whisper"))
    assert tool_text(reply) == ("whisper", "I heard: one I heard: two")


@pytest.mark.parametrize(
    ("tools", "reply"),
    [(["say", "noop"], {"tool_calls": [{"name": "noop"}]}), (["say"], {"text": ""})],
)
def test_when_it_has_answered_it_has_nothing_to_add(tools, reply):
    messages = [*heard("Ann says: hello"), *spoke(), SITUATION]
    assert answer_politely(body_of(messages, *tools)) == reply


def test_a_call_that_is_no_speech_is_not_an_answer():
    messages = [*heard("Ann says: hello"), *spoke("look"), SITUATION]
    assert tool_text(answer_politely(body_of(messages, "say"))) == ("say", "I heard: hello")


NARRATED = [
    "◆ You gave the nails to Ann.",
    "(What do you do now?)",
    "(Earlier talk is left out.)",
    "[You remember: Bob says: hello]",
    "Your acts so far:",
    "What do you, Mira, do and say to Ann?",
]


@pytest.mark.parametrize("line", NARRATED)
def test_what_nobody_said_is_not_heard(line):
    merged = heard(f"{line}\nAnn says: hello\n{line}")
    assert answer_politely(body_of(merged)) == {"text": "I heard: hello"}
    answered = [*merged, {"role": "assistant", "content": "Good evening."}, *heard(line)]
    assert answer_politely(body_of(answered)) == {"text": ""}


def test_rules_are_not_matched_on_what_nobody_said(provider):
    provider.rules({"^hello$": {"text": "found"}, "": {"text": "lost"}})
    assert ask(provider, *heard("hello", *NARRATED))["content"] == "found"
    assert ask(provider, *heard("\n".join(["hello", *NARRATED])))["content"] == "found"


def test_content_in_parts_is_read_like_text():
    messages = [{"role": "user", "content": [{"type": "text", "text": "Ann says: hello"}]}]
    assert answer_politely(body_of(messages)) == {"text": "I heard: hello"}


def test_usage_grows_with_the_prompt_and_is_never_zero():
    def prompt_tokens(text):
        response = render_reply({"text": "hi"}, body_of(heard(text)), 1)
        return json.loads(response.content)["usage"]["prompt_tokens"]

    assert 0 < prompt_tokens("a") < prompt_tokens("a" * 1_000) < 400


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


def test_models_are_listed(provider):
    status, content, _ = send(provider, None, "GET", "/v1/models")
    assert status == 200
    assert [model["id"] for model in json.loads(content)["data"]] == ["stub"]


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


def test_broken_arguments_can_be_sent_as_text(provider):
    provider.queue({"tool_calls": [{"name": "say", "arguments": '{"text": "h'}]})
    (call,) = ask(provider, *heard("x"))["tool_calls"]
    assert call["function"]["arguments"] == '{"text": "h'


def test_a_required_key_is_required_and_a_wrong_one_told_back(provider):
    provider.control(require_key="right")
    body = body_of(heard("x"))
    status, content, _ = send(provider, body, Authorization="Bearer wrong")
    assert status == 401
    assert b"wrong" in content
    assert send(provider, body, Authorization="Bearer right")[0] == 200


def test_clearing_forgets_orders_and_log(provider):
    provider.control(latency=600, queue=[{"text": "x"}], require_key="k")
    provider.rules({"": {"text": "x"}})
    send(provider, body_of(heard("x")))
    provider.clear()
    assert ask(provider, *heard("Ann says: hello"))["tool_calls"]
    assert len(provider.requests()) == 1


@pytest.mark.parametrize(
    ("orders", "complaint"),
    [({"latancy": 1}, "no orders called latancy"), ({"latency": "soon"}, "could not convert")],
)
def test_an_order_that_makes_no_sense_is_refused(provider, orders, complaint):
    with pytest.raises(ValueError, match=complaint):
        provider.control(**orders)


def test_a_reply_of_no_known_kind_is_refused_when_it_is_ordered(provider):
    with pytest.raises(ValueError, match="no known kind"):
        provider.queue({"txet": "hi"})
    with pytest.raises(ValueError, match="no known kind"):
        provider.rules({"x": {"txet": "hi"}})
    assert ask(provider, *heard("x"))["tool_calls"]


@pytest.mark.parametrize("body", [None, [], {"model": "m"}, {"messages": []}])
def test_a_request_that_is_none_is_a_400(provider, body):
    assert send(provider, body)[0] == 400


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


def test_a_streams_pieces_pause_and_end_can_be_ordered(provider):
    provider.control(stream={"piece": 1, "pause_s": 0.01})
    provider.queue({"text": "Hello", "stream": {"break": "end", "after": 4}})
    started = time.monotonic()
    events = events_of(send(provider, {**body_of(heard("x")), "stream": True})[1])
    assert time.monotonic() - started > 0.04
    texts = [json.loads(event)["choices"][0]["delta"]["content"] for event in events]
    assert texts == ["", "H", "e", "l"]


def test_a_server_may_ignore_that_a_stream_is_wanted(provider):
    provider.control(stream={"ignore": True})
    _, content, headers = send(provider, {**body_of(heard("x")), "stream": True})
    assert headers["Content-Type"] == "application/json"
    assert json.loads(content)["object"] == "chat.completion"


@pytest.mark.parametrize("options", [{"peice": 1}, {"break": "gently"}])
def test_unknown_options_of_a_stream_are_refused(provider, options):
    with pytest.raises(ValueError, match="unknown options"):
        provider.control(stream=options)
    with pytest.raises(ValueError, match="unknown options"):
        provider.queue({"text": "x", "stream": options})


def test_an_unknown_address_is_a_404(provider):
    assert send(provider, None, "GET", "/nothing")[0] == 404


async def ask_at_once(provider, number):
    """Open ``number`` connections, ask on each, and return the statuses and the time it took."""
    data = json.dumps(body_of(heard("Ann says: hello"), "say")).encode()
    head = f"POST /v1/chat/completions HTTP/1.0\r\nContent-Length: {len(data)}\r\n\r\n".encode()

    async def one():
        reader, writer = await asyncio.open_connection("127.0.0.1", provider.port)
        writer.write(head + data)
        answer = await reader.read()
        writer.close()
        return answer.split()[1]

    started = time.monotonic()
    statuses = await asyncio.gather(*(one() for _ in range(number)))
    return statuses, time.monotonic() - started


def test_latency_is_waited_by_all_requests_together_not_one_after_the_other(provider):
    provider.control(latency=0.2)
    statuses, took_s = asyncio.run(ask_at_once(provider, 100))
    assert statuses == [b"200"] * 100
    assert 0.2 <= took_s < 5.0, "one after the other would take 20 s"


def test_a_reply_can_have_a_latency_of_its_own(provider):
    provider.control(latency=600)
    provider.queue({"text": "quick", "latency": 0})
    assert ask(provider, *heard("x"))["content"] == "quick"


# --- the process ---------------------------------------------------------------------------------


def test_stop_ends_the_process_and_may_be_called_twice(tmp_path):
    provider = StubProvider(tmp_path / "log.jsonl").start()
    provider.stop()
    provider.stop()
    with pytest.raises(ConnectionRefusedError):
        send(provider, body_of(heard("x")))


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


def test_one_that_cannot_start_says_so(tmp_path):
    provider = StubProvider(tmp_path / "no such folder" / "log.jsonl")
    with pytest.raises(RuntimeError, match="did not start"):
        provider.start()


def test_by_hand_it_takes_a_script_and_prints_its_port_first(tmp_path):
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"rules": [{"match": "hello", "reply": {"text": "scripted"}}]}))
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.provider.stub", "--script", str(script)],
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
    )
    try:
        provider = StubProvider(tmp_path / "none")
        provider.port = int(process.stdout.readline())
        assert ask(provider, *heard("Ann says: hello"))["content"] == "scripted"
    finally:
        process.kill()
        process.communicate()

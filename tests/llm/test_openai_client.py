"""The openai client against a real HTTP server on loopback: requests, replies, errors."""

import errno
import importlib
import json
import re
import socket
import threading
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from evennia_ai.config import ModelProfile
from evennia_ai.config.profiles import missing_model
from evennia_ai.errors import ProviderMisconfigured, ProviderRejected, ProviderUnavailable
from evennia_ai.llm import openai_client
from evennia_ai.llm.openai_client import OpenAIClient
from evennia_ai.ports import Caller
from tests.llm import openai_scene as scene
from tests.llm.openai_scene import KEY, REQUEST, refusing_address

client, profile = scene.client, scene.profile
pytestmark = pytest.mark.usefixtures("transport")


def test_a_request_names_its_turn_and_no_two_are_named_alike(pump, client, provider, profile):
    turn = replace(REQUEST, caller=Caller("12", turn_id=4711))
    heard = []
    for request in (turn, replace(turn, on_delta=heard.append), REQUEST):
        pump.wait(client.complete(request, profile))
    whole, streamed, background = (record["request_id"] for record in provider.requests())
    assert re.fullmatch(r"turn-4711-[0-9a-f]{8}", whole)
    assert re.fullmatch(r"turn-4711-[0-9a-f]{8}", streamed)
    assert whole != streamed
    assert heard
    assert background is None


def test_a_request_arrives_whole_and_its_reply_is_read(pump, client, provider, profile):
    reply = pump.wait(client.complete(REQUEST, profile))
    assert [(c.name, json.loads(c.arguments)) for c in reply.tool_calls] == [
        ("say", {"text": "I heard: hello"})
    ]
    assert reply.finish_reason == "tool_calls"
    assert reply.usage is not None
    assert [record["body"] for record in provider.requests()] == [
        {"model": "stub", "messages": REQUEST.messages, "tools": REQUEST.tools, "max_tokens": 50}
    ]


def test_the_profiles_key_is_sent(pump, client, provider, profile):
    provider.control(require_key=KEY)
    assert pump.wait(client.complete(REQUEST, profile)).tool_calls


def test_where_no_key_is_named_none_of_the_environment_is_sent(pump, client, provider, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    profile = ModelProfile("local", "openai", "stub", provider.base_url)
    provider.control(require_key="none")
    assert pump.wait(client.complete(REQUEST, profile)).tool_calls


def test_a_proxy_in_the_environment_is_not_asked_for_loopback(
    pump, loop_thread, profile, monkeypatch
):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, refusing_address())
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    client = OpenAIClient(loop_thread, {"STUB_KEY": KEY})
    assert pump.wait(client.complete(REQUEST, profile)).tool_calls


def test_a_proxy_in_the_environment_is_asked_for_other_hosts(
    pump, loop_thread, provider, monkeypatch
):
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, provider.base_url.removesuffix("/v1"))
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    answer = {"raw": '{"choices": [{"message": {"content": "By proxy."}}]}'}
    provider.control(pages={"POST http://model.test/v1/chat/completions": answer})
    profile = ModelProfile("away", "openai", "m", "http://model.test/v1")
    reply = pump.wait(OpenAIClient(loop_thread, {}).complete(REQUEST, profile))
    assert reply.content == "By proxy."


def test_one_connection_serves_the_calls_that_follow_each_other(pump, client, provider, profile):
    for _ in range(3):
        pump.wait(client.complete(REQUEST, profile))
    assert len({record["port"] for record in provider.requests()}) == 1


def test_the_sdks_headers_are_sent_without_what_it_tells_of_the_machine(
    pump, client, provider, profile, monkeypatch
):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-tavern")
    pump.wait(client.complete(REQUEST, profile))
    (record,) = provider.requests()
    told = record["headers"]
    assert told["openai-organization"] == "org-tavern"
    assert told["user-agent"].startswith("AsyncOpenAI/Python")
    machine = [name for name in told if name.startswith("x-stainless")]
    assert machine == ["x-stainless-raw-response"]


def test_warming_up_imports_the_sdk_in_the_loop_thread_and_calls_nobody(
    pump, client, provider, monkeypatch
):
    imported_in = []
    real = importlib.import_module

    def watch(name):
        imported_in.append(threading.current_thread().name)
        return real(name)

    monkeypatch.setattr(importlib, "import_module", watch)
    pump.wait(client.warm_up())
    assert set(imported_in) == {"evennia-ai-loop"}
    assert provider.records() == []


# --- errors, each with a sentence ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"api_key_env": "UNSET_KEY"},
            "The profile 'tavern' needs the environment variable UNSET_KEY.",
        ),
        ({"api_key_env": "EMPTY"}, "The profile 'tavern' needs the environment variable EMPTY."),
        (
            {"api_key_env": "ACCENT"},
            "The environment variable ACCENT holds characters no key can have.",
        ),
        (
            {"api_key_env": "CONTROL"},
            "The environment variable CONTROL holds characters no key can have.",
        ),
        ({"model": ""}, missing_model("tavern")),
        (
            {"base_url": "", "api_key_env": ""},
            "The profile 'tavern' has neither a base_url nor an api_key_env.",
        ),
        (
            {"base_url": "localhost:11434"},
            "The base_url of the profile 'tavern' must look like {} or {}.".format(
                "http://localhost:11434/v1", "https://api.openai.com/v1"
            ),
        ),
    ],
)
def test_a_profile_that_cannot_work_fails_at_once_and_without_a_call(
    client, provider, profile, changes, sentence
):
    bad = ModelProfile(**{**vars(profile), **changes})
    failures = []
    client.complete(REQUEST, bad).addErrback(failures.append)
    assert [(failure.type, str(failure.value)) for failure in failures] == [
        (ProviderMisconfigured, sentence)
    ]
    assert provider.records() == []


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (401, ProviderMisconfigured, "refused the key in STUB_KEY (HTTP 401): odd."),
        (403, ProviderMisconfigured, "refused the key in STUB_KEY (HTTP 403): odd."),
        (404, ProviderMisconfigured, "There is no model 'stub' at"),
        (405, ProviderMisconfigured, "or the address is wrong (HTTP 405): odd."),
        (302, ProviderMisconfigured, "redirects requests"),
        (400, ProviderRejected, "refused the request (HTTP 400): odd."),
        (422, ProviderRejected, "refused the request (HTTP 422): odd."),
        (408, ProviderUnavailable, "reports a temporary failure (HTTP 408): odd."),
        (429, ProviderUnavailable, "takes no more requests at the moment (HTTP 429): odd."),
        (500, ProviderUnavailable, "reports a temporary failure (HTTP 500): odd."),
        (503, ProviderUnavailable, "reports a temporary failure (HTTP 503): odd."),
    ],
)
def test_each_status_has_its_kind_of_error_and_one_sentence(
    pump, client, provider, profile, *, status, kind, words
):
    provider.queue({"raw": '{"error": {"message": "odd"}}', "status": status})
    error = pump.error(client.complete(REQUEST, profile))
    assert type(error) is kind
    assert words in str(error)
    assert provider.base_url in str(error)
    assert len(provider.requests()) == 1, "it was tried again"


def test_a_redirect_is_not_followed(pump, client, provider, profile):
    elsewhere = {"Location": f"{provider.base_url}/chat/completions"}
    provider.queue({"raw": "", "status": 307, "headers": elsewhere})
    assert isinstance(pump.error(client.complete(REQUEST, profile)), ProviderMisconfigured)
    assert len(provider.requests()) == 1


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        ("<html>Please log in</html>", ""),
        ("", ""),
        ("{", ""),
        ('{"error": {"message": "overloaded"}}', ": overloaded"),
    ],
)
def test_a_200_that_is_no_completion_is_unavailable(pump, client, provider, profile, *, raw, told):
    provider.queue({"raw": raw})
    error = pump.error(client.complete(REQUEST, profile))
    assert type(error) is ProviderUnavailable
    assert str(error) == f"{provider.base_url} did not send a chat completion{told}."


def test_an_error_carries_status_code_and_the_wait_that_was_asked_for(
    pump, client, provider, profile
):
    provider.fault("rate_limited", seconds=5)
    error = pump.error(client.complete(REQUEST, profile))
    assert type(error) is ProviderUnavailable
    assert (error.status, error.code, error.retry_after_s) == (429, "rate_limit_exceeded", 5.0)


def test_a_wait_until_a_date_is_counted_from_the_servers_clock(
    pump, client, provider, profile, monkeypatch
):
    provider.fault("rate_limited_until", seconds=30)
    long_ago = datetime(2000, 1, 1, tzinfo=UTC)
    monkeypatch.setattr(openai_client, "utc_now", lambda: long_ago)
    error = pump.error(client.complete(REQUEST, profile))
    assert error.retry_after_s == 30.0


def test_a_refused_connection_is_unavailable_and_names_the_address(pump, client):
    address = refusing_address()
    error = pump.error(client.complete(REQUEST, ModelProfile("local", "openai", "m", address)))
    assert type(error) is ProviderUnavailable
    assert str(error) == f"{address} could not be reached: nothing listens there."


def test_a_host_with_several_addresses_that_all_refuse_is_told_like_one(pump, client, monkeypatch):
    address = refusing_address()
    port = int(address.split(":")[2].removesuffix("/v1"))
    found = [
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, port))
        for host in ("127.0.0.1", "127.0.0.2")
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **options: found)
    profile = ModelProfile("local", "openai", "m", f"http://ollama.test:{port}/v1")
    error = pump.error(client.complete(REQUEST, profile))
    assert str(error).endswith("could not be reached: nothing listens there.")


@pytest.mark.parametrize(
    ("trouble", "told"),
    [
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "there is no such host"),
        (OSError(errno.EMFILE, "Too many open files"), "the game has too many open files"),
    ],
)
def test_a_host_that_is_not_found_is_unavailable_and_the_error_says_why(
    pump, client, monkeypatch, trouble, told
):
    def unknown(*args, **options):
        raise trouble

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    profile = ModelProfile("away", "openai", "m", "http://nowhere.invalid/v1")
    error = pump.error(client.complete(REQUEST, profile))
    assert type(error) is ProviderUnavailable
    assert str(error).startswith(f"http://nowhere.invalid/v1 could not be reached: {told}")


@pytest.mark.parametrize(
    ("scheme", "answer", "cause"),
    [
        ("http", b"", "the connection broke"),
        ("http", b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{", "the connection broke"),
        ("http", b"SSH-2.0-OpenSSH_9.6\r\n", "the connection broke"),
        (
            "https",
            b"HTTP/1.1 400 Bad Request\r\n\r\n",
            "its certificate or encryption is not acceptable",
        ),
    ],
    ids=["closed at once", "closed in mid-body", "not HTTP", "not TLS"],
)
def test_a_connection_that_breaks_is_unavailable_and_says_how(pump, client, scheme, answer, cause):
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"{scheme}://127.0.0.1:{server.getsockname()[1]}/v1"
        deferred = client.complete(REQUEST, ModelProfile("local", "openai", "m", address))
        connection, _ = server.accept()
        connection.recv(100_000)
        connection.sendall(answer)
        connection.close()
        error = pump.error(deferred)
    assert type(error) is ProviderUnavailable
    assert str(error) == f"{address} could not be reached: {cause}."

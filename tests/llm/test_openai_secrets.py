"""Keys, passwords and words of the prompt that a server tells back."""

import base64
import codecs
import json
import logging
import traceback
from dataclasses import replace

import pytest

from evennia_ai.config import ModelProfile
from evennia_ai.llm.openai_client import OpenAIClient
from evennia_ai.llm.sdk_clients import quiet_http_logs
from evennia_ai.policy.call_record import PromptTrace
from tests.llm import openai_scene as scene
from tests.llm.openai_scene import KEY, REQUEST, refusing_address

client, profile = scene.client, scene.profile
pytestmark = pytest.mark.usefixtures("transport")


@pytest.mark.parametrize("status", [400, 401, 500])
def test_a_key_the_server_tells_back_is_nowhere_in_the_error(
    pump, client, provider, profile, status
):
    told = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}."}})
    provider.queue({"raw": told, "status": status})
    failure = pump.wait(client.complete(REQUEST, profile))
    shown = [
        failure.getTraceback(),
        repr(failure.value),
        "".join(traceback.format_exception(failure.value)),
        repr(vars(failure.value)),
    ]
    assert not any(KEY in text for text in shown)
    assert failure.value.__cause__ is None
    assert failure.value.__context__ is None


@pytest.mark.parametrize("status", [200, 400, 403, 500])
def test_words_of_the_prompt_that_the_server_tells_back_are_nowhere_in_the_error(
    pump, client, provider, profile, status
):
    line = "Ann whispers to you: the password is zanzibar"
    request = replace(REQUEST, messages=[{"role": "user", "content": line}])
    error = {"message": f"Unsupported content: '{line}'.", "code": "zanzibar"}
    provider.queue({"raw": json.dumps({"error": error}), "status": status})
    failure = pump.wait(client.complete(request, profile))
    shown = f"{failure.getTraceback()} {failure.value!r} {vars(failure.value)!r}"
    assert "zanzibar" not in shown and "password" not in shown
    assert status in (403, 500) or "Unsupported content: '...'" in shown


SECRET = "the silver lies in the well"
MANGLED = {
    "from its end": SECRET[::-1],
    "with gaps": " ".join(SECRET),
    "turned letters": codecs.encode(SECRET, "rot13"),
    "numbers": " ".join(str(ord(char)) for char in SECRET),
    "base64": base64.b64encode(SECRET.encode()).decode()[:30],
    "its first letters": "tslitw",
    "words in another order": " ".join(reversed(SECRET.split())),
}


@pytest.mark.parametrize("trace", [PromptTrace(private=True), None])
@pytest.mark.parametrize("status", [200, 400, 401, 403, 404, 413, 429, 500, 503])
def test_nothing_a_server_says_to_a_private_prompt_is_in_the_error(
    pump, client, provider, profile, status, trace
):
    line = f"Ann whispers to you: {SECRET}"
    request = replace(REQUEST, messages=[{"role": "user", "content": line}], trace=trace)
    for words in MANGLED.values():
        error = {"message": f"Invalid: {words}", "code": words, "type": words, "param": words}
        provider.queue({"raw": json.dumps({"error": error}), "status": status})
        failure = pump.wait(client.complete(request, profile))
        shown = f"{failure.getTraceback()} {failure.value!r} {vars(failure.value)!r}"
        assert words not in shown and "Invalid" not in shown
        assert provider.base_url in shown and (status == 200 or f"HTTP {status}" in shown)
        assert "characters of text are left out" in shown


def test_to_a_private_prompt_the_parameters_and_limits_are_told_that_a_server_names(
    pump, client, provider, profile
):
    messages = [{"role": "user", "content": f"Ann whispers to you: {SECRET}"}]
    request = replace(REQUEST, messages=messages, trace=PromptTrace(private=True))
    words = "'presence_penalty' is too high; at most 4096 tokens. Got: the silver lies in the well"
    provider.queue({"raw": json.dumps({"error": {"message": words}}), "status": 422})
    shown = str(pump.wait(client.complete(request, profile)).value)
    assert "were in the prompt; it names presence_penalty, 4096 tokens" in shown
    assert "silver" not in shown and "well" not in shown


def test_what_a_server_says_to_a_probe_is_told_in_full(pump, client, provider, profile):
    error = {"message": "frobnication impossible", "code": "no_frob"}
    provider.queue({"raw": json.dumps({"error": error}), "status": 400})
    failure = pump.wait(client.complete(replace(REQUEST, source=None, trace=None), profile))
    assert "frobnication impossible" in str(failure.value)


@pytest.mark.parametrize("key", ["x", "4f1c9e7"])
def test_a_short_key_changes_nothing_in_a_reply(pump, loop_thread, provider, key):
    client = OpenAIClient(loop_thread, {"STUB_KEY": key})
    profile = ModelProfile("tavern", "openai", "stub", provider.base_url, "STUB_KEY")
    told = '{"n_ctx": 4096, "x": "4f1c9e7"}'
    provider.queue({"raw": told, "status": 200})
    body = {"model": "stub", "messages": REQUEST.messages}
    raw = pump.wait(client.exchange(profile, "POST", "chat/completions", body))
    assert raw.content == told.encode()


def test_a_key_in_a_raw_response_is_masked_whatever_bytes_stand_around_it(
    pump, client, provider, profile
):
    told = json.dumps({"told": f"\u94a5{KEY}\u94a5", "next": f"\n{KEY}"}, ensure_ascii=False)
    provider.queue({"raw": told, "status": 200})
    body = {"model": "stub", "messages": REQUEST.messages}
    raw = pump.wait(client.exchange(profile, "POST", "chat/completions", body))
    assert raw.content == told.replace(KEY, "***").encode()


def test_no_password_of_an_address_is_logged(pump, client, provider, profile, caplog):
    base_url = provider.base_url.replace("http://", "http://me:open-sesame@")
    quiet_http_logs()
    with caplog.at_level(logging.DEBUG):
        with_password = replace(profile, base_url=base_url)
        pump.wait(client.complete(REQUEST, with_password))
        pump.wait(client.exchange(with_password, "GET", "models?token=t0ken"))
        dead = replace(profile, base_url="http://me:open-sesame@" + refusing_address()[7:])
        error = pump.error(client.complete(REQUEST, dead))
    assert "open-sesame" not in caplog.text + str(error) + repr(error)
    assert "t0ken" not in caplog.text


def test_user_and_password_of_an_address_are_sent(pump, client, provider, profile):
    base_url = provider.base_url.replace("http://", "http://me:open-sesame@")
    pump.wait(client.complete(REQUEST, replace(profile, base_url=base_url)))
    (record,) = provider.requests()
    assert record["headers"]["authorization"] == "Basic bWU6b3Blbi1zZXNhbWU="

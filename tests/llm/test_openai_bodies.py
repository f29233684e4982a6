"""Bodies that the openai client does not read to their end, and calls that it lets go."""

import gc
import gzip
import json
import socket
import zlib

import pytest

from evennia_ai.config import ModelProfile
from evennia_ai.errors import ProviderMisconfigured, ProviderRejected, ProviderUnavailable
from evennia_ai.llm import sdk_clients
from evennia_ai.llm.fields_beside import parse_body
from evennia_ai.llm.openai_client import OpenAIClient
from evennia_ai.ports import LLMRequest
from tests.llm import openai_scene as scene
from tests.llm.endpoint_cases import Server
from tests.llm.openai_scene import KEY, REQUEST

client, profile = scene.client, scene.profile
pytestmark = pytest.mark.usefixtures("transport")


# --- bodies that are not read to their end -------------------------------------------------------


def send_back(pump, client, *parts):
    """The outcome of a call to a server that reads a request and sends these parts."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        deferred = client.complete(REQUEST, ModelProfile("local", "openai", "m", address))
        connection, _ = server.accept()
        asked = connection.recv(100_000)
        for part in parts:
            connection.sendall(part)
        outcome = pump.wait(deferred)
        connection.close()
    return outcome, asked, address


@pytest.mark.parametrize("status", [200, 500])
def test_a_body_without_end_is_given_up_at_the_cap(
    pump, client, provider, profile, eventually, *, status
):
    provider.fault("flood", size=50_000_000, status=status)
    error = pump.error(client.complete(REQUEST, profile))
    assert type(error) is ProviderUnavailable
    told = "sent no complete reply: a body of more than 4,000,000 bytes was not read."
    assert str(error) == f"{provider.base_url} {told}"
    eventually(lambda: "left" in provider.records()[-1])


def test_a_body_that_is_announced_as_too_long_is_not_even_begun(pump, client):
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 4000001\r\n\r\n"
    failure, _, _ = send_back(pump, client, head)
    assert "more than 4,000,000 bytes" in str(failure.value)


def test_the_longest_body_that_is_allowed_is_read(pump, loop_thread, provider, profile):
    whole = json.dumps({"choices": [{"message": {"content": "x" * 1_000}}]})
    provider.queue({"raw": whole}, {"raw": whole})
    fits = OpenAIClient(loop_thread, {"STUB_KEY": KEY}, most_bytes=len(whole))
    assert pump.wait(fits.complete(REQUEST, profile)).content == "x" * 1_000
    short = OpenAIClient(loop_thread, {"STUB_KEY": KEY}, most_bytes=len(whole) - 1)
    assert "was not read" in str(pump.error(short.complete(REQUEST, profile)))


def send_packed(pump, client, body, encoding, *headers, status="200 OK"):
    lines = [f"HTTP/1.1 {status}", f"Content-Encoding: {encoding}", f"Content-Length: {len(body)}"]
    return send_back(pump, client, "\r\n".join([*lines, *headers, "", ""]).encode(), body)


@pytest.mark.parametrize(
    ("body", "encoding", "said"),
    [
        (gzip.compress(b" " * 10_000_000), "gzip", "a body of more than 4,000,000 bytes"),
        (b"no gzip", "gzip", "a compressed body that is damaged"),
        (b"any", "br", "a body in the unwanted encoding 'br'"),
    ],
)
def test_of_a_compressed_body_no_more_is_unpacked_than_read(pump, client, body, encoding, said):
    """A few kilobytes could hold gigabytes."""
    failure, asked, address = send_packed(pump, client, body, encoding)
    assert b"accept-encoding: identity" in asked.lower()
    assert type(failure.value) is ProviderUnavailable
    assert str(failure.value) == f"{address} sent no complete reply: {said} was not read."


@pytest.mark.parametrize("encoding", ["gzip", "br"])
def test_a_compressed_refusal_is_waited_for_as_it_asks(pump, client, encoding):
    body = gzip.compress(b'{"error": {"message": "Slow down."}}')
    sent = send_packed(pump, client, body, encoding, "Retry-After: 2", status="429 Slow")
    assert sent[0].value.retry_after_s == 2


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress])
def test_a_compressed_reply_is_read(pump, client, pack):
    body = pack(json.dumps({"choices": [{"message": {"content": "Aye."}}]}).encode())
    assert send_packed(pump, client, body, "gzip")[0].content == "Aye."


def test_a_silent_server_is_unavailable_after_the_read_timeout(
    pump, loop_thread, provider, profile
):
    provider.control(latency=600)
    client = OpenAIClient(loop_thread, {"STUB_KEY": KEY}, read_timeout_s=0.1)
    error = pump.error(client.complete(REQUEST, profile))
    assert type(error) is ProviderUnavailable
    assert str(error) == f"{provider.base_url} did not answer in time."


def test_a_request_that_cannot_be_written_as_json_is_an_error_of_ours(pump, client, profile):
    request = LLMRequest([{"role": "user", "content": "\ud800"}])
    error = pump.error(client.complete(request, profile))
    assert type(error) is ProviderRejected
    assert str(error) == "The request cannot be written as JSON (UnicodeEncodeError)."


# --- letting go ----------------------------------------------------------------------------------


def test_cancelling_closes_the_connection(pump, client, provider, profile, eventually):
    provider.control(latency=600)
    deferred = client.complete(REQUEST, profile)
    eventually(provider.requests)
    deferred.cancel()
    pump.wait(deferred)
    eventually(lambda: {"number", "left"} <= set(provider.records()[-1]))


def test_cancelling_in_the_middle_of_a_body_closes_the_connection(
    pump, client, provider, profile, eventually
):
    provider.fault("drip", every_s=0.01)
    deferred = client.complete(REQUEST, profile)
    eventually(lambda: any("fault" in record for record in provider.records()))
    deferred.cancel()
    pump.wait(deferred)
    eventually(lambda: "left" in provider.records()[-1])


def test_cancelled_calls_leave_no_connection_behind_in_the_pool(
    pump, client, provider, profile, eventually
):
    provider.control(latency=600)
    deferreds = [client.complete(REQUEST, profile) for _ in range(20)]
    eventually(lambda: len(provider.requests()) == 20)
    for deferred in deferreds:
        deferred.cancel()
        pump.wait(deferred)
    eventually(lambda: sum("left" in record for record in provider.records()) == 20)
    provider.control(latency=0)
    assert pump.wait(client.complete(REQUEST, profile)).tool_calls


def test_stopping_the_thread_closes_every_connection_without_a_warning(
    pump, loop_thread, client, provider, profile, *, eventually, recwarn
):
    pump.wait(client.complete(REQUEST, profile))
    provider.control(latency=600)
    deferreds = [client.complete(REQUEST, profile) for _ in range(20)]
    eventually(lambda: len(provider.requests()) == 21)
    loop_thread.stop()
    eventually(lambda: sum("left" in record for record in provider.records()) == 20)
    del deferreds
    gc.collect()
    assert [str(warning.message) for warning in recwarn] == []


@pytest.mark.parametrize("ending", ["silent", "reset", "short"])
def test_a_failure_is_what_its_status_says_however_its_body_ends(pump, client, monkeypatch, ending):
    monkeypatch.setattr(sdk_clients, "FAILURE_S", 0.1)
    server = Server((401, '{"error": {"message": "no such key"}}', (), ending))
    profile = ModelProfile("p", "openai", "m", server.base_url)
    error = pump.error(client.complete(REQUEST, profile))
    server.close()
    assert (type(error), server.asked) == (ProviderMisconfigured, 1)
    assert "no such key" in str(error)


def test_a_whole_reply_with_a_broken_character_is_read():
    assert parse_body(b'{"text": "Caf\xe9"}') == {"text": "Caf\ufffd"}

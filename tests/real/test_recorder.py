"""The recorder of `make real` passes everything through as it comes, and keeps a copy."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from server import running
from tests.real.recorder import Recorder, read_usage, rewrite_head

REQUEST = {"model": "m", "messages": [{"role": "user", "content": "Grüße"}]}
WAIT_S = 10.0


class Endpoint(BaseHTTPRequestHandler):
    """Streams two parts, the second one when the test allows it, or a refusal for "bad"."""

    protocol_version = "HTTP/1.1"
    go_on = threading.Event()
    client_left = threading.Event()
    seen: list[dict[str, str]]

    def do_POST(self) -> None:
        self.seen.append(dict(self.headers))
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if b"bad" in body:
            self.send_error(400, "conversation roles must alternate")
            return
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.send_part({"choices": [{"delta": {"content": "One."}}]})
        if b"leave" in body:
            self.connection.settimeout(WAIT_S)
            if not self.connection.recv(1):
                self.client_left.set()
            return
        assert self.go_on.wait(WAIT_S)
        self.send_part({"usage": {"prompt_tokens": 9, "completion_tokens": 2}})
        self.wfile.write(b"0\r\n\r\n")

    def send_part(self, part: dict[str, Any]) -> None:
        data = f"data: {json.dumps(part)}\n\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[ThreadingHTTPServer]:
    """A small endpoint that streams."""
    Endpoint.go_on.clear()
    Endpoint.client_left.clear()
    Endpoint.seen = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def recorder(endpoint: ThreadingHTTPServer, tmp_path: Path) -> Iterator[Recorder]:
    """A recorder before the endpoint."""
    with Recorder(f"http://127.0.0.1:{endpoint.server_port}/v1", tmp_path / "log") as recorder:
        yield recorder


def ask(recorder: Recorder, body: dict[str, Any]) -> HTTPConnection:
    connection = HTTPConnection("127.0.0.1", recorder.port, timeout=WAIT_S)
    headers = {"Authorization": "Bearer sk-secret", "Accept-Encoding": "gzip"}
    connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
    return connection


def wait_for_exchange(recorder: Recorder) -> None:
    assert running.wait_until(recorder.exchanges, WAIT_S)


def test_a_streamed_part_arrives_before_the_next_is_written(recorder: Recorder) -> None:
    response = ask(recorder, REQUEST).getresponse()
    assert b"One." in response.readline()  # the endpoint still waits
    Endpoint.go_on.set()
    assert b"prompt_tokens" in response.read()
    wait_for_exchange(recorder)
    (one,) = recorder.exchanges()
    assert one.is_completion and one.status == 200 and one.request == REQUEST
    assert (one.prompt_tokens, one.cached_tokens, one.completion_tokens) == (9, None, 2)
    assert one.at <= one.ended_at
    assert "sk-secret" not in json.dumps(one.reply) + json.dumps(dict(one.request))
    assert Endpoint.seen[0]["Authorization"] == "Bearer sk-secret"
    assert Endpoint.seen[0]["Accept-Encoding"] == "identity"


def test_the_endpoint_sees_that_the_client_left(recorder: Recorder) -> None:
    connection = ask(recorder, {"leave": True})
    with connection.getresponse() as response:
        assert response.readline()
    connection.close()
    wait_for_exchange(recorder)
    assert Endpoint.client_left.wait(WAIT_S)


def test_a_refusal_is_passed_on_and_recorded(recorder: Recorder) -> None:
    response = ask(recorder, {"bad": True}).getresponse()
    assert response.status == 400 and b"must alternate" in response.read()
    wait_for_exchange(recorder)
    assert recorder.exchanges()[0].status == 400


def test_without_an_endpoint_the_connection_ends_and_the_status_is_none(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with Recorder(f"http://127.0.0.1:{port}", tmp_path / "log") as recorder:
        with pytest.raises(ConnectionError):
            ask(recorder, REQUEST).getresponse()
        wait_for_exchange(recorder)
        assert recorder.exchanges()[0].status == 0


def test_the_head_names_the_endpoint_s_host_and_keeps_other_headers() -> None:
    head = b"POST /v1/x HTTP/1.1\r\nHost: 127.0.0.1:1\r\nConnection: keep-alive\r\nX-A: b\r\n\r\n"
    lines = rewrite_head(head, "api.example").decode().split("\r\n")
    assert lines[0] == "POST /v1/x HTTP/1.1"
    assert {"Host: api.example", "Connection: close", "X-A: b"} <= set(lines)
    assert len([line for line in lines if line.startswith("Host")]) == 1


@pytest.mark.parametrize(
    ("reply", "tokens"),
    [
        ({"usage": {"prompt_tokens": 9, "completion_tokens": 2}}, (9, None, 2)),
        (
            {"usage": {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4}}},
            (9, 4, None),
        ),
        ({"usage": {"prompt_tokens": 9, "prompt_tokens_details": None}}, (9, None, None)),
        ({"timings": {"cache_n": 4, "prompt_n": 5, "predicted_n": 2}}, (9, 4, 2)),
        ({"choices": []}, (None, None, None)),
    ],
)
def test_tokens_come_from_the_usage_or_from_the_timings(
    reply: dict[str, Any], tokens: tuple[int | None, ...]
) -> None:
    assert read_usage(json.dumps(reply)) == tokens
    streamed = (
        f': waiting\n\ndata: {{"choices": []}}\n\ndata: {json.dumps(reply)}\n\ndata: [DONE]\n\n'
    )
    assert read_usage(streamed) == tokens

"""A chat-completions provider on loopback, for tests and benchmarks, in a process of its own.

Run ``python -m tests.provider.stub --port 0 --log requests.jsonl``; the first line it
prints is the port. From Python, `tests.provider.stub_process.StubProvider` starts, steers and
stops it.

``POST /_control`` takes orders, an object with any of:

- ``latency``: seconds before every answer;
- ``queue``: replies to give to the next requests, in order;
- ``rules``: ``[{"match": regex, "reply": {...}}]``, tried in order on what was last heard;
- ``require_key``: the only accepted key; the refusal quotes a wrong one, as real servers do;
- ``pages``: replies for other addresses by method and path, as in
  ``{"GET /v1/models": {"raw": "[]"}}``;
- ``refuse``: the seconds from now in which nobody can connect;
- ``stream``: how replies are streamed, see `stub_stream`.

Each order replaces the earlier one of that name. Replies are streamed if the request asks for it;
their kinds are in `stub_replies`.
"""

import argparse
import importlib
import json
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

from twisted.internet import stdio
from twisted.internet.protocol import Protocol
from twisted.web.http import Request
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET

from tests.provider.stub_replies import (
    Body,
    Reply,
    Response,
    answer_politely,
    check_reply,
    match_rule,
    render_reply,
)
from tests.provider.stub_stream import check_stream
from tests.provider.stub_wire import Door, QuietSite, send, transport_of

COMPLETIONS = (b"/v1/chat/completions", b"/chat/completions")
MODELS = (b"/v1/models", b"/models")
CONTROL = b"/_control"
BREAKING = frozenset({"reset", "cut"})  # it is the provider that ends the connection
ORDERS = frozenset({"latency", "queue", "rules", "require_key", "pages", "refuse", "stream"})


class Orders:
    """The provider's orders, and the log of the requests that it got.

    A subclass may know more orders (`known`) and more kinds of replies (`check`, `play`).
    """

    known = ORDERS

    def __init__(self, log: IO[str] | None = None) -> None:
        self.latency = 0.0
        self.queue: deque[Reply] = deque()
        self.rules: list[dict[str, Any]] = []
        self.require_key = ""
        self.pages: dict[str, Reply] = {}
        self.stream: dict[str, Any] = {}
        self.number = 0
        self._log = log

    def update(self, orders: dict[str, Any]) -> None:
        """Replace the orders that are named; raise ValueError for one that makes no sense."""
        strange = set(orders) - self.known
        if strange:
            raise ValueError(f"There are no orders called {', '.join(sorted(strange))}.")
        rules = list(orders.get("rules", self.rules))
        queue = list(orders.get("queue", self.queue))
        pages = dict(orders.get("pages", self.pages))
        stream = dict(orders.get("stream", self.stream))
        for reply in [*queue, *(rule["reply"] for rule in rules), *pages.values()]:
            self.check(reply)
        check_stream(stream)
        self.latency = float(orders.get("latency", self.latency))
        self.queue, self.rules, self.pages, self.stream = deque(queue), rules, pages, stream
        self.require_key = str(orders.get("require_key", self.require_key))

    def check(self, reply: Reply) -> None:
        """Raise ValueError for a reply of no known kind."""
        check_reply(reply)

    def next_reply(self, body: Body) -> Reply:
        """Return the queue's next reply, else the first matching rule's, else the polite one."""
        if self.queue:
            return self.queue.popleft()
        return match_rule(self.rules, body) or answer_politely(body)

    def play(self, reply: Reply, body: Body, number: int) -> Reply:
        """Return the reply to render; ``number`` counts the requests."""
        return reply

    def write(self, record: dict[str, Any]) -> None:
        """Append one line to the log; a reader finds it there before the answer is sent."""
        if self._log is not None:
            self._log.write(json.dumps({"at": time.time(), **record}) + "\n")
            self._log.flush()


class Provider(Resource):
    """The resource for every address of the provider."""

    isLeaf = True  # noqa: N815  # Twisted's name

    def __init__(self, orders: Orders, clock: Any) -> None:
        super().__init__()
        self._orders = orders
        self._clock = clock
        self.door: Door | None = None

    def render(self, request: Any) -> bytes | int:
        """Route a request by method and path."""
        method, path = request.method, request.path
        page = self._orders.pages.get(f"{method.decode()} {path.decode()}")
        if page:
            self._send_later(request, self._render(page, {}, 0), 0)
            return NOT_DONE_YET
        if method == b"POST" and path in COMPLETIONS:
            return self._complete(request)
        if method == b"GET" and path in MODELS:
            listed = {"object": "list", "data": [{"id": "stub", "object": "model"}]}
            return send_now(request, 200, listed)
        if method == b"POST" and path == CONTROL:
            return self._control(request)
        return send_now(request, 404, problem(f"No such address: {path.decode()}"))

    def _control(self, request: Any) -> bytes | int:
        try:
            orders = json.loads(request.content.read())
            self._orders.update(orders)
            refuse_s = float(orders.get("refuse", 0))
        except (ValueError, TypeError, KeyError) as error:
            return send_now(request, 400, problem(str(error)))
        answer = send_now(request, 200, {"queue": len(self._orders.queue)})
        if not refuse_s or self.door is None:
            return answer
        shut = self.door.shut(refuse_s, keep=transport_of(request))
        shut.addCallback(lambda _: (request.write(answer), request.finish()))
        return NOT_DONE_YET

    def _complete(self, request: Any) -> bytes | int:
        orders = self._orders
        orders.number += 1
        number = orders.number
        key = (request.getHeader("authorization") or "").removeprefix("Bearer ")
        try:
            body = json.loads(request.content.read())
            messages = body["messages"]
        except (ValueError, KeyError, TypeError):
            return send_now(request, 400, problem("The request is no chat completion."))
        orders.write(
            {
                "number": number,
                "path": request.path.decode(),
                "auth": bool(key),
                "port": request.getClientAddress().port,  # of the connection
                "request_id": request.getHeader("x-client-request-id"),
                "headers": {
                    name.decode("latin-1").lower(): values[-1].decode("latin-1")
                    for name, values in request.requestHeaders.getAllRawHeaders()
                },
                "body": body,
            }
        )
        if orders.require_key and key != orders.require_key:
            return send_now(request, 401, problem(f"Incorrect API key provided: {key}."))
        if not messages:
            return send_now(request, 400, problem("There is nothing to answer."))
        self._send_later(request, self._render(orders.next_reply(body), body, number), number)
        return NOT_DONE_YET

    def _render(self, reply: Reply, body: Body, number: int) -> Response:
        orders = self._orders
        return render_reply(orders.play(reply, body, number), body, number, orders.stream)

    def _send_later(self, request: Request, response: Response, number: int) -> None:
        """Answer after the latency; log a client that leaves before the end."""
        orders = self._orders
        latency_s = orders.latency if response.latency_s is None else response.latency_s
        answer = self._clock.callLater(latency_s, send, request, response, self._clock)

        def left(_: Any) -> None:
            if answer.active():
                answer.cancel()
            if BREAKING.isdisjoint((response.manner, response.options.get("ending"))):
                orders.write({"number": number, "left": True})

        request.notifyFinish().addErrback(left)


def problem(text: str) -> dict[str, Any]:
    """Return an error's body in the form that real providers use."""
    return {"error": {"message": text, "type": "invalid_request_error", "code": None}}


def send_now(request: Request, status: int, body: dict[str, Any]) -> bytes:
    """Answer with JSON at once."""
    request.setResponseCode(status)
    request.setHeader("Content-Type", "application/json")
    return json.dumps(body).encode()


class StopAtEnd(Protocol):
    """A protocol that stops the reactor when standard input ends, as when the parent dies."""

    def __init__(self, reactor: Any) -> None:
        self._reactor = reactor

    def connectionLost(self, reason: Any = None) -> None:  # noqa: N802  # Twisted's name
        """Stop the reactor."""
        if self._reactor.running:
            self._reactor.stop()


def parse_arguments(argv: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="tests.provider.stub", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes any free one")
    parser.add_argument("--log", type=Path, help="append every request to this file, as JSON lines")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before every answer")
    parser.add_argument(
        "--until-stdin-ends", action="store_true", help="stop when the parent process is gone"
    )
    return parser.parse_args(argv)


def main(argv: Sequence[str], make_orders: Callable[[IO[str] | None], Orders] = Orders) -> None:
    """Serve on loopback until stopped."""
    reactor: Any = importlib.import_module("twisted.internet.reactor")
    arguments = parse_arguments(argv)
    log = arguments.log.open("a", encoding="utf-8") if arguments.log else None
    orders = make_orders(log)
    orders.update({"latency": arguments.latency})
    provider = Provider(orders, reactor)
    provider.door = Door(reactor, QuietSite(provider))
    port = provider.door.open(arguments.port)
    if arguments.until_stdin_ends:
        stdio.StandardIO(StopAtEnd(reactor))
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    reactor.run()


if __name__ == "__main__":
    main(sys.argv[1:])

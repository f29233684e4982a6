"""HTTP connections that stay open for the next request to the same endpoint.

For each request the connection pool of httpx looks at all its connections and asks the system about
each idle one: with 100 requests at a time that took a third of the work (measured). So each
connection is an HTTP client of its own here, with a pool of one. Over aiohttp, which the SDK uses
where it is installed, a request takes about two thirds of the time that it takes over httpx.
"""

from __future__ import annotations

import importlib
import logging
import socket
import ssl
import time
from base64 import b64encode
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote_to_bytes
from urllib.request import getproxies

from evennia_ai.llm.endpoints import Endpoint
from evennia_ai.policy.probe import BROKEN, NO_HOST, NO_TLS, REFUSED, TIMEOUT
from evennia_ai.policy.secrecy import hide_in_addresses

NO_KEY = "none"
TELEMETRY = "x-stainless-"
CONNECT_TIMEOUT_S = 5.0
KEPT_S = 5.0  # an idle connection; servers close it after a while, too
LOOPBACK = ("all://localhost", "all://127.0.0.1", "all://[::1]")
PLAIN = ("", "identity")


@dataclass(frozen=True)
class Route:
    """Where requests go, in the HTTP library's type, and the headers that all of them have."""

    url: Any
    headers: Mapping[str, str]


class Connections:
    """The SDK's HTTP clients, without redirects; only the loop thread may use them."""

    def __init__(self, read_timeout_s: float, seconds: Callable[[], float] = time.monotonic):
        """Set up; the first client imports the SDK. ``read_timeout_s`` is for a silent server."""
        self._read_timeout_s = read_timeout_s
        self._seconds = seconds
        self._make: Callable[[], Any] | None = None
        self._routes: dict[tuple[Endpoint, str], Route] = {}
        # By endpoint, and since when they are idle; the one used last is the last, and goes first.
        self._idle: dict[Endpoint, deque[tuple[float, Any]]] = defaultdict(deque)

    async def open(self) -> None:
        """Do what is slow ahead of the first request."""
        await self.make_client().aclose()

    def make_client(self) -> Any:
        """Return a new client."""
        if self._make is None:
            clean_http_logs()
            self._make = client_maker(importlib.import_module("openai"), self._read_timeout_s)
        return self._make()

    @asynccontextmanager
    async def respond(
        self,
        endpoint: Endpoint,
        method: str,
        path: str,
        content: bytes | None = None,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> AsyncIterator[Any]:
        """Send a request and yield the response, whose body can be read inside only.

        ``path`` is relative to the base_url, or to the server's root if it begins with ``/``.
        Raises the HTTP library's errors. A body that is not read to its end closes the connection.
        """
        client = await self._take(endpoint)
        try:
            if (endpoint, path) not in self._routes:
                self._routes[endpoint, path] = find_route(endpoint, path, client)
            route = self._routes[endpoint, path]
            told = {**route.headers, **headers}
            request = client.build_request(method, route.url, headers=told, content=content)
            response = await client.send(request, stream=True)
            try:
                yield response
            finally:
                await response.aclose()
        finally:
            self._idle[endpoint].append((self._seconds(), client))

    async def close(self) -> None:
        """Close all idle connections."""
        for idle in self._idle.values():
            while idle:
                await idle.popleft()[1].aclose()

    async def _take(self, endpoint: Endpoint) -> Any:
        """Return the client used last, or a new one; close those that are idle for too long."""
        idle = self._idle[endpoint]
        while idle and idle[0][0] < self._seconds() - KEPT_S:
            await idle.popleft()[1].aclose()
        return idle.pop()[1] if idle else self.make_client()


def find_route(endpoint: Endpoint, path: str, client: Any) -> Route:
    """Return the route that the SDK has for a path, without what it tells of the machine."""
    sdk = importlib.import_module("openai").AsyncOpenAI(
        base_url=endpoint.base_url, api_key=endpoint.key or NO_KEY, http_client=client
    )
    told = {
        name: value
        for name, value in {**sdk.default_headers, **sdk.auth_headers}.items()
        if isinstance(value, str) and not name.lower().startswith(TELEMETRY)
    }
    url = sdk.base_url.join(path)
    if url.userinfo:  # aiohttp refuses it beside the header
        name, _, password = url.userinfo.partition(b":")
        login = unquote_to_bytes(name) + b":" + unquote_to_bytes(password)
        told["Authorization"] = f"Basic {b64encode(login).decode()}"
    return Route(url.copy_with(userinfo=b""), told)


def client_maker(sdk: Any, read_timeout_s: float) -> Callable[[], Any]:
    """Return a function that makes clients, over aiohttp if that is installed.

    aiohttp knows no SOCKS proxy and would speak HTTP to it. So httpx is used if the environment has
    one, unless httpx misses its package for that.
    """
    httpx = http_library(sdk.DefaultAsyncHttpxClient)
    timeout = httpx.Timeout(CONNECT_TIMEOUT_S, read=read_timeout_s, write=read_timeout_s)
    trusted = httpx.create_ssl_context()  # slow to make, so the clients share it

    def make(client_class: Any) -> Any:
        return client_class(
            timeout=timeout,
            headers={"Accept-Encoding": "identity"},
            follow_redirects=False,
            mounts=dict.fromkeys(LOOPBACK),  # these go past a proxy from the environment
            verify=trusted,
        )

    first, second = sdk.DefaultAioHttpClient, sdk.DefaultAsyncHttpxClient
    if any(proxy.lower().startswith("socks") for proxy in getproxies().values()):
        first, second = second, first
    try:
        make(first)
    except (RuntimeError, ImportError):  # the SDK, or httpx, misses a package
        return partial(make, second)
    return partial(make, first)


async def read_pieces(response: Any, limit: int) -> AsyncGenerator[bytes]:
    """Yield the pieces of a body as they arrive.

    Raises `UnwantedBody` beyond ``limit`` bytes, at once if they are announced. A compressed body
    is refused, because a few kilobytes of it can expand to gigabytes.
    """
    too_long = UnwantedBody(f"a body of more than {limit:,} bytes")
    if response.headers.get("content-encoding", "").strip().lower() not in PLAIN:
        raise UnwantedBody("a compressed body, which was not asked for")
    announced = response.headers.get("content-length", "")
    if announced.isdecimal() and int(announced[:20]) > limit:
        raise too_long
    seen = 0
    async with aclosing(aiter(response.stream)) as pieces:
        async for piece in pieces:
            seen += len(piece)
            if seen > limit:
                raise too_long
            yield piece


async def read_whole(response: Any, limit: int) -> bytes:
    """Return a body; raises `UnwantedBody` as `read_pieces`."""
    async with aclosing(read_pieces(response, limit)) as pieces:
        return b"".join([piece async for piece in pieces])


LOGGERS = ("httpx", "httpx2")
CONNECTION_ERRORS = ("TransportError", "ClientError")


class CleanAddresses(logging.Filter):
    """Lets every record pass, with the addresses in it as people may read them."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Clean a record's arguments; always return True."""
        if isinstance(record.args, tuple):
            record.args = tuple(map(clean, record.args))
        return True


def clean(value: object) -> object:
    """Return a value of a log line; an address, of any type, as cleaned text."""
    text = str(value)
    return hide_in_addresses(text) if "://" in text else value


CLEAN_ADDRESSES = CleanAddresses()


def clean_http_logs() -> None:
    """Clean what the HTTP libraries log from now on; a second call changes nothing."""
    for name in LOGGERS:
        logging.getLogger(name).addFilter(CLEAN_ADDRESSES)


class UnwantedBody(Exception):
    """A body that the client stops reading. The text says what is wrong with it."""


def http_library(client_class: type) -> Any:
    """Return the library of the SDK's client class, httpx or httpx2; its base tells which."""
    bases = (base.__module__ for base in client_class.__mro__)
    name = next(name for name in bases if not name.startswith("openai"))
    return importlib.import_module(name.partition(".")[0])


def connection_trouble(error: BaseException) -> str:
    """Return the kind of trouble: one of the constants of `policy.probe`."""
    causes = list(causes_of(error))
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return NO_HOST
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return REFUSED
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        return NO_TLS
    if any(isinstance(cause, TimeoutError) for cause in causes):
        return TIMEOUT
    return BROKEN


def is_connection_error(error: Exception) -> bool:
    """Return True for an error of httpx or aiohttp about a connection."""
    return any(base.__name__ in CONNECTION_ERRORS for base in type(error).__mro__)


def causes_of(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception, its causes, and the members of exception groups among them."""
    while error is not None:
        yield error
        for member in getattr(error, "exceptions", ()):
            yield from causes_of(member)
        error = error.__cause__ or error.__context__

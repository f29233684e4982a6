"""The openai SDK's clients, all over one HTTP client without redirects, which keeps connections.

Only the loop thread may use them: the first one imports the SDK, which takes most of a second. Over
aiohttp, which the SDK uses where it is installed, a request takes about two thirds of the time that
it takes over httpx (measured).
"""

import errno
import importlib
import logging
import socket
import ssl
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any
from urllib.request import getproxies

from evennia_ai.llm.endpoints import Endpoint
from evennia_ai.llm.openai_stream import ArrivingBody
from evennia_ai.llm.reply_body import BrokenReply

# What is wrong with a connection, by the cause of its error.
TROUBLES: tuple[tuple[type[BaseException], str], ...] = (
    (socket.gaierror, "could not be reached: there is no such host"),
    (ConnectionRefusedError, "could not be reached: nothing listens there"),
    (ssl.SSLError, "could not be reached: its certificate or encryption is not acceptable"),
    (TimeoutError, "did not answer in time"),
)
# Of the SDK, and of the HTTP libraries while a body is read.
NO_FILES = (errno.EMFILE, errno.ENFILE)
CONNECTION_ERRORS = ("APIConnectionError", "TransportError", "ClientError")
NO_KEY = "none"
TELEMETRY, OWN_MARK = "x-stainless-", "x-stainless-raw-response"
CONNECT_TIMEOUT_S = 5.0
FAILURE_S = 5.0  # of a failure's body; its status counts, however that ends
LOOPBACK = ("all://localhost", "all://127.0.0.1", "all://[::1]")
PLAIN, ZLIB = ("", "identity"), ("gzip", "x-gzip", "deflate")
ANY_HEADER = 32 + zlib.MAX_WBITS  # of gzip and of zlib
Unpack = Callable[[bytes, int], bytes]
LOGGERS = ("httpx", "httpx2")


class SdkClients:
    """The SDK's clients by endpoint.

    ``read_timeout_s`` is for a silent server. Beyond ``most_bytes`` of a body, successful or not,
    reading it raises `BrokenReply`. Compressed bodies are not asked for; of one that comes all the
    same no more is unpacked, because a few kilobytes of it can expand to gigabytes.
    """

    def __init__(self, read_timeout_s: float, most_bytes: int) -> None:
        self._read_timeout_s, self._most_bytes = read_timeout_s, most_bytes
        self._clients: dict[Endpoint, Any] = {}
        self._http: Any = None

    async def open(self) -> None:
        """Do what is slow ahead of the first request."""
        self._open()

    def client_for(self, endpoint: Endpoint) -> Any:
        if endpoint not in self._clients:
            self._clients[endpoint] = self._open().AsyncOpenAI(
                base_url=endpoint.base_url,
                api_key=endpoint.key or NO_KEY,
                default_headers=dict(endpoint.headers),
                default_query=dict(endpoint.query),
                max_retries=0,
                http_client=self._http,
            )
        return self._clients[endpoint]

    @property
    def response_type(self) -> type[Any]:
        """Return the type of a whole response; a client was asked for before."""
        kind: type[Any] = http_library(type(self._http)).Response
        return kind

    def timeouts(self, silence_s: float | None = None) -> Any:
        """Return the time-outs of a request whose server may send nothing for so many seconds."""
        silence_s = silence_s or self._read_timeout_s
        sdk = importlib.import_module("openai")
        return sdk.Timeout(CONNECT_TIMEOUT_S, read=silence_s, write=silence_s)

    async def close(self) -> None:
        if self._http is not None:
            await self._http.aclose()

    def _open(self) -> Any:
        """Return the SDK; the first call makes the HTTP client."""
        sdk = importlib.import_module("openai")
        if self._http is None:
            self._http = self._make_http(sdk)
        return sdk

    def _make_http(self, sdk: Any) -> Any:
        """Return an HTTP client, over aiohttp if that is installed.

        aiohttp knows no SOCKS proxy and would speak HTTP to it. So httpx is used if the environment
        has one, unless httpx misses its package for that.
        """
        library = http_library(sdk.DefaultAsyncHttpxClient)
        choices = [sdk.DefaultAioHttpClient, sdk.DefaultAsyncHttpxClient]
        if any(proxy.lower().startswith("socks") for proxy in getproxies().values()):
            choices.reverse()
        values = {
            "timeout": self.timeouts(),
            "headers": {"Accept-Encoding": "identity"},
            "follow_redirects": False,
            "mounts": dict.fromkeys(LOOPBACK),  # these go past a proxy from the environment
            "event_hooks": {"request": [hide_machine], "response": [self._bound(library)]},
        }
        try:
            return choices[0](**values)
        except (RuntimeError, ImportError):  # the SDK, or httpx, misses a package
            return choices[1](**values)

    def _bound(self, library: Any) -> Any:
        """Return a hook for responses that bounds their bodies."""
        limit = self._most_bytes
        too_long = f"a body of more than {limit:,} bytes was not read"

        class Bounded(library.AsyncByteStream):  # of httpx or httpx2
            def __init__(self, stream: Any, unpack: Unpack, failed: bool) -> None:
                self._stream, self._unpack = stream, unpack
                arriving = ArrivingBody(aiter(stream), lambda: ("failure", FAILURE_S))
                self._pieces = arriving if failed else stream

            async def __aiter__(self) -> AsyncIterator[bytes]:
                size = 0
                async for packed in self._pieces:
                    piece = self._unpack(packed, limit - size + 1)
                    size += len(piece)
                    yield piece[: limit - size] if size > limit else piece
                    if size > limit:
                        raise BrokenReply(too_long)

            async def aclose(self) -> None:
                await self._stream.aclose()

        async def bound(response: Any) -> None:
            unpack = unpacker(response.headers.pop("content-encoding", ""), response.is_error)
            announced = response.headers.get("content-length", "")
            if announced.isdecimal() and int(announced[:20]) > limit:
                raise BrokenReply(too_long)
            response.stream = Bounded(response.stream, unpack, response.is_error)

        return bound


def unpacker(encoding: str, failed: bool) -> Unpack:
    """Return what unpacks the pieces of a body, up to some bytes each.

    Of an unknown encoding, nothing is read of a body that ``failed``, so that its status counts.
    Any other raises BrokenReply.
    """
    coding = encoding.strip().lower()
    if coding in PLAIN:
        return lambda packed, _most: packed
    if coding in ZLIB:
        unzip = zlib.decompressobj(ANY_HEADER)

        def unpack(packed: bytes, most: int) -> bytes:
            try:
                return unzip.decompress(packed, most)
            except zlib.error:
                raise BrokenReply("a compressed body that is damaged was not read") from None

        return unpack
    if not failed:
        raise BrokenReply(f"a body in the unwanted encoding {coding[:20]!a} was not read")
    return lambda _packed, _most: b""


async def hide_machine(request: Any) -> None:
    """Remove from a request what the SDK tells of the machine."""
    # The SDK reads its own mark back, to know how to hand the response over.
    names = [name for name in request.headers if name.lower().startswith(TELEMETRY)]
    for name in names:
        if name.lower() != OWN_MARK:
            del request.headers[name]


def http_library(client_class: type) -> Any:
    """Return the library of the SDK's client class, httpx or httpx2; its base tells which."""
    bases = (base.__module__ for base in client_class.__mro__)
    name = next(name for name in bases if not name.startswith("openai"))
    return importlib.import_module(name.partition(".")[0])


def quiet_http_logs() -> None:
    """Keep the HTTP libraries from logging addresses, which may hold passwords."""
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)


def connection_trouble(error: BaseException) -> str:
    """Return what is wrong with a connection, "" if the error is of something else."""
    causes = list(causes_of(error))
    if any(getattr(cause, "errno", None) in NO_FILES for cause in causes):
        return "could not be reached: the game has too many open files (see ulimit -n)"
    for kind, trouble in TROUBLES:
        if any(isinstance(cause, kind) for cause in causes):
            return trouble
    is_connection = any(base.__name__ in CONNECTION_ERRORS for base in type(error).__mro__)
    return "could not be reached: the connection broke" if is_connection else ""


def causes_of(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception, its causes, and the members of exception groups among them."""
    while error is not None:
        yield error
        for member in getattr(error, "exceptions", ()):
            yield from causes_of(member)
        error = error.__cause__ or error.__context__

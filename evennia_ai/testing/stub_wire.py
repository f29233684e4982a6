"""How the stub provider sends a response: politely, or in the manner that a fault asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from twisted.internet.defer import Deferred, maybeDeferred
from twisted.protocols.policies import WrappingFactory
from twisted.web.server import Site

from evennia_ai.testing.stub_replies import Response

CHUNK = b"a" * 65_536
FLUSH_S = 0.05
FLOOD_HEAD = b'{"choices": [{"message": {"content": "'


def send(request: Any, response: Response, clock: Any) -> None:
    """Write a response in its manner."""
    request.setResponseCode(response.status)
    for name, value in response.headers.items():
        request.setHeader(name, value)
    MANNERS[response.manner](request, response, clock)


def send_whole(request: Any, response: Response, clock: Any) -> None:
    """As it should be."""
    announce(request, response)
    request.write(response.content)
    request.finish()


def send_half(request: Any, response: Response, clock: Any) -> None:
    """The first half, and then the connection is reset."""
    announce(request, response)
    request.write(response.content[: len(response.content) // 2])
    clock.callLater(FLUSH_S, transport_of(request).abortConnection)


def send_half_and_close(request: Any, response: Response, clock: Any) -> None:
    """The first half, and then the connection is closed in good order."""
    announce(request, response)
    request.write(response.content[: len(response.content) // 2])
    transport_of(request).loseConnection()


def send_nothing(request: Any, response: Response, clock: Any) -> None:
    """Silence: the connection stays open."""


def send_dripping(request: Any, response: Response, clock: Any) -> None:
    """One byte at a time, so slowly that only a limit on the whole can end it."""
    announce(request, response)
    pieces = (bytes([byte]) for byte in response.content)
    send_pieces(request, pieces, response.options.get("every_s", 1.0), "finish", clock)


def send_streamed(request: Any, response: Response, clock: Any) -> None:
    """The events one by one, and then the ending that the options name."""
    options = response.options
    send_pieces(request, options["events"], options["pause_s"], options["ending"], clock)


def send_pieces(
    request: Any, pieces: Iterable[bytes], every_s: float, ending: str, clock: Any
) -> None:
    """Write pieces with a pause after each, then end: "finish", "cut", "reset" or "hang"."""
    left = iter(pieces)
    gone: list[Any] = []
    request.notifyFinish().addBoth(gone.append)
    transport = transport_of(request)
    endings: dict[str, Callable[[], Any]] = {
        "finish": request.finish,
        "cut": transport.loseConnection,
        "reset": transport.abortConnection,
        "hang": bool,
    }

    def write_next() -> None:
        piece = next(left, None)
        if gone:
            return
        if piece is None:
            endings[ending]()
            return
        request.write(piece)
        clock.callLater(every_s, write_next)

    write_next()


def send_flood(request: Any, response: Response, clock: Any) -> None:
    """A body of any size, as fast as it is read, without a length in its head."""
    request.write(FLOOD_HEAD)
    request.registerProducer(Flood(request, response.options["size"]), False)


class Flood:
    """Writes a chunk whenever there is room for one."""

    def __init__(self, request: Any, size: int) -> None:
        self._request = request
        self._left = size

    def resumeProducing(self) -> None:  # noqa: N802  # Twisted's name
        """Write some more."""
        self._left -= len(CHUNK)
        if self._left > 0:
            self._request.write(CHUNK)
            return
        self._request.unregisterProducer()
        self._request.finish()

    def stopProducing(self) -> None:  # noqa: N802  # Twisted's name
        """The client has left."""


MANNERS: dict[str, Callable[[Any, Response, Any], None]] = {
    "whole": send_whole,
    "reset": send_half,
    "cut": send_half_and_close,
    "hang": send_nothing,
    "drip": send_dripping,
    "flood": send_flood,
    "stream": send_streamed,
}


def announce(request: Any, response: Response) -> None:
    """Tell the length of the whole body."""
    request.setHeader("Content-Length", str(len(response.content)))


def transport_of(request: Any) -> Any:
    """The TCP connection under a request."""
    return request.channel.transport


class QuietSite(Site):
    """A site that keeps no access log: the JSON log has more."""

    noisy = False

    def log(self, request: Any) -> None:
        """Write nothing."""


class Door:
    """The port the provider listens at, which can be shut for a while."""

    def __init__(self, reactor: Any, site: Site) -> None:
        self._reactor = reactor
        self._factory: Any = WrappingFactory(site)
        self._factory.noisy = False
        self._port: Any = None

    def open(self, port: int) -> int:
        """Listen on loopback; returns the port's number."""
        self._port = self._reactor.listenTCP(port, self._factory, 512, "127.0.0.1")
        number: int = self._port.getHost().port
        return number

    def shut(self, seconds: float, keep: Any) -> Deferred[Any]:
        """Refuse connections for some seconds and drop the open ones.

        Args:
            seconds: after which it opens again, under the same number.
            keep: the one connection that is not dropped.

        Fires once nobody can connect any more.
        """
        number = self._port.getHost().port
        for connection in list(self._factory.protocols):
            if connection is not keep:
                connection.abortConnection()
        self._reactor.callLater(seconds, self.open, number)
        return maybeDeferred(self._port.stopListening)

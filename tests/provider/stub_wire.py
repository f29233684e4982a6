"""How the stub provider sends a response: in good order, or as a fault demands."""

from collections.abc import Callable, Iterable
from typing import Any

from twisted.internet.defer import Deferred, maybeDeferred
from twisted.protocols.policies import WrappingFactory
from twisted.web.server import Site

from tests.provider.stub_replies import Response

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
    """Send the whole body."""
    announce(request, response)
    request.write(response.content)
    request.finish()


def send_half(request: Any, response: Response, clock: Any) -> None:
    """Send the first half, then reset the connection."""
    announce(request, response)
    request.write(response.content[: len(response.content) // 2])
    clock.callLater(FLUSH_S, transport_of(request).abortConnection)


def send_half_and_close(request: Any, response: Response, clock: Any) -> None:
    """Send the first half, then close the connection in good order."""
    announce(request, response)
    request.write(response.content[: len(response.content) // 2])
    transport_of(request).loseConnection()


def send_nothing(request: Any, response: Response, clock: Any) -> None:
    """Send nothing; the connection stays open."""


def send_dripping(request: Any, response: Response, clock: Any) -> None:
    """Send one byte at a time, so slowly that only a deadline can end the request."""
    announce(request, response)
    pieces = (bytes([byte]) for byte in response.content)
    send_pieces(request, pieces, response.options.get("every_s", 1.0), "finish", clock)


def send_streamed(request: Any, response: Response, clock: Any) -> None:
    """Send the events one by one, then end as the options say."""
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
    """Send a body of any size without announcing its length."""
    request.write(FLOOD_HEAD)
    request.registerProducer(Flood(request, response.options["size"]), False)


class Flood:
    """A producer that writes a chunk whenever the connection has room for one."""

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
    """Announce the length of the whole body."""
    request.setHeader("Content-Length", str(len(response.content)))


def transport_of(request: Any) -> Any:
    """Return the TCP connection of a request."""
    return request.channel.transport


class QuietSite(Site):
    """A site without an access log; the JSON log has more details."""

    noisy = False

    def log(self, request: Any) -> None:
        """Write nothing."""


class Door:
    """The port that the provider listens at; it can be shut for some time."""

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
            seconds: the time until the same port opens again.
            keep: the one connection that is not dropped.

        Fires when nobody can connect any more.
        """
        number = self._port.getHost().port
        for connection in list(self._factory.protocols):
            if connection is not keep:
                connection.abortConnection()
        self._reactor.callLater(seconds, self.open, number)
        return maybeDeferred(self._port.stopListening)

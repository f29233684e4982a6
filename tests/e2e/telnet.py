"""A telnet client for tests: it sends lines and waits for what should come back."""

import codecs
import re
import socket
import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Self

from server.patience import POLL_S

IAC, DONT, DO, WONT, WILL, SB, SE = 255, 254, 253, 252, 251, 250, 240
MXP, GMCP = 91, 201
REFUSALS = {WILL: DONT, DO: WONT}
AGREEMENTS = {WILL: DO, DO: WILL}
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\[?[0-9;?]*$")


class Unexpected(AssertionError):
    """The game did not print what it should, or printed what it should not."""


class TelnetPlayer:
    """One connection. Use it as a context manager, or call `close`.

    `accept` names the telnet options to agree to (`MXP`, `GMCP`); all others are refused. `clock`
    measures how long an expected answer takes.
    """

    def __init__(
        self,
        port: int,
        name: str = "",
        accept: Collection[int] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self.out_of_band: list[tuple[int, bytes]] = []
        self._accept, self.clock = frozenset(accept), clock
        self._raw = ""
        self._arrivals: list[tuple[float, int]] = []
        self._sent: list[tuple[int, str]] = []
        self._cursor = 0
        self._closed = False
        self._news = threading.Condition()
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._socket.settimeout(None)
        self._reader = threading.Thread(target=self._read, daemon=True, name=f"telnet {name}")
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    @property
    def raw(self) -> str:
        """Return all output with ANSI and MXP escapes, without telnet's own bytes."""
        with self._news:
            return self._raw

    @property
    def clean(self) -> str:
        """All that came as a person reads it: no escapes, ``\\n`` at line ends."""
        return cleaned(self.raw)

    def seen_at(self, position: int) -> float:
        """Return the time on the monotonic clock when this character of `clean` had come."""
        with self._news:
            raw, arrivals = self._raw, list(self._arrivals)
        first = bisect_right(arrivals, position, key=lambda one: len(cleaned(raw[: one[1]])))
        return arrivals[first][0]

    @property
    def transcript(self) -> str:
        """Return input and output in order, for a failing test's message."""
        raw, parts, start = self.raw, [], 0
        for at, line in self._sent:
            parts += [raw[start:at], f"\n[{self.name}] >>> {line}\n"]
            start = at
        return cleaned("".join([*parts, raw[start:]]))

    def send(self, line: str) -> None:
        """Type a line. Earlier output can still be expected, unless `mark` was called."""
        with self._news:
            self._sent.append((len(self._raw), line))
        self.send_bytes(line.encode() + b"\r\n")

    def send_bytes(self, data: bytes) -> None:
        """Send bytes as they are."""
        self._socket.sendall(data)

    def expect(self, pattern: str, timeout: float = 15.0) -> re.Match[str]:
        """Wait for the pattern in what came after the last match or `mark`; return the match.

        Raises:
            Unexpected: It did not come within ``timeout`` seconds, or the connection ended.
        """
        match = self._wait(pattern, timeout, self.clock)
        if match is None:
            state = "connection closed" if self._closed else f"{timeout:g} s"
            raise Unexpected(f"{self.name} never saw {pattern!r} ({state}):\n{self.transcript}")
        self._cursor = match.end()
        return match

    def expect_not(self, pattern: str, seconds: float = 2.0) -> None:
        """Raise Unexpected if the pattern comes within ``seconds``."""
        match = self._wait(pattern, seconds, time.monotonic)
        if match is not None:
            raise Unexpected(f"{self.name} saw {match.group()!r}:\n{self.transcript}")

    def mark(self) -> int:
        """Skip all output so far; return its length in `clean`."""
        with self._news:
            self._cursor = len(self._clean_now())
            return self._cursor

    def login(self, name: str, password: str, timeout: float = 20.0) -> Self:
        """Log in; return when the character is in the room and has seen it."""
        self.name = self.name or name
        self.expect(r"connect <", timeout)
        self.send(f"connect {name} {password}")
        self.expect(rf"You become {name}", timeout)
        self.expect(r"Exits:.*\n", timeout)
        return self

    def enter(self, timeout: float = 20.0) -> None:
        """Go into character again, which players must do after a crash."""
        self.send(f"ic {self.name}")
        self.expect(f"You become {self.name}|already puppeting", timeout)

    def close(self) -> None:
        """Close the connection."""
        with suppress(OSError):  # the server may have hung up first
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._reader.join(5)

    def _wait(
        self, pattern: str, timeout: float, clock: Callable[[], float]
    ) -> re.Match[str] | None:
        compiled, match, size = re.compile(pattern), None, -1
        end, is_late = clock() + timeout, False
        with self._news:
            while True:
                if size != len(self._raw):
                    size = len(self._raw)
                    match = compiled.search(self._clean_now(), self._cursor)
                if match or self._closed or is_late:
                    return match
                self._news.wait(min(POLL_S, timeout))
                is_late = clock() > end

    def _clean_now(self) -> str:
        return cleaned(self._raw)

    def _read(self) -> None:
        parser = TelnetParser()
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while data := self._receive():
            text = decoder.decode(parser.feed(data))
            for verb, option in parser.take_requests():
                self._negotiate(verb, option)
            with self._news:
                self.out_of_band += parser.take_out_of_band()
                self._raw += text
                self._arrivals.append((time.monotonic(), len(self._raw)))
                self._news.notify_all()
        with self._news:
            self._closed = True
            self._news.notify_all()

    def _receive(self) -> bytes:
        try:
            return self._socket.recv(65536)
        except OSError:
            return b""

    def _negotiate(self, verb: int, option: int) -> None:
        answers = AGREEMENTS if option in self._accept else REFUSALS
        if verb in answers:
            with suppress(OSError):  # `_receive` tells of the end
                self.send_bytes(bytes([IAC, answers[verb], option]))


def cleaned(raw: str) -> str:
    """Return output without escapes, with ``\\n`` at line ends."""
    return ESCAPES.sub("", raw).replace("\r", "")


class TelnetParser:
    """Removes telnet's own bytes from the stream, however packets divide it."""

    def __init__(self) -> None:
        self._state = self._plain
        self._text = bytearray()
        self._verb = 0
        self._inside = bytearray()
        self._requests: list[tuple[int, int]] = []
        self._out_of_band: list[tuple[int, bytes]] = []

    def feed(self, data: bytes) -> bytes:
        """Take in a packet; return its text bytes."""
        for byte in data:
            self._state(byte)
        text, self._text = bytes(self._text), bytearray()
        return text

    def take_requests(self) -> list[tuple[int, int]]:
        """Return (verb, option) of the negotiations that came since the last call."""
        requests, self._requests = self._requests, []
        return requests

    def take_out_of_band(self) -> list[tuple[int, bytes]]:
        """Return (option, payload) of the subnegotiations that came since the last call."""
        messages, self._out_of_band = self._out_of_band, []
        return messages

    def _plain(self, byte: int) -> None:
        if byte == IAC:
            self._state = self._command
        else:
            self._text.append(byte)

    def _command(self, byte: int) -> None:
        self._state = self._plain
        if byte == IAC:
            self._text.append(byte)
        elif byte in (WILL, WONT, DO, DONT):
            self._verb = byte
            self._state = self._option
        elif byte == SB:
            self._inside.clear()
            self._state = self._subnegotiation

    def _option(self, byte: int) -> None:
        self._requests.append((self._verb, byte))
        self._state = self._plain

    def _subnegotiation(self, byte: int) -> None:
        if byte == IAC:
            self._state = self._subnegotiation_command
        else:
            self._inside.append(byte)

    def _subnegotiation_command(self, byte: int) -> None:
        if byte == SE:
            if self._inside:
                self._out_of_band.append((self._inside[0], bytes(self._inside[1:])))
            self._state = self._plain
        else:
            self._inside.append(byte)
            self._state = self._subnegotiation

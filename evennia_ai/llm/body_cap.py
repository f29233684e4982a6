"""A limit on a response's body; beyond it, the client closes the connection.

The limit is a response hook of the HTTP client, because the SDK reads the bodies of errors itself.
"""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

Hook = Callable[[Any], Awaitable[None]]
PLAIN = ("", "identity")


class UnwantedBody(Exception):
    """A body that the client stops reading. The text says what is wrong with it."""


def http_library(client_class: type) -> Any:
    """Return the library of the SDK's client class, httpx or httpx2; its base tells which."""
    bases = (base.__module__ for base in client_class.__mro__)
    name = next(name for name in bases if not name.startswith("openai"))
    return importlib.import_module(name.partition(".")[0])


def body_cap(client_class: type, limit: int) -> Hook:
    """Return a response hook for an asynchronous client of httpx or httpx2.

    The hook, or later the reading of
    the body, raises `UnwantedBody` beyond ``limit`` bytes. A compressed body is refused at once,
    because a few kilobytes of it can expand to gigabytes.
    """
    byte_stream: Any = http_library(client_class).AsyncByteStream
    too_long = f"a body of more than {limit:,} bytes"

    class Capped(byte_stream):
        """A body whose reading fails at the limit."""

        def __init__(self, stream: Any) -> None:
            self.stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            seen = 0
            async for chunk in self.stream:
                seen += len(chunk)
                if seen > limit:
                    raise UnwantedBody(too_long)
                yield chunk

        async def aclose(self) -> None:
            """Close the connection."""
            await self.stream.aclose()

    async def cap(response: Any) -> None:
        encoding = response.headers.get("content-encoding", "").strip().lower()
        if encoding not in PLAIN:
            raise UnwantedBody("a compressed body, which was not asked for")
        announced = response.headers.get("content-length", "")
        if announced.isdecimal() and int(announced[:20]) > limit:
            raise UnwantedBody(too_long)
        response.stream = Capped(response.stream)

    return cap

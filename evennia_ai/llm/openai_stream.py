"""The reading of a streamed reply through the openai SDK, in the loop thread."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING

from twisted.logger import Logger

from evennia_ai.llm.openai_wire import Body
from evennia_ai.llm.stream_wire import StreamedBody
from evennia_ai.ports import Delta

if TYPE_CHECKING:
    import openai

log = Logger()

DRAIN_S = 0.1
OnDelta = Callable[[Delta], None]


async def stream_completion(
    sdk: openai.AsyncOpenAI, model: str, body: Body, streamed: StreamedBody, on_delta: OnDelta
) -> bytes:
    """Send one request, pass each delta to ``on_delta``, and return the body of the whole reply.

    Cancelling closes the connection. Raises the SDK's and the HTTP library's errors, and
    BrokenStream; ``streamed.begun`` then tells whether a delta was passed.
    """
    create = sdk.chat.completions.with_streaming_response.create
    tell = Teller(on_delta)
    async with (
        create(model=model, messages=[], extra_body=body) as response,
        aclosing(with_last_line(response.iter_bytes())) as pieces,
    ):
        async for data in pieces:
            for delta in streamed.feed(data):
                tell(delta)
            if streamed.done:
                await drain(pieces)
                break
    return streamed.end()


class Teller:
    """Passes deltas to a callback until the callback fails."""

    def __init__(self, on_delta: OnDelta) -> None:
        self._on_delta: OnDelta | None = on_delta

    def __call__(self, delta: Delta) -> None:
        """Pass a delta on; log an exception of the callback and do not call it again."""
        if self._on_delta is None:
            return
        try:
            self._on_delta(delta)
        except Exception:  # noqa: BLE001  # the reply itself is still needed
            self._on_delta = None
            log.failure("evennia_ai: a streamed reply cannot be shown early; it is read to its end")


async def with_last_line(pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    """Yield the pieces, then a line break: some servers omit the last one."""
    async for data in pieces:
        yield data
    yield b"\n"


async def drain(pieces: AsyncIterator[bytes]) -> None:
    """Read the few bytes after the last event, so that the connection can be used again."""
    with suppress(Exception):
        async with asyncio.timeout(DRAIN_S):
            async for _ in pieces:
                pass

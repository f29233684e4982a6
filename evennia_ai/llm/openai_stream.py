"""Chat completions as they arrive: whole, or streamed as server-sent events.

Whether a body is streamed is seen from its first bytes: servers stream unasked, and answer whole
where a stream was asked for.
"""

import asyncio
import re
from codecs import getincrementaldecoder
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import aclosing, suppress
from dataclasses import dataclass
from io import IncrementalNewlineDecoder
from typing import Any, TypeVar

from twisted.logger import Logger

from evennia_ai.llm.reply_body import ReplyBody
from evennia_ai.messages import Delta
from evennia_ai.policy.replies.streaming_json import PartialJson

EVENTS = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*+(?:data|event|id|retry)?:")
HEAD_BYTES = 16  # by which a stream is recognised
DRAIN_S = 0.1
LINGER_S = 1.0  # for the usage behind a complete reply
UNLOADED_S = 240.0  # Ollama unloads a model after 300 s, unless told otherwise
OnDelta = Callable[[Delta], None]
T = TypeVar("T")
log = Logger()


class SilentStream(Exception):
    """A stream that brings nothing for too long. The text says for how long."""


@dataclass
class LastActivity:
    """The last signs of life of an endpoint over all its streams, on the loop's clock."""

    heard_at: float = float("-inf")
    newest: float = float("-inf")  # when the newest of the streams that have begun was asked for


class SilenceWatch:
    """How long one stream has been silent.

    While an endpoint serves other streams, one that has not begun may wait for its place, and is
    not silent; unless a later one began before it. A local server that nobody asked for
    `UNLOADED_S` may have to load its model again, as Ollama does, so it has no limit at first.
    """

    def __init__(
        self,
        pulse: LastActivity,
        patience_s: float | None,
        is_local: bool,
        now: Callable[[], float],  # on the loop's clock
    ) -> None:
        self._pulse, self._now = pulse, now
        self._asked_at = self._heard_at = self._now()
        is_unloaded = is_local and self._asked_at - pulse.heard_at > UNLOADED_S
        self._patience_s = None if is_unloaded else patience_s
        self.first_s: float | None = None

    def hear(self) -> None:
        """Note that a part of the stream came."""
        self._heard_at = self._pulse.heard_at = self._now()
        if self.first_s is None:
            self.first_s = self._heard_at - self._asked_at
            self._pulse.newest = max(self._pulse.newest, self._asked_at)

    @property
    def silent_s(self) -> float:
        """Return for how many seconds it has been silent."""
        is_queued = self.first_s is None and self._pulse.newest <= self._asked_at
        since = max(self._heard_at, self._pulse.heard_at) if is_queued else self._heard_at
        return self._now() - since

    async def over(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what the work returns; raise SilentStream if it is silent for too long."""
        if self._patience_s is None:
            return await work
        task = asyncio.ensure_future(work)
        try:
            while not task.done():
                silent_s = self.silent_s
                if silent_s >= self._patience_s:
                    raise SilentStream(f"sent nothing for {silent_s:.0f} s")
                await asyncio.wait([task], timeout=self._patience_s - silent_s)
            return task.result()
        finally:
            task.cancel()


async def read_body(
    pieces: AsyncIterator[bytes],
    body: ReplyBody,
    on_delta: OnDelta | None,
    on_event: Callable[[], object],
) -> None:
    """Read what an endpoint answers into ``body``, whether it comes whole or streamed.

    Each delta of a stream is passed to ``on_delta``; ``on_event`` is called for each event that
    holds JSON, which a sign of life of a proxy does not. However the connection ends behind a
    complete reply, it stays one. Raises BrokenStream, and before that what ``pieces`` raise.
    """
    whole = PartialJson()
    arriving = ArrivingBody(pieces, lambda: body.is_complete or whole.read() is not None)
    head = b""
    async for piece in arriving:
        head = head.lstrip() + piece
        if len(head.lstrip()) >= HEAD_BYTES:
            break
    if EVENTS.match(head):
        await read_events(head, arriving, body, on_delta, on_event)
    else:
        parts, piece = [head], head
        while piece:
            whole.add(piece.decode("utf-8", "replace"))
            piece = await anext(arriving, b"")
            parts.append(piece)
        if arriving.trouble is None or whole.read() is not None:
            body.add_whole(b"".join(parts))
    if arriving.trouble is not None and not (body.done or body.is_complete or body.has_whole_calls):
        raise arriving.trouble


async def read_events(
    head: bytes,
    pieces: AsyncIterator[bytes],
    body: ReplyBody,
    on_delta: OnDelta | None,
    on_event: Callable[[], object],
) -> None:
    """Read a stream that begins with ``head``."""
    async with aclosing(events_in(head, pieces)) as events:
        async for name, data in events:
            if data.startswith("{"):
                on_event()
            for delta in body.hear(name, data):
                on_delta = pass_on(delta, on_delta)
            if body.done:
                await drain(pieces)
                break


class ArrivingBody:
    """The pieces of a body up to its end: a trouble is one, too, and silence once it is complete.

    ``is_complete`` tells of the pieces so far; it is asked before each.
    """

    def __init__(self, pieces: AsyncIterator[bytes], is_complete: Callable[[], bool]) -> None:
        self.trouble: Exception | None = None
        self._pieces, self._is_complete = pieces, is_complete
        self._end_at: float | None = None

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if not self._is_complete():
            self._end_at = None
        elif self._end_at is None:
            self._end_at = asyncio.get_running_loop().time() + LINGER_S
        try:
            async with asyncio.timeout_at(self._end_at):
                return await anext(self._pieces)
        except StopAsyncIteration:
            raise
        except Exception as error:  # noqa: BLE001  # of whichever HTTP library
            self.trouble = error
            raise StopAsyncIteration from None


async def events_in(head: bytes, pieces: AsyncIterator[bytes]) -> AsyncGenerator[tuple[str, str]]:
    """Yield the name and the data of each event of a body that begins with ``head``.

    The empty line behind the last event may be missing.
    """
    name, data = "", list[str]()
    async with aclosing(lines_in(head, pieces)) as lines:
        async for line in lines:
            field, _, value = line.partition(":")
            if field == "data":
                data.append(value.lstrip())
            elif field == "event":
                name = value.lstrip()
            elif not line:
                if name or data:
                    yield name, "\n".join(data)
                name, data = "", []


async def lines_in(head: bytes, pieces: AsyncIterator[bytes]) -> AsyncGenerator[str]:
    """Yield each line, however it ends, without the blanks around it; the last one is empty."""
    utf_8 = getincrementaldecoder("utf-8-sig")("replace")
    text = IncrementalNewlineDecoder(utf_8, translate=True)
    parts = list[str]()  # of the line that arrives
    piece: bytes | None = head
    while piece is not None:
        more, *lines = text.decode(piece).split("\n")
        parts.append(more)
        for line in lines:
            yield "".join(parts).strip()
            parts = [line]
        piece = await anext(pieces, None)
    yield "".join(parts).strip()
    yield ""


def pass_on(delta: Delta, listener: OnDelta | None) -> OnDelta | None:
    """Pass a delta on and return the listener, None once it has failed."""
    if listener is not None:
        try:
            listener(delta)
        except Exception:  # noqa: BLE001  # the reply itself is still needed
            log.failure("evennia_ai: a streamed reply cannot be shown early; it is read to its end")
            return None
    return listener


async def drain(pieces: AsyncIterator[bytes]) -> None:
    """Read the few bytes after the last event, so that the connection can be used again."""
    with suppress(Exception):
        async with asyncio.timeout(DRAIN_S):
            async for _ in pieces:
                pass

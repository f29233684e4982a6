"""Chat completions as they arrive: whole, or streamed as server-sent events.

Whether a body is streamed is seen from its first bytes: servers stream unasked, and answer whole
where a stream was asked for.
"""

import asyncio
import re
from codecs import getincrementaldecoder
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from io import IncrementalNewlineDecoder
from typing import Any, TypeVar

from twisted.logger import Logger

from evennia_ai.llm.reply_body import BrokenStream, ReplyBody
from evennia_ai.messages import Delta
from evennia_ai.policy.replies.streaming_json import PartialJson

EVENTS = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*+(?:data|event|id|retry)?:")
HEAD_BYTES = 16  # by which a stream is recognised
DRAIN_S = 0.1  # behind the last event, so that the connection can be used again
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

    def lingers_s() -> float | None:
        is_complete = body.is_complete or whole.read() is not None
        return DRAIN_S if body.done else LINGER_S if is_complete else None

    arriving = ArrivingBody(pieces, lingers_s)
    head = b""
    async for piece in arriving:
        head = head.lstrip() + piece
        if len(head.lstrip()) >= HEAD_BYTES:
            break
    if EVENTS.match(head):
        events = EventReader(body, on_delta, on_event)
        events.feed(head)
        async for piece in arriving:
            events.feed(piece)
        events.end(is_cut=arriving.trouble is not None)
    else:
        parts, piece = [head], head
        while piece:
            whole.add(piece.decode("utf-8", "replace"))
            piece = await anext(arriving, b"")
            parts.append(piece)
        if arriving.trouble is None or whole.read() is not None:
            body.add_whole(b"".join(parts))
    is_whole = body.done or body.is_complete or body.has_whole_calls
    if arriving.trouble is not None and not is_whole:
        raise arriving.trouble


class ArrivingBody:
    """The pieces of a body up to its end: a trouble is one, too, and silence once it is complete.

    ``lingers_s`` is asked before each piece for the seconds until the end, None if there are more.
    """

    def __init__(self, pieces: AsyncIterator[bytes], lingers_s: Callable[[], float | None]) -> None:
        self.trouble: Exception | None = None
        self._pieces, self._lingers_s = pieces, lingers_s
        self._end_at: float | None = None

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        left_s = self._lingers_s()
        ends = () if self._end_at is None else (self._end_at,)
        now = asyncio.get_running_loop().time()
        self._end_at = None if left_s is None else min((now + left_s, *ends))
        try:
            async with asyncio.timeout_at(self._end_at):
                return await anext(self._pieces)
        except StopAsyncIteration:
            raise
        except Exception as error:  # noqa: BLE001  # of whichever HTTP library
            self.trouble = error
            raise StopAsyncIteration from None


class EventReader:
    """Reads a stream of events in pieces, up to the last event; lines may end in any way."""

    def __init__(
        self, body: ReplyBody, on_delta: OnDelta | None, on_event: Callable[[], object]
    ) -> None:
        self._body, self._on_delta, self._on_event = body, on_delta, on_event
        utf_8 = getincrementaldecoder("utf-8-sig")("replace")
        self._decoder = IncrementalNewlineDecoder(utf_8, translate=True)
        self._line = list[str]()  # the parts of the line that arrives
        self._name, self._data = "", list[str]()

    def feed(self, piece: bytes, final: bool = False) -> None:
        more, *lines = self._decoder.decode(piece, final).split("\n")
        self._line.append(more)
        for line in lines:
            if not self._body.done:
                self._read_line("".join(self._line).strip())
            self._line = [line]

    def end(self, is_cut: bool) -> None:
        """Read the last event, whose empty line may be missing; a trouble may have cut it."""
        try:
            self.feed(b"\n\n", final=True)
        except BrokenStream:
            if not is_cut:
                raise

    def _read_line(self, line: str) -> None:
        field, _, value = line.partition(":")
        if field == "data":
            self._data.append(value.lstrip())
        elif field == "event":
            self._name = value.lstrip()
        elif not line and (self._name or self._data):
            name, data = self._name, "\n".join(self._data)
            self._name, self._data = "", []
            if data.startswith("{"):
                self._on_event()
            for delta in self._body.hear(name, data):
                self._pass_on(delta)

    def _pass_on(self, delta: Delta) -> None:
        if self._on_delta is not None:
            try:
                self._on_delta(delta)
            except Exception:  # noqa: BLE001  # the reply itself is still needed
                self._on_delta = None
                log.failure("evennia_ai: a streamed reply cannot be shown early; it is read whole")

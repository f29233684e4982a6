"""Chat completions as they arrive: whole, or streamed as server-sent events.

Whether a body is streamed is seen from its first bytes: servers stream unasked, and answer whole
where a stream was asked for.
"""

import asyncio
import re
from codecs import getincrementaldecoder
from collections.abc import AsyncIterator, Callable
from io import IncrementalNewlineDecoder

from twisted.logger import Logger

from evennia_ai.llm.reply_body import BrokenStream, ReplyBody
from evennia_ai.messages import Delta
from evennia_ai.policy.replies.streaming_json import PartialJson

EVENTS = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*+(?:data|event|id|retry)?:")
HEAD_BYTES = 16  # by which a stream is recognised
DRAIN_S = 0.1  # behind the last event, so that the connection can be used again
LINGER_S = 1.0  # for the usage behind a complete reply
OnDelta = Callable[[Delta], None]
log = Logger()


async def read_body(
    pieces: AsyncIterator[bytes],
    body: ReplyBody,
    on_delta: OnDelta | None,
    pause_s: float | None = None,
) -> None:
    """Read what an endpoint answers into ``body``, whether it comes whole or streamed.

    Each delta of a stream is passed to ``on_delta``. However the connection ends behind a complete
    reply, it stays one. Raises BrokenStream, and before that what ``pieces`` raise, or TimeoutError
    if a stream pauses for more than ``pause_s`` behind its first events.
    """
    whole = PartialJson()

    def lingers_s() -> float | None:
        is_complete = body.is_complete or whole.read() is not None
        return DRAIN_S if body.done else LINGER_S if is_complete else None

    arriving = ArrivingBody(pieces, lingers_s, lambda: pause_s if body.chunks > 1 else None)
    head = b""
    async for piece in arriving:
        head = head.lstrip() + piece
        if len(head.lstrip()) >= HEAD_BYTES:
            break
    if EVENTS.match(head):
        events = EventReader(body, on_delta)
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

    ``lingers_s`` is asked before each piece for the seconds until the end, None if there are more;
    ``pause_s`` then for those until the next piece.
    """

    def __init__(
        self,
        pieces: AsyncIterator[bytes],
        lingers_s: Callable[[], float | None],
        pause_s: Callable[[], float | None],
    ) -> None:
        self.trouble: Exception | None = None
        self._pieces, self._lingers_s, self._pause_s = pieces, lingers_s, pause_s
        self._end_at: float | None = None

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        left_s = self._lingers_s()
        ends = () if self._end_at is None else (self._end_at,)
        now = asyncio.get_running_loop().time()
        self._end_at = None if left_s is None else min((now + left_s, *ends))
        wait_s = self._pause_s() if self._end_at is None else self._end_at - now
        try:
            async with asyncio.timeout(wait_s):
                return await anext(self._pieces)
        except StopAsyncIteration:
            raise
        except Exception as error:  # noqa: BLE001  # of whichever HTTP library
            self.trouble = error
            raise StopAsyncIteration from None


class EventReader:
    """Reads a stream of events in pieces, up to the last event; lines may end in any way."""

    def __init__(self, body: ReplyBody, on_delta: OnDelta | None) -> None:
        self._body, self._on_delta = body, on_delta
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
            for delta in self._body.hear(name, data):
                self._pass_on(delta)

    def _pass_on(self, delta: Delta) -> None:
        if self._on_delta is not None:
            try:
                self._on_delta(delta)
            except Exception:  # noqa: BLE001  # the reply itself is still needed
                self._on_delta = None
                log.failure("evennia_ai: a streamed reply cannot be shown early; it is read whole")

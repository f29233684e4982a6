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

from evennia_ai.llm.reply_body import LAST_EVENT, BrokenReply, ReplyBody
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
    silence_s: float | None = None,
) -> None:
    """Read what an endpoint answers into ``body``, whether it comes whole or streamed.

    Each delta of a stream is passed to ``on_delta``. However the connection ends behind a complete
    reply, it stays one. Raises BrokenReply, and before that what ``pieces`` raise, or TimeoutError
    if nothing of a reply comes in ``silence_s``, or in half of it behind the first two chunks.
    """
    whole = PartialJson()
    arriving = ArrivingBody(pieces, lambda: due(body, whole.read() is not None, silence_s))
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
    if arriving.trouble is not None and not body.is_whole:
        raise arriving.trouble


def due(body: ReplyBody, is_read: bool, silence_s: float | None) -> tuple[object, float | None]:
    """Return what a body has reached, and in how many seconds it must reach more, if it must."""
    if body.done:
        return LAST_EVENT, DRAIN_S
    if body.is_complete or is_read:
        return body.is_complete, LINGER_S
    return body.chunks, silence_s and silence_s / (1 + (body.chunks > 1))


class ArrivingBody:
    """The pieces of a body up to its end: a trouble is one, too, and silence.

    ``due`` is asked before each piece (see `due`); a sign of life reaches no more.
    """

    def __init__(
        self, pieces: AsyncIterator[bytes], due: Callable[[], tuple[object, float | None]]
    ) -> None:
        self.trouble: Exception | None = None
        self._pieces, self._due = pieces, due
        self._reached: object = None
        self._since = 0.0

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        reached, most_s = self._due()
        if reached != self._reached:
            self._reached, self._since = reached, asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout_at(None if most_s is None else self._since + most_s):
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
        except BrokenReply:
            if not is_cut:
                raise

    def _read_line(self, line: str) -> None:
        is_bare = line.startswith("{")  # a whole reply behind a proxy's comments
        field, _, value = ("data", "", line) if is_bare else line.partition(":")
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

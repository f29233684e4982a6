"""Chat completions as they arrive: whole, or streamed as server-sent events.

The SDK's decoder reads the events, and the chunks in them are collected into the body that an
unstreamed request would get. Whether a body is streamed is seen from its first bytes: servers
stream unasked, and answer whole where a stream was asked for.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import re
from codecs import getincrementaldecoder
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from twisted.logger import Logger

from evennia_ai.llm import quirks
from evennia_ai.llm.openai_wire import (
    CallPart,
    as_dict,
    call_parts,
    join_content,
    number_of,
    read_usage,
)
from evennia_ai.llm.refusals import Refusal, as_list, find_failure, reason_of
from evennia_ai.policy.replies.text_calls import MOST_CALLS
from evennia_ai.ports import Delta

STREAM: Mapping[str, object] = {"stream": True, "stream_options": {"include_usage": True}}
EVENTS = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:data|event|id|retry)?:")
FIELD = re.compile(r"\A(?:\s*data:)+")  # again, from a proxy that wraps events
HEAD_BYTES = 16  # by which a stream is recognised
LAST_EVENT = "[DONE]"
DRAIN_S = 0.1
UNLOADED_S = 240.0  # Ollama unloads a model after 300 s, unless told otherwise
LOOKS = MOST_CALLS  # at whether arguments are whole: each reads them from the start
OnDelta = Callable[[Delta], None]
T = TypeVar("T")
log = Logger()


class BrokenStream(Exception):
    """A stream that ended early or is not readable. The text says which."""


class SilentStream(Exception):
    """A stream that brings nothing for too long. The text says for how long."""


@dataclass
class StreamedCall:
    """A tool call as far as it was received."""

    id: str
    name: str = ""
    arguments: list[str] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """Return True if the arguments are complete JSON."""
        return is_json("".join(self.arguments))


@dataclass
class Pulse:
    """The last signs of life of an endpoint over all its streams, on the loop's clock."""

    heard_at: float = float("-inf")
    newest: float = float("-inf")  # when the newest of the streams that have begun was asked for


class Watch:
    """How long one stream has been silent.

    While an endpoint serves other streams, one that has not begun may wait for its place, and is
    not silent; unless a later one began before it. A local server that nobody asked for
    `UNLOADED_S` may have to load its model again, as Ollama does, so it has no limit at first.
    """

    def __init__(
        self,
        pulse: Pulse,
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


class StreamedReply:
    """A reply, collected from the chunks of its stream."""

    def __init__(self) -> None:
        self.begun = False  # True once `feed` returned a delta
        self.done = False  # True after the last event or a failure: the rest is not needed
        self._top: dict[str, object] = {}
        self._contents: dict[int, list[str]] = {}  # by the number of the choice
        self._finish_reasons: dict[int, str] = {}
        self._calls: list[StreamedCall] = []
        self._by_index: dict[int | str, int] = {}
        self._by_id: dict[str, int] = {}
        self._last: int | None = None  # the call that was continued last
        self._looks = 0

    def feed(self, event: str | None, data: str) -> list[Delta]:
        """Add an event and return what it adds to the reply; events without a chunk add nothing.

        Raises BrokenStream if a chunk is cut.
        """
        return [delta for part in parts_of(data) for delta in self._feed(event, part)]

    def _feed(self, event: str | None, data: str) -> list[Delta]:
        if self.done or data == LAST_EVENT:
            self.done = True
            return []
        chunk = read_chunk(data)
        failure = find_failure(chunk, event == "error")
        if failure is not None:
            self._top, self.done = {"error": failure}, True
            return []
        told = {name: value for name, value in chunk.items() if value and name != "choices"}
        if "usage" in told and not read_usage([told]):  # zeros after a good one
            del told["usage"]
        self._top |= told
        choices = map(as_dict, as_list(chunk.get("choices")))
        deltas = [delta for choice in choices for delta in self._read_choice(choice)]
        self.begun = self.begun or bool(deltas)
        return deltas

    def end(self) -> Mapping[str, object]:
        """Return the whole body; raise BrokenStream if the reply is not complete.

        Some servers omit the last event, so a finish reason is enough.
        """
        if "error" in self._top:
            return self._top
        if not (self.done or any(self._finish_reasons.values())):
            raise BrokenStream("the stream ended before the reply was complete")
        calls = [
            {"id": call.id, "function": {"name": call.name, "arguments": "".join(call.arguments)}}
            for call in self._calls
        ]
        choices = [
            {
                "index": number,
                "message": {"content": "".join(self._contents.get(number, ()))},
                "finish_reason": self._finish_reasons.get(number, ""),
            }
            for number in sorted({0, *self._contents, *self._finish_reasons})
        ]
        choices.append({"index": len(choices), "message": {"tool_calls": calls}})
        return {**self._top, "choices": choices}

    def _read_choice(self, choice: Mapping[str, object]) -> list[Delta]:
        number = number_of(choice)
        self._finish_reasons[number] = reason_of(choice) or self._finish_reasons.get(number, "")
        if "usage" in choice and read_usage([choice]):
            self._top["usage"] = choice["usage"]
        added = as_dict(choice.get("delta")) or as_dict(choice.get("message"))
        content = join_content(added.get("content"))
        self._contents.setdefault(number, []).append(content)
        deltas = [Delta(content)] if content and number == min(self._contents) else []
        calls = map(self._read_call, call_parts(added))
        return deltas + [delta for delta in calls if delta is not None]

    def _read_call(self, part: CallPart) -> Delta | None:
        number = self._find_call(part)
        if number is None:
            return None
        call = self._calls[number]
        call.name = call.name or part.name
        call.arguments.append(part.arguments)
        return Delta(tool_index=number, tool_name=call.name, arguments=part.arguments)

    def _find_call(self, part: CallPart) -> int | None:
        """Return the position of the call that a part continues or begins, None beyond the most."""
        number = None if part.index is None else self._by_index.get(part.index)
        is_new = number is None and part.index is not None
        if number is None and part.id:
            number = self._by_id.get(part.id)
        if number is None and not (part.name or part.id):
            number = self._last
        if number is None or self._is_another(number, part, is_new):
            number = len(self._calls)
            if number < MOST_CALLS:
                self._calls.append(StreamedCall(part.id))
            self._by_id.setdefault(part.id, number)
        if part.index is not None:
            self._by_index[part.index] = number
        self._last = number
        return number if number < MOST_CALLS else None

    def _is_another(self, number: int, part: CallPart, is_new: bool) -> bool:
        """Return True if another call begins, though the server repeats the index or the id.

        ``is_new`` says that the index was not used before.
        """
        # Some servers number every call 0, some repeat the name in each chunk.
        call = self._calls[min(number, MOST_CALLS - 1)]
        if not (part.name and call.name):
            return False
        if part.id and call.id and not (is_new and part.id == call.id):
            return part.id != call.id
        if part.name == call.name and not (part.arguments or is_new):
            return False
        self._looks += 1
        return self._looks <= LOOKS and call.is_whole


def parts_of(data: str) -> list[str]:
    """Return the data of an event, or of several between which a server left out the empty line."""
    text = FIELD.sub("", data).strip()
    lines = text.splitlines()
    if len(lines) < 2 or is_json(text):
        return [text]
    return [FIELD.sub("", line).strip() for line in lines]


def is_json(text: str) -> bool:
    """Return True if a text is complete JSON."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def read_chunk(data: str) -> dict[str, Any]:
    """Return an event's JSON object; empty if it is none. Raises BrokenStream if it is cut."""
    try:
        chunk = json.loads(data)
    except (ValueError, RecursionError):
        if data.startswith("{"):
            raise BrokenStream("an event of the stream is not readable") from None
        return {}  # such as "[PING]" or a comment of a proxy
    return chunk if isinstance(chunk, dict) else {}


def without_refused(
    fields: Mapping[str, object], refusal: Refusal, content: bytes
) -> Mapping[str, object]:
    """Return those of the fields `STREAM` that remain after an error response."""
    # Servers name an unknown field in different places, so the whole ``content`` is searched.
    if refusal.status not in quirks.STREAM_REFUSED_STATUS:
        return fields
    if "stream_options" in fields and b"stream_options" in content:
        return {"stream": True}
    return {} if quirks.STREAM_REFUSED.search(refusal.words) else fields


async def read_body(
    pieces: AsyncIterator[bytes],
    streamed: StreamedReply,
    on_delta: OnDelta | None,
    on_event: Callable[[], object],
) -> bytes | Mapping[str, object]:
    """Return a body: its bytes if it came whole, else what was streamed.

    Each delta of a stream is passed to ``on_delta``; ``on_event`` is called for each event that
    holds JSON, which a sign of life of a proxy does not. Raises BrokenStream.
    """
    head = b""
    async for piece in pieces:
        head += piece
        if len(head.lstrip()) >= HEAD_BYTES:
            break
    if not EVENTS.match(head):
        return head + b"".join([piece async for piece in pieces])
    decoder = importlib.import_module("openai._streaming").SSEDecoder()
    async with aclosing(decoder.aiter_bytes(readable(head, pieces))) as events:
        async for event in events:
            if event.data.startswith("{"):
                on_event()
            for delta in streamed.feed(event.event, event.data):
                on_delta = pass_on(delta, on_delta)
            if streamed.done:
                await drain(pieces)
                break
    return streamed.end()


async def readable(head: bytes, pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    """Yield a body without byte-order mark and broken characters, and with the end of its last
    event, which some servers omit."""
    decoder = getincrementaldecoder("utf-8-sig")("replace")
    yield decoder.decode(head).encode()
    async for piece in pieces:
        yield decoder.decode(piece).encode()
    yield decoder.decode(b"", final=True).encode() + b"\n\n"


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

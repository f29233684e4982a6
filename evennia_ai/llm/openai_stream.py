"""Streamed chat completions, collected into the body that an unstreamed request would get.

The format is server-sent events: lines ``data: {chunk}``, and ``data: [DONE]`` at the end. The
``choices[0].delta`` of a chunk continues the content and the tool calls.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from twisted.logger import Logger

from evennia_ai.llm import quirks
from evennia_ai.llm.openai_wire import argument_text, as_dict, as_text, join_content
from evennia_ai.llm.refusals import Refusal
from evennia_ai.ports import Delta

STREAM: Mapping[str, object] = {"stream": True, "stream_options": {"include_usage": True}}
LAST_EVENT = b"[DONE]"
log = Logger()
DRAIN_S = 0.1
OnDelta = Callable[[Delta], None]


class BrokenStream(Exception):
    """A stream that ended early or is not readable. The text says which."""


@dataclass
class StreamedCall:
    """A tool call as far as it was received; ``index`` is the server's number for it."""

    index: object
    id: str
    name: str = ""
    arguments: str = ""

    def is_followed_by(self, call_id: str, name: str) -> bool:
        """Return True if another call begins, though the server repeats the index."""
        # Some servers number every call 0, some repeat the name in each chunk.
        if not name or not self.name:
            return False
        return call_id != self.id if call_id else is_json(self.arguments)


class StreamedBody:
    """The body of a response, streamed or not, collected from its pieces."""

    def __init__(self) -> None:
        self.begun = False  # True once `feed` returned a delta
        self.done = False  # True after the last event or an error event: the rest is not needed
        self._unstreamed = b""
        self._rest = b""
        self._top: dict[str, object] | None = None  # None until the first event
        self._content = ""
        self._calls: list[StreamedCall] = []
        self._finish_reason = ""

    def feed(self, data: bytes) -> list[Delta]:
        """Add a piece of the body and return what it adds to the reply.

        A piece may end anywhere; feed a line break after the last one. Raises BrokenStream if an
        event is not a JSON object.
        """
        if self._top is None:
            self._unstreamed += data
        *lines, self._rest = (self._rest + data).split(b"\n")
        deltas = [delta for line in lines for delta in self._read_line(line)]
        self.begun = self.begun or bool(deltas)
        return deltas

    def end(self) -> bytes:
        """Return the whole body as JSON; a body that was not streamed is returned unchanged.

        Raises BrokenStream if the stream ended before the reply was complete. Some servers omit
        the last event, so a finish reason is enough.
        """
        if self._top is None:
            return self._unstreamed
        if "error" in self._top:
            return json.dumps({"error": self._top["error"]}).encode()
        if not (self.done or self._finish_reason):
            raise BrokenStream("the stream ended before the reply was complete")
        calls = [
            {"id": call.id, "function": {"name": call.name, "arguments": call.arguments}}
            for call in self._calls
        ]
        message = {"role": "assistant", "content": self._content, "tool_calls": calls}
        choice = {"index": 0, "message": message, "finish_reason": self._finish_reason}
        return json.dumps({**self._top, "choices": [choice]}).encode()

    def _read_line(self, line: bytes) -> list[Delta]:
        """Return the deltas of one line; a line outside the format has none."""
        name, _, value = line.partition(b":")
        value = value.strip()
        if self.done or name not in quirks.STREAM_LINES or not value:
            return []
        self._top = self._top or {}
        if value == LAST_EVENT:
            self.done = True
            return []
        event = parse_event(value)
        if name == b"error":
            event = {"error": event.get("error") or event}
        return self._read_event(event)

    def _read_event(self, event: Mapping[str, Any]) -> list[Delta]:
        told = {key: value for key, value in event.items() if value and key != "choices"}
        self._top = {**(self._top or {}), **told}
        if "error" in told:
            self.done = True
            return []
        choices = event.get("choices")
        listed = choices if isinstance(choices, list) else []
        ours = (choice for choice in map(as_dict, listed) if not choice.get("index"))
        return [delta for choice in ours for delta in self._read_choice(choice)]

    def _read_choice(self, choice: Mapping[str, object]) -> list[Delta]:
        self._finish_reason = as_text(choice.get("finish_reason")) or self._finish_reason
        added = as_dict(choice.get("delta")) or as_dict(choice.get("message"))
        content = join_content(added.get("content"))
        self._content += content
        entries = added.get("tool_calls")
        listed = entries if isinstance(entries, list) else []
        calls = [self._read_call(entry) for entry in listed if isinstance(entry, dict)]
        return ([Delta(content)] if content else []) + calls

    def _read_call(self, entry: Mapping[str, object]) -> Delta:
        function = as_dict(entry.get("function"))
        name, arguments = as_text(function.get("name")), function.get("arguments")
        number = self._find_call(entry.get("index"), as_text(entry.get("id")), name)
        call = self._calls[number]
        call.name = call.name or name
        added = argument_text(arguments) if arguments not in (None, "") else ""
        call.arguments += added
        return Delta(tool_index=number, tool_name=call.name, arguments=added)

    def _find_call(self, index: object, call_id: str, name: str) -> int:
        """Return the position of the call that an entry continues, or begin a new call."""
        for number in reversed(range(len(self._calls))):
            call = self._calls[number]
            if call.index == index:
                if call.is_followed_by(call_id, name):
                    break
                return number
        self._calls.append(StreamedCall(index, call_id))
        return len(self._calls) - 1


def parse_event(value: bytes) -> dict[str, Any]:
    """Return an event's JSON object; raise BrokenStream if it is not one."""
    try:
        event = json.loads(value)
    except (ValueError, RecursionError):
        event = None
    if not isinstance(event, dict):
        raise BrokenStream("an event of the stream is not a JSON object")
    return event


def is_json(text: str) -> bool:
    """Return True if ``text`` is complete JSON."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


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


async def read_stream(
    pieces: AsyncIterator[bytes], streamed: StreamedBody, on_delta: OnDelta
) -> bytes:
    """Pass each delta of a body to ``on_delta``, and return the body of the whole reply.

    Raises BrokenStream; ``streamed.begun`` then tells whether a delta was passed.
    """
    listener: OnDelta | None = on_delta
    async with aclosing(with_last_line(pieces)) as lines:
        async for data in lines:
            for line in BytesIO(data):  # those before a broken one count; not split at b"\r"
                for delta in streamed.feed(line):
                    listener = pass_on(delta, listener)
            if streamed.done:
                await drain(lines)
                break
    return streamed.end()


def pass_on(delta: Delta, listener: OnDelta | None) -> OnDelta | None:
    """Pass a delta on and return the listener, None once it has failed."""
    if listener is not None:
        try:
            listener(delta)
        except Exception:  # noqa: BLE001  # the reply itself is still needed
            log.failure("evennia_ai: a streamed reply cannot be shown early; it is read to its end")
            return None
    return listener


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

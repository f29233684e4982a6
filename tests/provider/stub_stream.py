"""A chat completion as the stub provider streams it: pure, from a completion to the events' bytes.

The order ``stream``, or the ``stream`` of one reply, holds any of:

- ``piece``: the characters of content or arguments in a chunk (default 4);
- ``pause_s``: seconds between two chunks (default 0);
- ``ignore``: true to answer whole, as a server that knows no streaming;
- ``break``, one of `BREAKS`, and ``after``, the number of good chunks before it (default 2).
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

PIECE_CHARS = 4
LAST_EVENT = b"data: [DONE]\n\n"
FAILED = {"error": {"code": 500, "message": "The model crashed.", "type": "server_error"}}
# What comes instead of the rest: bytes, and the manner of `stub_wire` in which it ends.
BREAKS: Mapping[str, tuple[bytes, str]] = {
    "end": (b"", "finish"),
    "cut": (b"", "cut"),
    "reset": (b"", "reset"),
    "stall": (b"", "hang"),
    "malformed": (b'data: {"choices": [{"delta": \n\n', "finish"),
    "error": (f"data: {json.dumps(FAILED)}\n\n".encode(), "finish"),
}
NO_DONE = "no_done"  # whole, but without the last event
OPTIONS = frozenset({"piece", "pause_s", "ignore", "break", "after"})


def check_stream(options: Mapping[str, Any]) -> None:
    """Raise ValueError for unknown options of a stream."""
    strange = set(options) - OPTIONS
    if strange or options.get("break", NO_DONE) not in (*BREAKS, NO_DONE):
        raise ValueError(f"The stream {dict(options)!r} has unknown options.")


def stream_completion(
    completion: Mapping[str, Any], options: Mapping[str, Any], usage_wanted: bool
) -> tuple[list[bytes], str]:
    """Return the events of a completion, and the manner in which the last one ends."""
    chunks = list(chunks_of(completion, options.get("piece", PIECE_CHARS), usage_wanted))
    events = [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks]
    how = options.get("break", "")
    if how in BREAKS:
        last, ending = BREAKS[how]
        return [*events[: options.get("after", 2)], last], ending
    return events if how == NO_DONE else [*events, LAST_EVENT], "finish"


def chunks_of(
    completion: Mapping[str, Any], piece: int, usage_wanted: bool
) -> Iterator[dict[str, Any]]:
    """Yield a completion's chunks: role, content, tool calls, finish reason, usage."""
    shared = {name: completion.get(name) for name in ("id", "created", "model")}
    head = {**shared, "object": "chat.completion.chunk"}
    for choice in completion.get("choices") or ():
        for delta in deltas_of(choice.get("message") or {}, piece):
            yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        finish = {"index": 0, "delta": {}, "finish_reason": choice.get("finish_reason")}
        yield {**head, "choices": [finish]}
    told = {name: completion[name] for name in ("usage", "timings") if name in completion}
    if told and usage_wanted:
        yield {**head, "choices": [], **told}


def deltas_of(message: Mapping[str, Any], piece: int) -> Iterator[dict[str, Any]]:
    """Yield a message as deltas; each tool call begins with its name and no arguments."""
    yield {"role": "assistant", "content": ""}
    for text in cut(message.get("content") or "", piece):
        yield {"content": text}
    for index, call in enumerate(message.get("tool_calls") or ()):
        function = call["function"]
        begun = {**call, "index": index, "function": {**function, "arguments": ""}}
        yield {"tool_calls": [begun]}
        for text in cut(function["arguments"], piece):
            yield {"tool_calls": [{"index": index, "function": {"arguments": text}}]}


def cut(text: str, piece: int) -> Iterator[str]:
    """Yield a text in pieces of so many characters."""
    for start in range(0, len(text), piece):
        yield text[start : start + piece]

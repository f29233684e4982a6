"""The stub provider's replies, as pure functions from a request's body to a response.

A reply is a plain object, because it can come from a script, a rule or the control address:

- ``{"text": "hello"}``: plain text;
- ``{"tool_calls": [{"name": "say", "arguments": {"text": "hello"}}]}``;
- ``{"completion": {...}}``: a whole chat completion, sent unchanged;
- ``{"raw": "<html>", "status": 502, "headers": {"Retry-After": "2"}}``: any response at all.

Each may also have ``latency`` in seconds, ``stream`` (see `stub_stream`) and ``finish_reason``.
Without an order, the provider is a polite echo: it says, or whispers back, what it heard.

``break_json``, one of `JSON_BREAKS`, breaks a call that is written in the text.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.provider.stub_stream import check_stream, stream_completion

Body = Mapping[str, Any]
Reply = Mapping[str, Any]

KINDS = ("text", "tool_calls", "completion", "raw")
MARK = "I heard:"
MOST_ECHOED = 20
MOST_ECHOED_CHARS = 500
SPEECH_TOOLS = ("say", "whisper", "emote")
JSON_BREAKS = ("invalid", "cut", "newlines")
NEWLINES = 800  # for a request without max_tokens
WHISPERED = re.compile(r"^(?P<who>[^:\n]+?) whispers\b[^:,\n]*[:,]\s*(?P<text>.+)$")
SAID = re.compile(r"^(?P<who>[^:\n]+?) says?\b[^:,\n]*[:,]\s*(?P<text>.+)$")
EMOTED = re.compile(r"^(?P<who>[^:\n]+?) acts out: (?P<text>.+)$")
PERCEIVED = re.compile(r"^◆ (?!You\b)(?P<text>(?P<who>\S+).*)$")
BLOCK = re.compile(r"<(\w+)>.*?</\1>", re.DOTALL)
# Lines of a prompt that nobody said: the character's own acts, the situation, the last question.
NARRATED = re.compile(
    r"^(?:◆ You\b.*|\((?:Your|What do you|Earlier talk)\b.*\)|\[.*\]"
    r"|What do you, .*\?|Your acts so far:)$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class SpokenLine:
    """One line of talk found in a prompt."""

    who: str
    text: str
    whispered: bool = False


@dataclass(frozen=True)
class Response:
    """An HTTP response, and the manner of `stub_wire` in which it is sent, with its options."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes = b""
    latency_s: float | None = None
    manner: str = "whole"
    options: Mapping[str, Any] = field(default_factory=dict)


def check_reply(reply: Reply) -> None:
    """Raise ValueError for a reply of no known kind."""
    if not any(kind in reply for kind in KINDS):
        raise ValueError(f"The reply {dict(reply)!r} is of no known kind.")
    check_stream(reply.get("stream", {}))
    if reply.get("break_json", "cut") not in JSON_BREAKS:
        raise ValueError(f"JSON can only be broken by {', '.join(JSON_BREAKS)}.")


def render_reply(
    reply: Reply, body: Body, number: int, stream: Mapping[str, Any] | None = None
) -> Response:
    """Turn a reply into a response.

    ``number`` counts the requests and goes into ids. ``stream`` has the options of all streams.
    """
    latency_s = reply.get("latency")
    if "raw" in reply:
        headers = {"Content-Type": "application/json", **reply.get("headers", {})}
        return Response(reply.get("status", 200), headers, reply["raw"].encode(), latency_s)
    completion = reply.get("completion") or build_completion(reply, body, number)
    options = {**(stream or {}), **reply.get("stream", {})}
    if body.get("stream") and not options.get("ignore"):
        return render_stream(completion, reply, body, options)
    content = json.dumps(completion).encode()
    headers = {"Content-Type": "application/json"}
    status, manner = reply.get("status", 200), reply.get("manner", "whole")
    return Response(status, headers, content, latency_s, manner, reply)


def render_stream(
    completion: Mapping[str, Any], reply: Reply, body: Body, options: Mapping[str, Any]
) -> Response:
    """Return the response that streams a completion, unless the reply has a manner of its own."""
    usage_wanted = (body.get("stream_options") or {}).get("include_usage", False)
    events, ending = stream_completion(completion, options, usage_wanted)
    played = {"events": events, "ending": ending, "pause_s": options.get("pause_s", 0.0), **reply}
    return Response(
        reply.get("status", 200),
        {"Content-Type": "text/event-stream"},
        b"".join(events),
        reply.get("latency"),
        reply.get("manner", "stream"),
        played,
    )


def build_completion(reply: Reply, body: Body, number: int) -> dict[str, Any]:
    """Return a chat completion with a reply's text and tool calls."""
    text, ordered = reply.get("text"), reply.get("tool_calls", ())
    if text and "break_json" in reply:
        text = break_json(text, reply["break_json"], body.get("max_tokens") or NEWLINES)
    message: dict[str, Any] = {"role": "assistant", "content": text}
    calls = [wire_call(call, f"call_{number}_{index}") for index, call in enumerate(ordered)]
    if calls:
        message["tool_calls"] = calls
    asked = [body.get("messages"), body.get("tools")]
    prompt_tokens, completion_tokens = rough_tokens(asked), rough_tokens(message)
    finish_reason = reply.get("finish_reason", "tool_calls" if calls else "stop")
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model", ""),
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        },
    }


def break_json(text: str, how: str, newlines: int) -> str:
    """Return JSON as a model breaks it: "invalid", "cut", or with ``newlines`` after it."""
    if how == "invalid":
        return text.replace('"', "'", 3)
    return text[: len(text) * 2 // 3] if how == "cut" else text + "\n" * newlines


def wire_call(call: Mapping[str, Any], call_id: str) -> dict[str, Any]:
    """Return a tool call in wire form; arguments that are text are not changed."""
    arguments = call.get("arguments", {})
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    function = {"name": call["name"], "arguments": text}
    return {"id": call.get("id", call_id), "type": "function", "function": function}


def rough_tokens(value: Any) -> int:
    """Return one token for every four characters of JSON, at least one."""
    return len(json.dumps(value)) // 4 + 1


# --- what to answer ------------------------------------------------------------------------------


def match_rule(rules: Iterable[Mapping[str, Any]], body: Body) -> Reply | None:
    """Return the reply of the first rule whose regex is in what was last heard, or None."""
    heard = last_heard(body.get("messages", ()))
    for rule in rules:
        if re.search(rule["match"], heard):
            reply: Reply = rule["reply"]
            return reply
    return None


def answer_politely(body: Body) -> Reply:
    """Return the reply without orders: an echo of what was heard, by a tool if one is offered.

    If the last line was whispered, the reply is a whisper to its speaker. If the last line is
    already answered, the reply is ``noop`` if that is offered, else an empty text.
    """
    tools = offered_tools(body)
    lines, answered = read_talk(body.get("messages", ()))
    if answered:
        return {"tool_calls": [{"name": "noop"}]} if "noop" in tools else {"text": ""}
    last = lines[-1]
    if last.whispered:
        lines = [line for line in lines if line.whispered and line.who == last.who]
    text = " ".join(dict.fromkeys(f"{MARK} {line.text}" for line in lines[-MOST_ECHOED:]))
    if "whisper" in tools and (last.whispered or "say" not in tools):
        return {
            "tool_calls": [{"name": "whisper", "arguments": {"target": last.who, "text": text}}]
        }
    if "say" in tools:
        return {"tool_calls": [{"name": "say", "arguments": {"text": text}}]}
    return {"text": text}


def read_talk(messages: Sequence[Mapping[str, Any]]) -> tuple[list[SpokenLine], bool]:
    """Return the lines since the assistant last spoke, and True if it spoke after the last one.

    If no line looks spoken, the last thing heard counts as one.
    """
    lines: list[SpokenLine] = []
    answered = False
    for message in messages:
        if message.get("role") == "user":
            found = [line for line in map(read_line, heard_in(message).splitlines()) if line]
            lines = found if answered and found else lines + found
            answered = answered and not found
        elif message.get("role") == "assistant" and is_speech(message):
            answered = bool(lines)
    if not lines:
        return [SpokenLine("", last_heard(messages)[:MOST_ECHOED_CHARS])], False
    return lines, answered


def read_line(text: str) -> SpokenLine | None:
    """Read ``Ann says: hello``, ``Ann acts out: waves.`` or ``◆ Ann arrives.``."""
    for pattern in (WHISPERED, EMOTED, SAID, PERCEIVED):
        match = pattern.match(text.strip())
        if match:
            spoken = match["text"].strip().strip('"')
            return SpokenLine(match["who"].strip(), spoken, pattern is WHISPERED)
    return None


def is_speech(message: Mapping[str, Any]) -> bool:
    """Return True if an assistant message says something, in text or by a tool."""
    names = [call.get("function", {}).get("name") for call in message.get("tool_calls") or ()]
    return bool(text_of(message)) or any(name in SPEECH_TOOLS for name in names)


def offered_tools(body: Body) -> set[str]:
    """Return the names of a request's tools."""
    return {tool.get("function", {}).get("name", "") for tool in body.get("tools") or ()}


def last_heard(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the talk of the last user message that has any, else the last one unchanged."""
    said = [message for message in reversed(messages) if message.get("role") == "user"]
    return next(filter(None, map(heard_in, said)), text_of(said[0]).strip() if said else "")


def heard_in(message: Mapping[str, Any]) -> str:
    """Return a user message without ``<blocks>`` and other lines that are not talk."""
    return NARRATED.sub("", BLOCK.sub("", text_of(message))).strip()


def text_of(message: Mapping[str, Any]) -> str:
    """Return a message's text, whether its content is a text or a list of parts."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content)
    return content or ""

"""What the stub provider answers: pure, from a request's body to a reply.

A reply is a plain object, so that it can come from a script, a rule or the control address:

- ``{"text": "hello"}``: plain text;
- ``{"tool_calls": [{"name": "say", "arguments": {"text": "hello"}}]}``;
- ``{"completion": {...}}``: a whole chat completion, as it is;
- ``{"raw": "<html>", "status": 502, "headers": {"Retry-After": "2"}}``: any response at all.

``latency`` in seconds goes with each. Without an order it answers like a polite echo: it says, or
whispers back, what it heard.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Body = Mapping[str, Any]
Reply = Mapping[str, Any]

KINDS = ("text", "tool_calls", "completion", "raw")
MARK = "I heard:"
MOST_ECHOED = 20
MOST_ECHOED_CHARS = 500
SPEECH_TOOLS = ("say", "whisper", "emote")
WHISPERED = re.compile(r"^(?P<who>[^:\n]+?) whispers\b[^:,\n]*[:,]\s*(?P<text>.+)$")
SAID = re.compile(r"^(?P<who>[^:\n]+?) says?\b[^:,\n]*[:,]\s*(?P<text>.+)$")
EMOTED = re.compile(r"^\((?!(?:You|What do you)\b)(?P<text>(?P<who>\S+).*)\)$")
BLOCK = re.compile(r"<(\w+)>.*?</\1>", re.DOTALL)


@dataclass(frozen=True)
class SpokenLine:
    """One line of talk found in a prompt."""

    who: str
    text: str
    whispered: bool = False


@dataclass(frozen=True)
class Response:
    """What goes over the wire, and in which manner of `stub_wire`, which may need options."""

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


def render_reply(reply: Reply, body: Body, number: int) -> Response:
    """Turn a reply into a response; ``number`` counts the requests and goes into ids."""
    latency_s = reply.get("latency")
    if "raw" in reply:
        headers = {"Content-Type": "application/json", **reply.get("headers", {})}
        return Response(reply.get("status", 200), headers, reply["raw"].encode(), latency_s)
    completion = reply.get("completion") or build_completion(reply, body, number)
    content = json.dumps(completion).encode()
    headers = {"Content-Type": "application/json"}
    status, manner = reply.get("status", 200), reply.get("manner", "whole")
    return Response(status, headers, content, latency_s, manner, reply)


def build_completion(reply: Reply, body: Body, number: int) -> dict[str, Any]:
    """A chat completion that holds a reply's text and tool calls."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.get("text")}
    calls = [
        wire_call(call, f"call_{number}_{index}")
        for index, call in enumerate(reply.get("tool_calls", ()))
    ]
    if calls:
        message["tool_calls"] = calls
    asked = [body.get("messages"), body.get("tools")]
    prompt_tokens, completion_tokens = rough_tokens(asked), rough_tokens(message)
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model", ""),
        "choices": [
            {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
        ],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        },
    }


def wire_call(call: Mapping[str, Any], call_id: str) -> dict[str, Any]:
    """A tool call in wire form; arguments that are text go as they are."""
    arguments = call.get("arguments", {})
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    function = {"name": call["name"], "arguments": text}
    return {"id": call.get("id", call_id), "type": "function", "function": function}


def rough_tokens(value: Any) -> int:
    """A token for every four characters of JSON, at least one."""
    return len(json.dumps(value)) // 4 + 1


# --- what to answer ------------------------------------------------------------------------------


def match_rule(rules: Iterable[Mapping[str, Any]], body: Body) -> Reply | None:
    """The reply of the first rule whose regex is found in what was last heard, or None."""
    heard = last_heard(body.get("messages", ()))
    for rule in rules:
        if re.search(rule["match"], heard):
            reply: Reply = rule["reply"]
            return reply
    return None


def answer_politely(body: Body) -> Reply:
    """The reply without orders: echo what was heard by a tool if there is one, else as text.

    What was whispered last is whispered back to its speaker. Where the talk is answered already,
    it has nothing to add: ``noop`` if offered, otherwise no text.
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
    """The lines spoken since the assistant last spoke, and whether it spoke after the last.

    Where no line looks spoken, the last thing heard counts as one.
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
    """Read ``Ann says: hello``, ``Ann whispers to you: hello`` or ``(Ann waves.)``."""
    for pattern in (WHISPERED, SAID, EMOTED):
        match = pattern.match(text.strip())
        if match:
            spoken = match["text"].strip().strip('"')
            return SpokenLine(match["who"].strip(), spoken, pattern is WHISPERED)
    return None


def is_speech(message: Mapping[str, Any]) -> bool:
    """True where an assistant message says something, in text or by a tool."""
    names = [call.get("function", {}).get("name") for call in message.get("tool_calls") or ()]
    return bool(text_of(message)) or any(name in SPEECH_TOOLS for name in names)


def offered_tools(body: Body) -> set[str]:
    """The names of the tools in a request."""
    return {tool.get("function", {}).get("name", "") for tool in body.get("tools") or ()}


def last_heard(messages: Sequence[Mapping[str, Any]]) -> str:
    """The last user message that holds more than blocks, without these; else the last as it is."""
    said = [message for message in reversed(messages) if message.get("role") == "user"]
    return next(filter(None, map(heard_in, said)), text_of(said[0]).strip() if said else "")


def heard_in(message: Mapping[str, Any]) -> str:
    """A user message without ``<blocks>``, which tell of the situation and are not talk."""
    return BLOCK.sub("", text_of(message)).strip()


def text_of(message: Mapping[str, Any]) -> str:
    """A message's text, whether it came whole or in parts."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content)
    return content or ""

"""What goes to a chat-completions endpoint and what comes back, as pure functions.

Servers that call themselves compatible differ in every corner of the reply, so it is read from
plain JSON here, with patience, and not through the SDK's types.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from evennia_ai.config import ModelProfile
from evennia_ai.errors import ProviderMisconfigured
from evennia_ai.ports import LLMReply, LLMRequest, ToolCallRequest, Usage

MAX_TOLD_CHARS = 300
MOST_TOKENS = 2**31 - 1
REPLY_LIMITS = ("max_tokens", "max_completion_tokens")
TEXT_PARTS = ("text", "output_text")
KEY_LIKE = re.compile(r"\b(?:sk|pk|key|gsk|xai)-[\w*.-]{6,}")


def build_body(request: LLMRequest, profile: ModelProfile) -> dict[str, Any]:
    """The request's body without the model's name.

    ``profile.extra`` has the last word: an entry replaces ours, None takes ours out, and either
    name of the reply's limit silences ``request.max_tokens``.
    """
    body: dict[str, Any] = {"messages": list(request.messages)}
    if request.tools:
        body["tools"] = [dict(tool) for tool in request.tools]
    if not any(name in profile.extra for name in REPLY_LIMITS):
        body["max_tokens"] = request.max_tokens
    body["temperature"] = request.temperature
    body.update(profile.extra)
    return {name: value for name, value in body.items() if value is not None}


def parse_reply(data: bytes, new_id: Callable[[], str]) -> LLMReply:
    """Read a chat completion; ``new_id`` makes ids for calls that came without one of their own.

    A completion without choices, message or content is an empty reply.

    Raises:
        ValueError: where it is no chat completion at all.
    """
    try:
        payload = json.loads(data)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(payload, dict) or "choices" not in payload:
        raise ValueError("not a chat completion")
    choice = first_dict(payload["choices"])
    message = as_dict(choice.get("message"))
    return LLMReply(
        content=join_content(message.get("content")),
        tool_calls=read_calls(message, new_id),
        finish_reason=as_text(choice.get("finish_reason")) or "stop",
        usage=read_usage(as_dict(payload.get("usage"))),
        model=as_text(payload.get("model")),
    )


def join_content(content: Any) -> str:
    """Text as it is, parts joined (those that are text), anything else as nothing."""
    if not isinstance(content, list):
        return as_text(content)
    parts = (
        as_text(part.get("text"))
        for part in content
        if isinstance(part, dict) and part.get("type", "text") in TEXT_PARTS
    )
    return "".join(parts)


def read_calls(
    message: Mapping[str, Any], new_id: Callable[[], str]
) -> tuple[ToolCallRequest, ...]:
    """The tool calls of a message, each with an id of its own within the reply."""
    raw = message.get("tool_calls")
    entries = [item for item in raw if isinstance(item, dict)] if isinstance(raw, list) else []
    calls: dict[str, ToolCallRequest] = {}
    for entry in entries:
        call_id = as_text(entry.get("id"))
        if not call_id or call_id in calls:
            call_id = new_id()
        function = as_dict(entry.get("function"))
        calls[call_id] = ToolCallRequest(
            call_id, as_text(function.get("name")), argument_text(function.get("arguments"))
        )
    return tuple(calls.values())


def argument_text(arguments: Any) -> str:
    """Arguments as JSON text; some servers send an object, or nothing where there are none."""
    if isinstance(arguments, str):
        return arguments or "{}"
    return "{}" if arguments is None else json.dumps(arguments, ensure_ascii=False)


def read_usage(usage: Mapping[str, Any]) -> Usage | None:
    """The reported token counts, or None where they cannot be true."""
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not is_count(prompt, 1) or not is_count(completion, 0):
        return None
    return Usage(int(prompt or 0), int(completion or 0))


def is_count(value: Any, least: int) -> bool:
    """True for a whole number a token count can be."""
    return type(value) is int and least <= value <= MOST_TOKENS


def first_dict(items: Any) -> dict[str, Any]:
    """The first item of a list where it is an object, otherwise an empty one."""
    return as_dict(items[0]) if isinstance(items, list) and items else {}


def as_dict(value: Any) -> dict[str, Any]:
    """``value`` where it is an object, otherwise an empty one."""
    return value if isinstance(value, dict) else {}


def as_text(value: Any) -> str:
    """``value`` where it is text, otherwise the empty string."""
    return value if isinstance(value, str) else ""


def shown_address(base_url: str) -> str:
    """An address as an admin may read it: no user, password, query or fragment."""
    parts = urlsplit(base_url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")


def check_address(base_url: str, profile: ModelProfile) -> None:
    """Raise ProviderMisconfigured where ``base_url`` is no address of a web server."""
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ProviderMisconfigured(
            f"The base_url of the profile '{profile.name}' must look like "
            "http://localhost:11434/v1 or https://api.openai.com/v1."
        )


def tell(body: Any, key: str) -> str:
    """What a server says in its error's body, fit for a log: short, one line, without the key."""
    if isinstance(body, dict):
        body = body.get("message") or body.get("detail") or body.get("error") or ""
    text = " ".join(str(body or "").split())
    if text.startswith("<"):
        return ""
    text = KEY_LIKE.sub("***", text.replace(key, "***") if key else text)
    text = "".join(char if char.isprintable() else " " for char in text)
    return text[:MAX_TOLD_CHARS].rstrip(". ")

"""Request and response bodies of chat-completions endpoints, as pure functions.

Servers that call themselves compatible differ in every part of the reply, so these functions read
plain JSON leniently instead of using the SDK's types. `quirks` lists the known differences. Most
endpoints recognise a repeated prompt by themselves and may refuse unknown fields, so only those in
`quirks` get hints about its reusable part.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from pydantic_core import to_json

from evennia_ai.config import ModelProfile
from evennia_ai.llm import quirks
from evennia_ai.llm.endpoints import OPENAI_ADDRESS
from evennia_ai.llm.quirks import CACHED_TOKENS, REPLY_LIMITS, TEXT_PART_TYPES, USAGE_FORMS
from evennia_ai.messages import Timings, WireMessage
from evennia_ai.policy.request_forms.form import TOOLS
from evennia_ai.policy.request_forms.known_models import style_for
from evennia_ai.policy.request_forms.wire_order import WireStyle, arrange
from evennia_ai.ports import LLMReply, LLMRequest, ToolCallRequest, Usage

Body = Mapping[str, object]
Headers = Mapping[str, str]

MAX_TOKEN_COUNT = 2**31 - 1
NO_NUMBERS = (b"NaN", b"Infinity")  # `to_json` writes them, and JSON has none; or they are text
KEY_FIELD = "prompt_cache_key"
KEY_OF_CHARS = 300  # of the rules, which are the same for all characters of a game


def build_body(
    request: LLMRequest, profile: ModelProfile, style: WireStyle | None = None
) -> dict[str, object]:
    """Return the request's body without the model's name, with `cache_hints` if any.

    The messages are arranged for a chat template of ``style``, by default the model's by its name.
    ``profile.extra`` overrides the body: an entry replaces ours, None removes it. If ``extra`` has
    a reply limit under either name, ``request.max_tokens`` is not sent.
    """
    messages = arrange(request.messages, style or wire_style(request, profile))
    body: dict[str, object] = {"messages": messages}
    if request.response_schema is not None:
        body["response_format"] = response_format(request.response_schema)
    if request.tools and request.form == TOOLS:
        body["tools"] = [dict(tool) for tool in request.tools]
    if not any(name in profile.extra for name in REPLY_LIMITS):
        body["max_tokens"] = request.max_tokens
    body["temperature"] = request.temperature
    body |= {**cache_hints(messages, profile), **profile.extra}
    return {name: value for name, value in body.items() if value is not None}


def request_headers(request: LLMRequest, unique: str) -> Headers:
    """Return the header that names a request's turn, and nothing of the game besides.

    OpenAI logs it, so that its support finds the request; ``unique`` makes it differ in each.
    Servers that do not know it ignore it.
    """
    if request.caller.turn_id is None:
        return {}
    return {"X-Client-Request-Id": f"turn-{request.caller.turn_id}-{unique}"}


def write_json(body: Body) -> bytes:
    """Return a request's body; raises ValueError or TypeError for what JSON cannot hold."""
    with suppress(ValueError):  # the standard library's errors say more
        written = to_json(body)  # a fifth of the time of the standard library (measured)
        if not any(name in written for name in NO_NUMBERS):
            return written
    return json.dumps(body, ensure_ascii=False, allow_nan=False).encode()


def wire_style(request: LLMRequest, profile: ModelProfile) -> WireStyle:
    """Return what the model's chat template supports, by its name and by what a probe found."""
    by_name = style_for(profile.model)
    system = by_name.system if profile.told.system is None else profile.told.system
    return WireStyle(system, by_name.calls and request.form == TOOLS)


def response_format(schema: Mapping[str, object]) -> dict[str, object]:
    """Return the field that makes an endpoint answer with an object of a schema."""
    shape = {"name": "turn", "strict": True, "schema": schema}
    return {"type": "json_schema", "json_schema": shape}


def parse_reply(data: bytes, new_id: Callable[[], str]) -> LLMReply:
    """Return the reply in a chat completion; without choices or content it is empty.

    ``new_id`` makes the id of a tool call that has no id, or the id of another call. Raises
    ValueError if the body is not a chat completion.
    """
    try:
        payload = json.loads(data)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(payload, dict) or "choices" not in payload:
        raise ValueError("not a chat completion")
    choices = payload["choices"]
    choice = as_dict(choices[0]) if isinstance(choices, list) and choices else {}
    message = as_dict(choice.get("message"))
    return LLMReply(
        content=join_content(message.get("content")),
        tool_calls=read_calls(message, new_id),
        finish_reason=as_text(choice.get("finish_reason")) or "stop",
        usage=read_usage(payload),
        model=as_text(payload.get("model")),
        timings=read_timings(as_dict(payload.get("timings"))),
    )


def join_content(content: object) -> str:
    """Return text unchanged, a list's text parts joined, and "" for anything else."""
    if not isinstance(content, list):
        return as_text(content)
    parts = (
        as_text(part.get("text"))
        for part in content
        if isinstance(part, dict) and part.get("type", "text") in TEXT_PART_TYPES
    )
    return "".join(parts)


def read_calls(
    message: Mapping[str, object], new_id: Callable[[], str]
) -> tuple[ToolCallRequest, ...]:
    """Return a message's tool calls, each with an id that is unique within the reply."""
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


def argument_text(arguments: object) -> str:
    """Return a call's arguments as JSON text; some servers send an object or null."""
    if isinstance(arguments, str):
        return arguments or "{}"
    return "{}" if arguments is None else json.dumps(arguments, ensure_ascii=False)


def read_usage(payload: Mapping[str, object]) -> Usage | None:
    """Return a body's token counts, or None if they are not plausible."""
    usage = as_dict(payload.get("usage"))
    for prompt_name, completion_name, *besides in USAGE_FORMS:
        prompt = token_count(usage.get(prompt_name), least=0)
        completion = token_count(usage.get(completion_name), least=0)
        if prompt is None or completion is None:
            continue
        prompt += sum(token_count(usage.get(name), least=0) or 0 for name in besides)
        if token_count(prompt, least=1):
            return Usage(prompt, completion, read_cached_tokens(payload, prompt))
    return None


def read_cached_tokens(payload: Mapping[str, object], prompt: int) -> int | None:
    """Return how many of the prompt's tokens came from a cache, None if not plausibly reported."""
    for path in CACHED_TOKENS:
        value: object = payload
        for name in path:
            value = as_dict(value).get(name)
        cached = token_count(value, least=0)
        if cached is not None and cached <= prompt:
            return cached
    return None


def read_timings(timings: Mapping[str, object]) -> Timings | None:
    """Return the speed that llama.cpp's server reports, or None."""
    read, written = timings.get("prompt_n"), timings.get("predicted_n")
    speeds = (timings.get("prompt_per_second"), timings.get("predicted_per_second"))
    read_per_s, written_per_s = (
        float(speed) if isinstance(speed, int | float) and 0 < speed <= MAX_TOKEN_COUNT else None
        for speed in speeds
    )
    if read_per_s is None or written_per_s is None:
        return None
    return Timings(
        token_count(read, least=0) or 0,
        read_per_s,
        token_count(written, least=0) or 0,
        written_per_s,
    )


def token_count(value: object, least: int) -> int | None:
    """Return a plausible token count, or None; True and False are not counts."""
    return value if type(value) is int and least <= value <= MAX_TOKEN_COUNT else None


def as_dict(value: object) -> dict[str, object]:
    """Return ``value`` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_text(value: object) -> str:
    """Return ``value`` if it is text, else ""."""
    return value if isinstance(value, str) else ""


def cache_hints(messages: Sequence[WireMessage], profile: ModelProfile) -> dict[str, Any]:
    """Return the fields to set in a request's body: the messages with breakpoints, and options."""
    # Empty for an endpoint that knows no hints. If ``profile.extra`` has a field of the
    # breakpoints, none are set.
    default = OPENAI_ADDRESS if profile.api_key_env else ""  # as in `find_endpoint`
    host = urlsplit(profile.base_url or default).hostname
    found: dict[str, Any] = {}
    if host in quirks.CACHE_KEY_HOSTS:
        found[KEY_FIELD] = cache_key(messages, profile.model)
    for known in quirks.CACHE_BREAKPOINTS:
        chosen = {*known.mark, *known.options} & {*profile.extra}
        if host == known.host and known.models.match(profile.model) and not chosen:
            found |= {**known.options, "messages": with_breakpoints(messages, known.mark)}
    return found


def cache_key(messages: Sequence[WireMessage], model: str) -> str:
    """Return a key that is the same for all requests that begin with the same rules."""
    first = str(messages[0]["content"])[:KEY_OF_CHARS] if messages else ""
    return hashlib.blake2b(f"{model}\0{first}".encode(), digest_size=12).hexdigest()


def with_breakpoints(messages: Sequence[WireMessage], mark: Mapping[str, Any]) -> list[WireMessage]:
    """Return the messages with breakpoints after the rules and after the past conversation."""
    # The last user message changes with every request, so the second breakpoint is at the user
    # message before it.
    users = [n for n, message in enumerate(messages) if message["role"] == "user"]
    ends = {n for n, message in enumerate(messages[:1]) if message["role"] == "system"}
    ends.update(users[-2:-1])
    return [marked(one, mark) if n in ends else one for n, one in enumerate(messages)]


def marked(message: WireMessage, mark: Mapping[str, Any]) -> WireMessage:
    """Return a message with a breakpoint at its end, if its content is text."""
    text = message["content"]
    if not text or not isinstance(text, str):
        return message
    return {**message, "content": [{"type": "text", "text": text, **mark}]}

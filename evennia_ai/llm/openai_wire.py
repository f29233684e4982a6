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
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from evennia_ai.config import ModelProfile
from evennia_ai.config.profiles import wire_style
from evennia_ai.llm import quirks
from evennia_ai.llm.endpoints import OPENAI_ADDRESS
from evennia_ai.llm.quirks import CACHED_TOKENS, REPLY_LIMITS, TEXT_PART_TYPES, USAGE_FORMS
from evennia_ai.llm.refusals import as_list, reason_of
from evennia_ai.messages import Timings, WireMessage
from evennia_ai.policy.replies.reply_reader import CUT_OFF
from evennia_ai.policy.replies.text_calls import ARGUMENT_KEYS, MOST_CALLS
from evennia_ai.policy.request_forms.form import TOOLS
from evennia_ai.policy.request_forms.wire_order import WireStyle, arrange
from evennia_ai.ports import LLMReply, LLMRequest, ToolCallRequest, Usage

Body = Mapping[str, object]
Headers = Mapping[str, str]

MAX_TOKEN_COUNT = 2**31 - 1
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
    messages = arrange(request.messages, style or wire_style(profile, request.form))
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


def response_format(schema: Mapping[str, object]) -> dict[str, object]:
    """Return the field that makes an endpoint answer with an object of a schema."""
    shape = {"name": "turn", "strict": True, "schema": schema}
    return {"type": "json_schema", "json_schema": shape}


def parse_reply(body: bytes | Mapping[str, object], new_id: Callable[[], str]) -> LLMReply:
    """Return the reply in a chat completion; without choices or content it is empty.

    ``body`` is JSON, or what it holds. What some servers spread over several choices is one reply.
    ``new_id`` makes the id of a tool call that has no id, or the id of another call. Raises
    ValueError if the body is not a chat completion.
    """
    try:
        payload = json.loads(body) if isinstance(body, bytes) else body
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(payload, Mapping) or "choices" not in payload:
        raise ValueError("not a chat completion")
    choices = sorted(map(as_dict, as_list(payload["choices"])), key=number_of)
    messages = [as_dict(choice.get("message")) for choice in choices]
    contents = (join_content(message.get("content")) for message in messages)
    return LLMReply(
        content=next(filter(None, contents), ""),
        tool_calls=read_calls([part for one in messages for part in call_parts(one)], new_id),
        finish_reason=finish_reason(choices),
        usage=read_usage([payload, *choices]),
        model=as_text(payload.get("model")),
        timings=read_timings(as_dict(payload.get("timings"))),
    )


def number_of(choice: Mapping[str, object]) -> int:
    """Return the number of a choice, 0 without one."""
    index = choice.get("index")
    return index if isinstance(index, int) else 0


def finish_reason(choices: Sequence[Mapping[str, object]]) -> str:
    """Return why a reply ended; ``length``, under any name, if a part of it was cut off."""
    reasons = [reason_of(choice) for choice in choices]
    if any(map(quirks.CUT_OFF_REASONS.fullmatch, reasons)):
        return CUT_OFF
    return next(filter(None, reasons), "stop")


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


@dataclass(frozen=True)
class CallPart:
    """A tool call of a message, or a part of one that a chunk adds.

    ``index`` is the server's number for it, None without one.
    """

    index: int | str | None
    id: str
    name: str
    arguments: str


def call_parts(message: Mapping[str, object]) -> list[CallPart]:
    """Return the tool calls in a message or in a chunk's delta, wherever servers put them."""
    raw = message.get("tool_calls") or {"function": message.get("function_call")}
    entries = raw if isinstance(raw, list) else [raw]
    parts = []
    for entry in filter(None, map(as_dict, entries)):
        function = as_dict(entry.get("function")) or entry
        index, name = entry.get("index"), as_text(function.get("name") or entry.get("function"))
        given = (function.get(key) for key in ARGUMENT_KEYS)
        arguments = next((value for value in given if value is not None), None)
        if name or arguments or "id" in entry:
            parts.append(
                CallPart(
                    index if isinstance(index, int | str) else None,
                    as_text(entry.get("id")),
                    name,
                    arguments if isinstance(arguments, str) else written(arguments),
                )
            )
    return parts


def written(arguments: object) -> str:
    """Return a call's arguments, which some servers send as an object, as JSON; "" for none."""
    return "" if arguments is None else json.dumps(arguments, ensure_ascii=False)


def read_calls(parts: Sequence[CallPart], new_id: Callable[[], str]) -> tuple[ToolCallRequest, ...]:
    """Return the tool calls of a reply, each with an id that is unique within it."""
    calls: dict[str, ToolCallRequest] = {}
    for part in parts[:MOST_CALLS]:
        call_id = part.id
        if not call_id or call_id in calls:
            call_id = new_id()
        calls[call_id] = ToolCallRequest(call_id, part.name, part.arguments or "{}")
    return tuple(calls.values())


def read_usage(places: Sequence[Mapping[str, object]]) -> Usage | None:
    """Return the first plausible token counts of a body and its choices, None without any.

    More cached tokens than tokens of the prompt are not plausible: such a server counts only what
    it read anew.
    """
    for place in (*places, *(as_dict(place.get("x_groq")) for place in places[:1])):
        usage = as_dict(place.get("usage"))
        for prompt_name, completion_name, *besides in USAGE_FORMS:
            prompt = token_count(usage.get(prompt_name), least=0)
            completion = token_count(usage.get(completion_name), least=0)
            if prompt is None or completion is None:
                continue
            prompt += sum(token_count(usage.get(name), least=0) or 0 for name in besides)
            cached = read_cached_tokens({**places[0], "usage": usage})
            if token_count(prompt, least=1) and (cached or 0) <= prompt:
                return Usage(prompt, completion, cached)
    return None


def read_cached_tokens(payload: Mapping[str, object]) -> int | None:
    """Return how many of the prompt's tokens came from a cache, None if not reported."""
    for path in CACHED_TOKENS:
        value: object = payload
        for name in path:
            value = as_dict(value).get(name)
        cached = token_count(value, least=0)
        if cached is not None:
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
    if isinstance(value, float) and value.is_integer():
        value = int(value)
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

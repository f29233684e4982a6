"""The body of a request to a chat-completions endpoint, as plain data.

Most endpoints recognise a repeated prompt by themselves and may refuse unknown fields, so only
those in `CACHE_BREAKPOINTS` get hints about its reusable part.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from evennia_ai.config import ModelProfile
from evennia_ai.config.profiles import wire_style
from evennia_ai.llm.endpoints import OPENAI_ADDRESS
from evennia_ai.messages import WireMessage
from evennia_ai.policy.request_forms.form import TOOLS
from evennia_ai.policy.request_forms.wire_order import WireStyle, arrange
from evennia_ai.ports import LLMRequest

Body = Mapping[str, object]

REPLY_LIMITS = ("max_tokens", "max_completion_tokens")  # the second: OpenAI's newer models


class CacheBreakpoints(NamedTuple):
    """How requests mark the end of a reusable prefix, for some models at one host."""

    host: str
    models: re.Pattern[str]
    mark: Body  # goes into the content part that ends the prefix
    options: Body  # go into the body


CACHE_BREAKPOINTS = (
    # From GPT-5.6 on, the implicit breakpoint is behind the newest message, which always changes.
    CacheBreakpoints(
        "api.openai.com",
        re.compile(r"gpt-(?:5\.(?:[6-9]|\d\d)|[6-9]|\d\d)"),
        {"prompt_cache_breakpoint": {"mode": "explicit"}},
        {"prompt_cache_options": {"mode": "explicit"}},
    ),
    CacheBreakpoints(
        "openrouter.ai", re.compile(r"anthropic/"), {"cache_control": {"type": "ephemeral"}}, {}
    ),
)


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
        shape = {"name": "turn", "strict": True, "schema": request.response_schema}
        body["response_format"] = {"type": "json_schema", "json_schema": shape}
    if request.tools and request.form == TOOLS:
        body["tools"] = [dict(tool) for tool in request.tools]
    if not any(name in profile.extra for name in REPLY_LIMITS):
        body["max_tokens"] = request.max_tokens
    body["temperature"] = request.temperature
    body |= {**cache_hints(messages, profile), **profile.extra}
    return {name: value for name, value in body.items() if value is not None}


def cache_hints(messages: Sequence[WireMessage], profile: ModelProfile) -> dict[str, Any]:
    """Return the fields to set in a request's body: the messages with breakpoints, and options.

    Empty for an endpoint that knows none, and if ``profile.extra`` has a field of theirs.
    """
    default = OPENAI_ADDRESS if profile.api_key_env else ""  # as in `find_endpoint`
    host = urlsplit(profile.base_url or default).hostname
    for known in CACHE_BREAKPOINTS:
        chosen = {*known.mark, *known.options} & {*profile.extra}
        if host == known.host and known.models.match(profile.model) and not chosen:
            return {**known.options, "messages": with_breakpoints(messages, known.mark)}
    return {}


def with_breakpoints(messages: Sequence[WireMessage], mark: Body) -> list[WireMessage]:
    """Return the messages with breakpoints after the rules and after the past conversation."""
    # The last user message changes with every request, so the second breakpoint is at the user
    # message before it.
    users = [n for n, message in enumerate(messages) if message["role"] == "user"]
    ends = {n for n, message in enumerate(messages[:1]) if message["role"] == "system"}
    ends.update(users[-2:-1])
    return [marked(one, mark) if n in ends else one for n, one in enumerate(messages)]


def marked(message: WireMessage, mark: Body) -> WireMessage:
    """Return a message with a breakpoint at its end, if its content is text."""
    text = message["content"]
    if not text or not isinstance(text, str):
        return message
    return {**message, "content": [{"type": "text", "text": text, **mark}]}

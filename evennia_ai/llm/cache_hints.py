"""What a request tells its endpoint about the prompt's reusable part, as pure functions.

Most endpoints recognise a repeated prompt by themselves and may refuse unknown fields, so only the
endpoints in `quirks` get hints.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from evennia_ai.config import ModelProfile
from evennia_ai.llm import quirks
from evennia_ai.llm.endpoints import OPENAI_ADDRESS
from evennia_ai.messages import WireMessage

KEY_FIELD = "prompt_cache_key"
KEY_OF_CHARS = 300  # of the rules, which are the same for all characters of a game


def cache_hints(messages: Sequence[WireMessage], profile: ModelProfile) -> dict[str, Any]:
    """Return the fields to set in a request's body: the messages with breakpoints, and options.

    Empty for an endpoint that knows no hints. If ``profile.extra`` has a field of the breakpoints,
    none are set.
    """
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
    """Return the messages with breakpoints after the rules and after the past conversation.

    The last user message changes with every request, so the second breakpoint is at the user
    message before it.
    """
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

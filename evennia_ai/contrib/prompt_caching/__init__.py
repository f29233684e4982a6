"""What lets endpoints and proxies use their caches of prompts.

Most endpoints recognise a repeated prompt by themselves and may refuse unknown fields, so only
those in `CACHE_BREAKPOINTS` get hints about its reusable part.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from django.conf import settings as django_settings

from evennia_ai.config import ModelProfile
from evennia_ai.config.profiles import OPENAI_ADDRESS, wire_style
from evennia_ai.extension import Extension
from evennia_ai.messages import WireMessage
from evennia_ai.policy.tool_call_modes.wire_order import arrange
from evennia_ai.ports import LLMRequest

CHARACTER = "{character}"
Body = Mapping[str, object]


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


def breakpoints_of(profile: ModelProfile) -> CacheBreakpoints | None:
    """Return how to mark what comes again for a profile's model.

    None for an endpoint that knows no marks, and if ``profile.extra`` has a field of theirs.
    """
    default = OPENAI_ADDRESS if profile.api_key_env else ""  # as in `find_endpoint`
    host = urlsplit(profile.base_url or default).hostname
    for known in CACHE_BREAKPOINTS:
        chosen = {*known.mark, *known.options} & {*profile.extra}
        if host == known.host and known.models.match(profile.model) and not chosen:
            return known
    return None


def with_breakpoints(messages: Sequence[WireMessage], mark: Body) -> list[WireMessage]:
    """Return the messages with breakpoints after the rules and after the past conversation."""
    # The last user message changes with every request, so the second breakpoint is at the user
    # message before it.
    users = [n for n, message in enumerate(messages) if message["role"] == "user"]
    ends = {n for n, message in enumerate(messages[:1]) if message["role"] == "system"}
    ends.update(users[-2:-1])
    texts = [item["content"] if n in ends else None for n, item in enumerate(messages)]
    return [
        {**item, "content": [{"type": "text", "text": text, **mark}]}
        if text and isinstance(text, str)
        else item
        for item, text in zip(messages, texts, strict=True)
    ]


def name_character(entry: Any, character: str) -> Any:
    """Return an entry of ``extra`` with `CHARACTER` replaced, wherever it is a whole value."""
    if isinstance(entry, Mapping):
        return {key: name_character(value, character) for key, value in entry.items()}
    return character if entry == CHARACTER else entry


def pseudonym(game: str, assistant: str) -> str:
    """Return what stands for a character of a game: always the same, and unlike any other's."""
    return hashlib.blake2b(f"{game}\0{assistant}".encode(), digest_size=12).hexdigest()


class PromptCachingExtension(Extension):
    """Marks what of a prompt comes again, and tells a proxy which character asks."""

    name = "prompt_caching"

    def request_fields(self, request: LLMRequest, profile: ModelProfile) -> Mapping[str, Any]:
        """Return cache breakpoints, and the fields of ``extra`` with the caller's pseudonym.

        In ``extra``, `CHARACTER` stands for the caller under a pseudonym, always the same for
        one character of the game.
        """
        caller = pseudonym(django_settings.SERVERNAME, request.caller.assistant)
        named = name_character(profile.extra, caller)
        fields = {key: named[key] for key, value in profile.extra.items() if named[key] != value}
        known = breakpoints_of(profile)
        if known is not None:
            messages = arrange(request.messages, wire_style(profile, request.form))
            fields |= {**known.options, "messages": with_breakpoints(messages, known.mark)}
        return fields


EXTENSION = PromptCachingExtension

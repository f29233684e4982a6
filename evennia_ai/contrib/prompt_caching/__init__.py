"""What lets endpoints and proxies use their caches of prompts."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings as django_settings

from evennia_ai.config import ModelProfile
from evennia_ai.config.profiles import wire_style
from evennia_ai.contrib.prompt_caching.hints import (
    breakpoints_of,
    name_character,
    pseudonym,
    with_breakpoints,
)
from evennia_ai.extension import Extension
from evennia_ai.policy.tool_call_modes.wire_order import arrange
from evennia_ai.ports import LLMRequest


class PromptCachingExtension(Extension):
    """Marks what of a prompt comes again, and tells a proxy which character asks."""

    name = "prompt_caching"

    def request_fields(self, request: LLMRequest, profile: ModelProfile) -> Mapping[str, Any]:
        """Return cache breakpoints, and the fields of ``extra`` with the caller's pseudonym.

        In ``extra``, `hints.CHARACTER` stands for the caller under a pseudonym, always the same for
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

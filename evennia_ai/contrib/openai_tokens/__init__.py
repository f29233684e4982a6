"""Exact token counts for OpenAI's models."""

from typing import Any

from evennia_ai.contrib.openai_tokens.tokenizer import count_for, load_for
from evennia_ai.extension import EntryReader, Extension
from evennia_ai.game.settings import game_setting


class OpenAITokensExtension(Extension):
    """Counts the tokens of OpenAI's models with their own encoding."""

    name = "openai_tokens"
    token_counter = staticmethod(count_for)

    def set_up(self, services: Any, settings: EntryReader) -> bool:
        """Load the encoding, which holds every thread for a moment: not while players wait."""
        named = {"default", str(game_setting("profile", "default")), *game_setting("PROFILES", ())}
        profiles = [services.models.profiles.get(name, {}) for name in sorted(named)]
        if any(profile.get("client") == "openai" for profile in profiles):
            models = game_setting("llm_model", ""), *(item.get("model") for item in profiles)
            load_for(str(model) for model in models if model)
        return True


EXTENSION = OpenAITokensExtension

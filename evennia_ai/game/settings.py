"""The Django setting ``AI_ASSISTANT``, whatever a game wrote there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from evennia_ai.config import FIELDS


def game_settings() -> Mapping[str, Any]:
    """The whole setting; empty where it is none."""
    found = getattr(settings, "AI_ASSISTANT", None)
    return found if isinstance(found, Mapping) else {}


def game_setting(name: str, default: Any) -> Any:
    """One of the upper-case entries, which are for the whole game."""
    found = game_settings().get(name)
    return default if found is None else found


def settings_complaints() -> list[str]:
    """One sentence for each thing that is wrong with the setting's own form."""
    found = getattr(settings, "AI_ASSISTANT", None)
    if found is not None and not isinstance(found, Mapping):
        return [f"AI_ASSISTANT must be a dictionary, not {found!r}."]
    strange = [str(key) for key in game_settings() if not _is_known(key)]
    return [f"AI_ASSISTANT has an unknown entry '{key}'." for key in sorted(strange)]


def _is_known(key: Any) -> bool:
    return key in FIELDS or (isinstance(key, str) and key.isupper())

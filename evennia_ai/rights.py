"""What a character must not be allowed before a model moves it (promise P8)."""

from __future__ import annotations

from typing import Any

TOO_HIGH = "Developer"


def excessive_rights(character: Any) -> str | None:
    """Why a model must not act through this character, None where it may.

    Evennia caches a superuser's lock bypass when the character is puppeted and does not clear it
    when the superuser leaves, so that it could still run ``py`` (measured): it is computed anew.
    """
    character.locks.cache_lock_bypass(character)
    if character.is_superuser or character.locks.lock_bypass:
        return f"{character.key} has a superuser's rights, and a model must never have those."
    if character.permissions.check(TOO_HIGH):
        return f"{character.key} has the permission {TOO_HIGH}, and a model must never have that."
    return None

"""Personas as builders type and read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evennia_ai.commands.common import UsageError
from evennia_ai.policy.conversation.persona import (
    Persona,
    read_persona,
    render_persona,
    stored_fields,
)
from evennia_ai.policy.sanitize import clean_output


def is_shared(stored: Any) -> bool:
    """Return True for a persona that is only the name of a shared one."""
    return isinstance(stored, str) and stored.startswith("@")


def changed_persona(stored: Any, field: str, value: str) -> Any:
    """Return a persona to store, with all of it or one field changed.

    Raises ConfigError for an unknown field, and UsageError if nothing would be left.
    """
    if not field:
        if not value:
            raise UsageError("A persona cannot be empty. Say who the character is.")
        return value
    return stored_fields(read_persona({**stored_fields(read_persona(stored)), field: value}))


def persona_lines(persona: Persona) -> str:
    """Return a persona as a builder reads it: a line for each entry."""
    return "\n".join(clean_output(line) for line in render_persona(persona).splitlines())


def persona_as_typed(value: Any) -> str:
    """Return a persona, or one of its fields, as a builder would type it."""
    if isinstance(value, (list, tuple)):
        value = "; ".join(value)
    elif isinstance(value, Mapping):
        value = value.get("text", "")
    return clean_output(str(value or ""))

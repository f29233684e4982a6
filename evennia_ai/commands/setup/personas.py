"""Personas as builders type and read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evennia_ai.commands.common import UsageError
from evennia_ai.game.client_text import clean_output
from evennia_ai.policy.conversation.persona import (
    Persona,
    read_persona,
    render_persona,
    stored_fields,
)
from evennia_ai.policy.sanitize import clean_heard

PERSONA_CHARS = 6_000


def changed_persona(stored: Any, field: str, value: str) -> Any:
    """Return a persona to store, with all of it or one field changed; raises AssistantError."""
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


def typed_persona(raw_string: str) -> str:
    """Return a persona or a field of one that was typed; raises UsageError if it is empty."""
    typed = clean_heard(raw_string, PERSONA_CHARS)
    if not typed:
        raise UsageError("Type some text, or |wback|n.")
    return typed

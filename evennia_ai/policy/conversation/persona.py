"""Personas: free text, or fields that a builder fills in one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from evennia_ai.errors import ConfigError


@dataclass(frozen=True)
class Persona:
    """A persona; every field may be empty."""

    text: str = ""  # in the second person: "You are Mira, who keeps the Gull."
    voice: str = ""  # how it sounds: "low, dry, in short sentences"
    manner: str = ""  # how it behaves: "wipes mugs while she listens"
    knows: tuple[str, ...] = ()  # what others may not know
    wants: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()  # lines it might say


FIELD_NAMES = tuple(item.name for item in fields(Persona))
LISTS = frozenset({"knows", "wants", "never", "examples"})
HEADINGS = {
    "voice": "Your voice: {}",
    "manner": "Your manner: {}",
    "knows": "You know:",
    "wants": "You want:",
    "never": "You never:",
    "examples": "Things you might say:",
}


def read_persona(value: object) -> Persona:
    """Return a persona from text or from a mapping of its fields; raises ConfigError."""
    if isinstance(value, Persona):
        return value
    if value is None or isinstance(value, str):
        return Persona(text=value or "")
    if not isinstance(value, Mapping):
        raise ConfigError(f"A persona must be text or its fields, not {value!r:.80}.")
    strange = sorted(map(str, set(value) - set(FIELD_NAMES)))
    if strange:
        known = ", ".join(FIELD_NAMES)
        raise ConfigError(f"A persona has no field '{strange[0]}'. Use one of {known}.")
    return Persona(**{name: _read_field(name, value[name]) for name in value})


def _read_field(name: str, value: object) -> Any:
    if name not in LISTS:
        return str(value or "")
    # A list may be one text with semicolons between the entries.
    entries = value.split(";") if isinstance(value, str) else value or ()
    if not isinstance(entries, (list, tuple, set)):
        found = f"{value!r:.80}"
        raise ConfigError(f"The persona's field '{name}' must be text or a list, not {found}.")
    return tuple(str(entry).strip() for entry in entries if str(entry).strip())


def stored_fields(persona: Persona) -> dict[str, object]:
    """Return the fields that are not empty, as plain data to store."""
    values = {name: getattr(persona, name) for name in FIELD_NAMES}
    return {n: list(v) if n in LISTS else v for n, v in values.items() if v}


def render_persona(persona: Persona) -> str:
    """Return the persona as it stands in a prompt."""
    parts = [persona.text.strip() or "You have no past yet."]
    for name, heading in HEADINGS.items():
        value = getattr(persona, name)
        if not value:
            continue
        if name in LISTS:
            parts.append("\n".join([heading, *(f"- {entry}" for entry in value)]))
        else:
            parts.append(heading.format(value))
    return "\n".join(parts)

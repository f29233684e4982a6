"""Knowledge and personas that builders wrote: in the game's tables and in its modules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from evennia_ai import models
from evennia_ai.errors import ConfigError
from evennia_ai.policy.conversation.lore import EVERYBODY, LoreEntry, check_scope
from evennia_ai.policy.conversation.persona import Persona, read_persona, stored_fields


def read_entry(raw: Any) -> LoreEntry:
    """A piece of knowledge from text or from a mapping; raises ConfigError."""
    if isinstance(raw, LoreEntry):
        return raw
    if isinstance(raw, str):
        return LoreEntry("", raw)
    if not isinstance(raw, Mapping) or not raw.get("text"):
        raise ConfigError(f"A piece of lore needs a 'text': {raw!r}.")
    scopes = raw.get("scopes") or (EVERYBODY,)
    listed = scopes.split(",") if isinstance(scopes, str) else scopes
    return LoreEntry(
        str(raw.get("title", "")), str(raw["text"]), tuple(check_scope(s) for s in listed)
    )


def read_entries(raw: Any) -> tuple[list[LoreEntry], list[str]]:
    """The pieces of a list that anybody may have written, and a sentence for each that is none."""
    entries: list[LoreEntry] = []
    troubles: list[str] = []
    for number, piece in enumerate(raw or (), 1):
        try:
            entries.append(read_entry(piece))
        except (ConfigError, TypeError, ValueError, AttributeError) as error:
            troubles.append(f"ai_lore, piece {number}: {error}")
    return entries, troubles


def load_modules(paths: Iterable[str]) -> tuple[LoreEntry, ...]:
    """The lists named ``LORE`` in a game's modules; raises ConfigError."""
    entries: list[LoreEntry] = []
    for path in paths:
        try:
            module = import_module(path)
        except ImportError as error:
            raise ConfigError(f"The lore module '{path}' cannot be imported: {error}.") from error
        entries += [read_entry(raw) for raw in getattr(module, "LORE", ())]
    return tuple(entries)


class LoreRecords:
    """All the game's lore, read once and kept until somebody writes."""

    def __init__(self, modules: Iterable[str] = ()) -> None:
        self.fixed = load_modules(modules)
        self._written: tuple[LoreEntry, ...] | None = None

    def entries(self) -> tuple[LoreEntry, ...]:
        """Every piece, from the modules and from the game."""
        if self._written is None:
            rows = models.Lore.objects.order_by("id")
            self._written = tuple(LoreEntry(r.title, r.text, tuple(r.scopes)) for r in rows)
        return (*self.fixed, *self._written)

    def find(self, title: str) -> LoreEntry | None:
        """The piece of that title, in any case."""
        return next((e for e in self.entries() if e.title.lower() == title.lower()), None)

    def write(self, entry: LoreEntry) -> None:
        """Store a piece, in place of one of the same title."""
        models.Lore.objects.filter(title__iexact=entry.title).delete()
        models.Lore.objects.create(title=entry.title, text=entry.text, scopes=list(entry.scopes))
        self._written = None

    def remove(self, title: str) -> bool:
        """Delete a piece written in the game; returns whether there was one."""
        deleted, _ = models.Lore.objects.filter(title__iexact=title).delete()
        self._written = None
        return bool(deleted)


class PersonaRecords:
    """Personas that characters share: from the settings and from the game, the latter first."""

    def __init__(self, fixed: Mapping[str, Any]) -> None:
        self.fixed = {name.lower(): read_persona(value) for name, value in fixed.items()}
        self._written: dict[str, Persona] | None = None

    def all(self) -> dict[str, Persona]:
        """Every shared persona by its name."""
        if self._written is None:
            rows = models.SharedPersona.objects.order_by("name")
            self._written = {row.name: read_persona(row.fields) for row in rows}
        return {**self.fixed, **self._written}

    def resolve(self, value: Any) -> Persona:
        """A character's persona from its Attribute; raises ConfigError for an unknown name."""
        if not (isinstance(value, str) and value.startswith("@")):
            return read_persona(value)
        name = value[1:].strip().lower()
        if name not in self.all():
            known = ", ".join(f"@{known}" for known in sorted(self.all())) or "none"
            raise ConfigError(f"There is no shared persona '@{name}'. There are: {known}.")
        return self.all()[name]

    def write(self, name: str, persona: Persona) -> None:
        """Store a shared persona."""
        models.SharedPersona.objects.update_or_create(
            name=name.lower(), defaults={"fields": stored_fields(persona)}
        )
        self._written = None

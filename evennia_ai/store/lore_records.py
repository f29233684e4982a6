"""Lore and shared personas: what builders wrote in the game, and in its modules."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from importlib import import_module
from typing import Any

from evennia.typeclasses.attributes import Attribute

from evennia_ai import models
from evennia_ai.errors import ConfigError
from evennia_ai.messages import Authors
from evennia_ai.policy.audience import BUILDER, GAME
from evennia_ai.policy.conversation.persona_and_lore import (
    EVERYBODY,
    LoreEntry,
    Persona,
    check_scope,
    read_persona,
    split_keys,
    stored_fields,
)
from evennia_ai.store.names import plain_name
from evennia_ai.store.transactions import brief_transaction

OWN_LORE = "ai_lore"


def read_entry(raw: Any) -> LoreEntry:
    """Return a lore entry from a text or a mapping; raises ConfigError."""
    if isinstance(raw, LoreEntry):
        return raw
    if isinstance(raw, str):
        return LoreEntry("", raw)
    if not isinstance(raw, Mapping) or not raw.get("text"):
        raise ConfigError(
            f"A lore entry must be a text, or a dictionary with a 'text', not {raw!r}."
        )
    scopes = raw.get("scopes") or (EVERYBODY,)
    listed = scopes.split(",") if isinstance(scopes, str) else scopes
    return LoreEntry(
        str(raw.get("title", "")),
        str(raw["text"]),
        tuple(check_scope(s) for s in listed),
        by_builder(raw.get("authors") or ()),
        keys=split_keys(raw.get("keys")),
        always=bool(raw.get("always")),
    )


def read_entries(raw: Any) -> tuple[list[LoreEntry], list[str]]:
    """Return a builder's lore entries, and a sentence for each that is wrong."""
    entries: list[LoreEntry] = []
    troubles: list[str] = []
    for number, item in enumerate(raw or (), 1):
        try:
            entries.append(read_entry(item))
        except (ConfigError, TypeError, ValueError, AttributeError) as error:
            troubles.append(f"ai_lore, entry {number}: {error}")
    return entries, troubles


def by_builder(authors: Iterable[str]) -> Authors:
    """Return the authors of a text that any builder can change, with what a command stored."""
    return frozenset({BUILDER, *authors})


class WrittenRecords:
    """What builders wrote in the game, kept in memory until somebody writes."""

    _written: Any = None

    def read_again(self) -> None:
        """Read what was written at the next use, since another server may have written it."""
        self._written = None

    def _writing(self) -> Any:
        self.read_again()
        return brief_transaction()


class LoreRecords(WrittenRecords):
    """All lore of the game, kept in memory until somebody writes.

    ``fixed`` are the entries of each module's list ``LORE``. Raises ConfigError if one is wrong.
    """

    def __init__(self, modules: Iterable[str] = ()) -> None:
        fixed: list[LoreEntry] = []
        for path in modules:
            try:
                module = import_module(path)
            except ImportError as error:
                raise ConfigError(
                    f"The lore module '{path}' cannot be imported: {error}."
                ) from error
            fixed += map(read_entry, getattr(module, "LORE", ()))
        self.fixed = tuple(replace(entry, authors=frozenset({GAME})) for entry in fixed)

    def entries(self) -> tuple[LoreEntry, ...]:
        """Return every entry: those of the modules, then those written in the game."""
        if self._written is None:
            rows = models.Lore.objects.order_by("id")
            rows = rows.values_list("title", "text", "scopes", "authors", "keys", "always")
            self._written = tuple(
                LoreEntry(title, text, tuple(scopes), by_builder(authors), tuple(keys), always)
                for title, text, scopes, authors, keys, always in rows
            )
        return (*self.fixed, *self._written)

    def find(self, title: str) -> LoreEntry | None:
        """Return the entry with a title, in upper or lower case; None if there is none."""
        return next((e for e in self.entries() if e.title.lower() == title.lower()), None)

    def kept_elsewhere(self, title: str, dbref: str = "") -> str:
        """Return where a piece stands that only a file or a character has, "" for none.

        With ``dbref``, of all characters only this one's counts. One query.
        """
        wanted = title.lower()
        if any(entry.title.lower() == wanted for entry in self.fixed):
            return f"'{title}' comes from a module in LORE: change it in that module."
        rows = Attribute.objects.filter(db_key=OWN_LORE, objectdb__isnull=False)
        rows = rows.filter(objectdb=dbref.lstrip("#")) if dbref else rows
        for name, value in rows.values_list("objectdb__db_key", "db_value"):
            if any(entry.title.lower() == wanted for entry in read_entries(value)[0]):
                return (
                    f"'{title}' is {plain_name(name)}'s own, from its Attribute {OWN_LORE}: "
                    "change it where that is set, such as in a prototype or a batch file."
                )
        return ""

    def write(self, entry: LoreEntry) -> None:
        """Store an entry in place of the one with the same title; raises StoreUnavailable."""
        fields = asdict(entry) | {"authors": sorted(entry.authors)}
        with self._writing():
            models.Lore.objects.update_or_create(title__iexact=entry.title, defaults=fields)

    def remove(self, title: str) -> bool:
        """Delete an entry written in the game; returns True if it existed. Raises as `write`."""
        with self._writing():
            return bool(models.Lore.objects.filter(title__iexact=title).delete()[0])


class PersonaRecords(WrittenRecords):
    """Personas that characters share; those of the game override the settings."""

    def __init__(self, fixed: Mapping[str, Any]) -> None:
        self.fixed = {name.lower(): read_persona(value) for name, value in fixed.items()}

    def _stored(self) -> dict[str, tuple[Persona, Authors]]:
        if self._written is None:
            rows = models.SharedPersona.objects.order_by("name")
            self._written = {
                row.name: (read_persona(row.fields), by_builder(row.authors)) for row in rows
            }
        personas: dict[str, tuple[Persona, Authors]] = self._written
        return personas

    def all(self) -> dict[str, Persona]:
        """Return every shared persona by its name."""
        return {**self.fixed, **{name: persona for name, (persona, _) in self._stored().items()}}

    def authors_of(self, value: Any) -> Authors:
        """Return the authors of the shared persona in an Attribute's value, none without one."""
        name = shared_name(value)
        if name is None or name not in self.all():
            return frozenset()
        _persona, authors = self._stored().get(name, (None, frozenset({GAME})))
        return authors

    def resolve(self, value: Any) -> Persona:
        """Return an Attribute's value as a persona; raises ConfigError if it is unknown."""
        name = shared_name(value)
        if name is None:
            return read_persona(value)
        known = self.all()
        if name not in known:
            names = ", ".join(f"@{item}" for item in sorted(known)) or "none"
            raise ConfigError(f"There is no shared persona '@{name}'. There are: {names}.")
        return known[name]

    def write(self, name: str, persona: Persona, authors: Iterable[str] = ()) -> None:
        """Store a shared persona and its authors; raises StoreUnavailable."""
        fields = {"fields": stored_fields(persona), "authors": sorted(authors)}
        with self._writing():
            models.SharedPersona.objects.update_or_create(name=name.lower(), defaults=fields)

    def remove(self, name: str) -> bool:
        """Delete a persona written in the game; return True if it existed. Raises as `write`."""
        with self._writing():
            return bool(models.SharedPersona.objects.filter(name=name.lower()).delete()[0])

    def users(self, name: str) -> list[str]:
        """Return the dbrefs of the characters that share a persona. One query."""
        rows = Attribute.objects.filter(db_key="ai_persona", objectdb__isnull=False)
        objects = rows.order_by("objectdb__id").values_list("objectdb__id", "db_value")
        return [f"#{number}" for number, value in objects if shared_name(value) == name.lower()]


def shared_name(value: Any) -> str | None:
    """Return the name in an Attribute's value such as ``@guard``, None for a persona itself."""
    is_name = isinstance(value, str) and value.startswith("@")
    return value[1:].strip().lower() if is_name else None

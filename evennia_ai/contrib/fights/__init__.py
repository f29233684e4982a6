"""Fights: characters notice attacks, blows, death and flight."""

from importlib import import_module
from typing import Any

from evennia_ai.contrib.fights import fights
from evennia_ai.contrib.fights.fights import combat_event
from evennia_ai.extension import EntryReader, Extension, wrap

__all__ = ["EXTENSION", "combat_event"]


class FightsExtension(Extension):
    """Lets characters notice fights, and answer with their tools."""

    name = "fights"
    by_default = False
    entries = frozenset({"COMBAT"})

    def set_up(self, services: Any, settings: EntryReader) -> bool:
        for module, owner, method, around in settings.read("COMBAT", fights.read_systems, ()):
            kind = getattr(import_module(f"evennia.contrib.{module}"), owner)
            wrap(kind, method, around)
        return True


EXTENSION = FightsExtension

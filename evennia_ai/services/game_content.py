"""What a game provides for its assistants: tools, lore, personas and texts."""

from __future__ import annotations

from evennia_ai.game.perception import EvenniaPerception
from evennia_ai.game.settings import SettingReader
from evennia_ai.game.texts import check_texts
from evennia_ai.store.lore_records import LoreRecords, PersonaRecords
from evennia_ai.tools.registry import load_registry


class GameContent:
    """The tools, the lore, the personas and the characters' perception."""

    def __init__(self, settings: SettingReader) -> None:
        self.toolbox = settings.read("TOOLS", load_registry, ())
        self.lore = settings.read("LORE", LoreRecords, ())
        self.personas = settings.read("PERSONAS", PersonaRecords, {})
        self.world = EvenniaPerception(self.lore)
        settings.read("TEXTS", check_texts, {})

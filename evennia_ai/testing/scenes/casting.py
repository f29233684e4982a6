"""Who plays in a scene: what its file says, or one of the game's characters."""

from __future__ import annotations

from typing import Any

from django.db import DatabaseError
from evennia.objects.models import ObjectDB

from evennia_ai.assistant_character import add_assistant_mixin
from evennia_ai.errors import ConfigError
from evennia_ai.game.perception import EvenniaPerception
from evennia_ai.game.settings import game_setting
from evennia_ai.messages import Situation
from evennia_ai.policy.conversation.lore import LoreEntry, is_known
from evennia_ai.policy.conversation.persona import read_persona
from evennia_ai.policy.scenes.format import Scene
from evennia_ai.store.attributes import SCRIPT_KEY, read_attribute
from evennia_ai.store.lore_records import LoreRecords, PersonaRecords
from evennia_ai.testing.scenes.stage import Cast


def cast_of(scene: Scene) -> Cast:
    """Return who plays; raises ConfigError if the game has no such character."""
    if scene.character:
        return from_game(scene)
    lore = tuple(LoreEntry(entry.title, entry.text) for entry in scene.lore)
    return Cast(scene.name, read_persona(scene.persona), lore, situation_of(scene, Situation()), {})


def situation_of(scene: Scene, otherwise: Situation) -> Situation:
    """Return what the character sees: the scene's place, or another if the scene has none."""
    place = scene.place
    if place is None:
        return otherwise
    return Situation(place=place.name, **place.model_dump(exclude={"name"}))


def from_game(scene: Scene) -> Cast:
    """Return a character of the game as it is now; the scene's own entries come first."""
    character = find_character(scene.character)
    world = EvenniaPerception(LoreRecords(game_setting("LORE", ())))
    personas = PersonaRecords(game_setting("PERSONAS", {}))
    written = scene.persona or read_attribute(character, "ai_persona")
    entries, labels = world.lore(character, frozenset())
    own = [LoreEntry(entry.title, entry.text) for entry in scene.lore]
    known = [LoreEntry(e.title, e.text) for e in entries if is_known(e, labels)]
    script = character.scripts.get(SCRIPT_KEY)[0]
    here = world.situation(character) if character.location else Situation()
    return Cast(
        scene.name or str(character.key),
        personas.resolve(written),
        (*own, *known),
        situation_of(scene, here),
        script.own_settings(),
    )


def find_character(name: str) -> Any:
    """Return the character of the game with an assistant; raises ConfigError."""
    try:
        found = list(ObjectDB.objects.filter(db_key__iexact=name, scriptdb__db_key=SCRIPT_KEY))
    except DatabaseError as error:
        raise ConfigError(f"The game's database cannot be read: {error}.") from error
    if len(found) != 1:
        raise ConfigError(
            f"The game has {len(found)} characters '{name}' with an assistant; there must be one. "
            "A scene may give 'name' and 'persona' instead of 'character'."
        )
    add_assistant_mixin(found[0])
    return found[0]

"""Walk after a leader who has left the room."""

from __future__ import annotations

from typing import Any

from evennia_ai.ports import Character
from evennia_ai.store.attributes import read_attribute


def follow_leader(character: Character, leader: Any) -> None:
    """Move the character after its leader, through an exit that it may traverse.

    Called when somebody has left the room. Does nothing if the character does not follow them, or
    if no exit leads to where they are.
    """
    if read_attribute(character, "ai_following") != leader.dbref or character.location is None:
        return
    for exit_obj in character.location.exits:
        if exit_obj.destination is leader.location and exit_obj.access(character, "traverse"):
            exit_obj.at_traverse(character, exit_obj.destination)
            return

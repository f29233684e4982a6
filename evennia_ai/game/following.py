"""Walk after a leader who has left the room."""

from __future__ import annotations

from typing import Any

from evennia_ai.ports import Character
from evennia_ai.store.attributes import read_attribute


def follow_leader(character: Character, leader: Any) -> None:
    """Go after the one it follows, through an exit that its feet may pass.

    Called when the leader has left the place; does nothing where no such exit is.
    """
    if read_attribute(character, "ai_following") != leader.dbref or character.location is None:
        return
    for exit_obj in character.location.exits:
        if exit_obj.destination is leader.location and exit_obj.access(character, "traverse"):
            exit_obj.at_traverse(character, exit_obj.destination)
            return

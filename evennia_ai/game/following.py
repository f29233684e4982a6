"""Whom a character follows, and how that ends: by words, by a command, or by losing sight."""

from __future__ import annotations

from typing import Any

from evennia.objects.models import ObjectDB

from evennia_ai.game.client_text import clean_output
from evennia_ai.game.perception import display_name
from evennia_ai.game.texts import text
from evennia_ai.ports import Character
from evennia_ai.store.attributes import read_attribute, write_attribute

FOLLOWING = "ai_following"


def leader_id(character: Any) -> str:
    """Return the dbref of whom a character follows, "" for nobody."""
    return str(read_attribute(character, FOLLOWING) or "")


def follow(character: Any, leader: Any | None) -> None:
    """Let a character follow somebody from now on, nobody for None; raises StoreUnavailable."""
    write_attribute(character, FOLLOWING, leader.dbref if leader else None)


def followers_of(leader: Any) -> list[Any]:
    """Return the characters that follow somebody, wherever they are."""
    found = ObjectDB.objects.filter(db_attributes__db_key=FOLLOWING).distinct().order_by("id")
    return [one for one in found if leader_id(one) == leader.dbref]


def shake_off(character: Any, leader: Any) -> bool:
    """End that a character follows somebody, and tell them; returns False if it did not."""
    if leader_id(character) != leader.dbref:
        return False
    follow(character, None)
    leader.msg(text("follows_no_more", name=clean_output(display_name(character, leader))))
    return True


def follow_leader(character: Character, leader: Any) -> None:
    """Move a character after its leader, who has left, through an exit that it may traverse.

    If there is none, the character has lost sight of its leader and follows no longer.
    """
    if leader_id(character) != leader.dbref or character.location is None:
        return
    for exit_obj in character.location.exits:
        if exit_obj.destination is leader.location and exit_obj.access(character, "traverse"):
            exit_obj.at_traverse(character, exit_obj.destination)
            return
    follow(character, None)

"""The line that tells a player once what such characters are."""

from __future__ import annotations

from typing import Any

from evennia_ai.errors import StoreUnavailable
from evennia_ai.game.client_text import clean_output
from evennia_ai.game.perception import display_name
from evennia_ai.game.texts import text
from evennia_ai.ports import Character
from evennia_ai.store.attributes import read_attribute, write_attribute


def introduce(character: Character, player: Any) -> None:
    """Tell a player what the character is, before they first talk to or hear any assistant."""
    if not player.has_account or read_attribute(player, "ai_introduced"):
        return
    try:
        write_attribute(player, "ai_introduced", True)
    except StoreUnavailable:
        return  # their next line tries again
    line = text("first_meeting", name=clean_output(display_name(character, player)))
    if line:
        player.msg(line)

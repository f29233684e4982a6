"""The former place of `Trade`, which games import from here until the next release."""

from evennia_ai.game.wares import Trade

__all__ = ["Trade"]

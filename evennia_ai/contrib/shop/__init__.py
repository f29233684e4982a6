"""A shop: characters tell prices, sell and buy."""

from collections.abc import Iterable
from typing import Any

from evennia_ai.contrib.shop.trade import buy, prices, sell
from evennia_ai.extension import Extension, Tool
from evennia_ai.game.help_entries import HELP_CATEGORY
from evennia_ai.game.texts import text
from evennia_ai.game.wares import Trade

__all__ = ["EXTENSION", "Trade"]


class ShopExtension(Extension):
    """Lets whoever carries a thing with a price trade; each customer confirms."""

    name = "shop"
    by_default = False

    def set_up(self, services: Any, settings: Any) -> bool:
        """Add the page ``help shop`` to Evennia's help."""
        from evennia.help.filehelp import FILE_HELP_ENTRIES, FileHelpEntry  # reads our settings

        category = HELP_CATEGORY.lower()  # as Evennia keeps it
        entry = FileHelpEntry("shop", ["buy", "coins"], category, text("help_shop"), "")
        if "shop" not in FILE_HELP_ENTRIES.help_entries_dict:  # else it is the game's own
            FILE_HELP_ENTRIES.help_entries_dict["shop"] = entry
            FILE_HELP_ENTRIES.help_entries.append(entry)
        return True

    def tools(self) -> Iterable[Tool]:
        return (prices, sell, buy)


EXTENSION = ShopExtension

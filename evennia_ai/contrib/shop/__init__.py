"""A shop: characters tell prices, sell and buy."""

from collections.abc import Iterable

from evennia_ai.contrib.shop.trade import buy, prices, sell
from evennia_ai.extension import Extension, Tool
from evennia_ai.game.wares import Trade

__all__ = ["EXTENSION", "Trade"]


class ShopExtension(Extension):
    """Lets whoever carries a thing with a price trade; each customer confirms."""

    name = "shop"
    by_default = False

    def tools(self) -> Iterable[Tool]:
        return (prices, sell, buy)


EXTENSION = ShopExtension

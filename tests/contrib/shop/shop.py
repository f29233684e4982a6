"""A shop: a keeper who trades, an ale for three coins, a customer with seven."""

from evennia_ai.contrib.shop import trade


def open_shop(game, keeper, customer):
    """Add the tools of trade, give both people coins and the keeper an ale, and return it."""
    for tool in (trade.prices, trade.sell, trade.buy):
        game.service.toolbox.add(tool)
    ale = game.thing("ale", keeper)
    ale.db.price = 3
    keeper.db.coins, customer.db.coins = 10, 7
    return ale

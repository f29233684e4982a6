"""What things cost in a shop, and whether a thing has a price."""

from typing import Any, cast

from evennia.utils.utils import class_from_module

from evennia_ai.errors import NothingDone
from evennia_ai.game.perception import find_objects
from evennia_ai.game.settings import game_setting
from evennia_ai.ports import ToolContext


class Trade:
    """What things cost, in whole coins. Override what your game does in another way.

    ``money`` and ``value`` are the Attributes of a person's coins and of a thing's price. A price
    of None means no. ``customer`` is None if several people speak to the keeper, or nobody does.
    """

    money, value = "coins", "price"

    def price(self, keeper: Any, item: Any, customer: Any) -> int | None:
        """Return what a thing of the keeper costs a customer."""
        return cast("int | None", item.attributes.get(self.value))

    def offer(self, keeper: Any, item: Any, customer: Any) -> int | None:
        """Return what the keeper pays for a thing of a customer: half of its price."""
        price = self.price(keeper, item, customer)
        return None if price is None else price // 2

    def purse(self, person: Any) -> int | None:
        """Return how much money a person has; None if that is not known here."""
        return cast("int | None", person.attributes.get(self.money))

    def pay(self, payer: Any, receiver: Any, amount: int) -> None:
        """Move money, in Attributes; raises NothingDone. Called in a transaction."""
        left = payer.attributes.get(self.money, 0) - amount
        if left < 0:
            raise NothingDone(f"{payer.key} does not have {self.words(amount)}.")
        payer.attributes.add(self.money, left)
        receiver.attributes.add(self.money, receiver.attributes.get(self.money, 0) + amount)

    def words(self, amount: int) -> str:
        return f"{amount} coin{'s' * (amount != 1)}"


def trade_of(keeper: Any) -> Trade:
    """Return how a shopkeeper trades; raises NothingDone if the setting ``TRADE`` is wrong."""
    try:
        path = game_setting("TRADE", "evennia_ai.tools.trade.Trade")
        return cast(Trade, getattr(keeper, "ai_trade", None) or class_from_module(path)())
    except (ImportError, TypeError) as error:
        raise NothingDone(f"AI_ASSISTANT['TRADE'] is wrong: {error}") from error


def has_price(context: ToolContext, item: Any) -> bool:
    """Return True if a thing of the character has a price, for anybody or for who speaks."""
    keeper, trade = context.character, trade_of(context.character)
    customers = (None, *find_objects(context.speakers))
    return any(trade.price(keeper, item, customer) is not None for customer in customers)

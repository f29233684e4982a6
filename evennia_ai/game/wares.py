"""Wares: what a character's things cost, and that they leave it by a sale only.

A thing with a price moves away from a character that may sell only by a tool that takes the price
(`Tool.sells`); where no such tool is offered, not at all, and the log says so once.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, cast

from evennia.utils.utils import class_from_module
from twisted.logger import Logger

from evennia_ai.errors import NothingDone
from evennia_ai.game.perception import display_name, find_objects, name_in_act
from evennia_ai.game.settings import game_setting
from evennia_ai.game.texts import TEXTS
from evennia_ai.ports import ToolContext

log = Logger()
NO_SALES = "{name} keeps what has a price, and cannot sell it: EXTENSIONS lacks 'shop'."
UNSOLD = set[str]()  # names of keepers whose lack of a tool that sells the log has told


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
        """Return how much money a person has; None if that is not known here.

        That is so without the Attribute if the class has its own `pay`.
        """
        none = 0 if type(self).pay is Trade.pay else None
        return cast("int | None", person.attributes.get(self.money, none))

    def pay(self, payer: Any, receiver: Any, amount: int) -> None:
        """Move money, in Attributes; raises NothingDone. Called in a transaction."""
        left = payer.attributes.get(self.money, 0) - amount
        if left < 0:
            raise NothingDone(TEXTS["cannot_pay"].format(name=payer.key, price=self.words(amount)))
        payer.attributes.add(self.money, left)
        receiver.attributes.add(self.money, receiver.attributes.get(self.money, 0) + amount)

    def words(self, amount: int) -> str:
        return f"{amount} coin{'s' * (amount != 1)}"


def trade_of(keeper: Any) -> Trade:
    """Return how a shopkeeper trades; raises NothingDone if the setting ``TRADE`` is wrong."""
    try:
        path = game_setting("TRADE", f"{__name__}.Trade")
        return cast(Trade, getattr(keeper, "ai_trade", None) or class_from_module(path)())
    except (ImportError, TypeError) as error:
        raise NothingDone(f"AI_ASSISTANT['TRADE'] is wrong: {error}") from error


def goods_of(keeper: Any, customer: Any) -> dict[str, int]:
    """Return what a shopkeeper's things cost, by their names."""
    trade = trade_of(keeper)
    prices = {item: trade.price(keeper, item, customer) for item in keeper.contents}
    return {display_name(i, keeper): price for i, price in prices.items() if price is not None}


def price_list(keeper: Any, goods: Mapping[str, int]) -> str:
    """Return goods with their prices for the shopkeeper; None has the game's way of trading."""
    price_lines = (f"{name}: {trade_of(keeper).words(price)}" for name, price in goods.items())
    return "; ".join(price_lines) or "You have nothing to sell."


def ensure_agreed(trade: Trade, price: int | None, agreed: int) -> None:
    """Raise NothingDone unless a price is the one that people agreed to."""
    if price is None:
        raise NothingDone(TEXTS["cannot_sell"])
    if price != agreed:
        now, then = trade.words(price), trade.words(agreed)
        raise NothingDone(TEXTS["cannot_agree"].format(price=now, offer=then))


def has_price(context: ToolContext, item: Any) -> bool:
    """Return True if a thing of the character has a price, for anybody or for who speaks."""
    keeper, trade = context.character, trade_of(context.character)
    customers = (None, *find_objects(context.speakers))
    return any(trade.price(keeper, item, customer) is not None for customer in customers)


@dataclass
class Keeping:
    """What one tool call may move away from a keeper.

    ``is_ware`` tells whether a thing has a price; ``sells`` is True for a tool that takes the
    price: it may move a ware, but none within another thing. ``sales`` are the names of such
    tools. ``refusal`` names the ware that was kept, "" if none was.
    """

    keeper: Any
    is_ware: Callable[[Any], bool]
    sells: bool
    sales: Sequence[str]
    refusal: str = ""

    def lets_go(self, thing: Any, destination: Any) -> bool:
        """Return True if a thing may leave the keeper for a place; note why not."""
        if self.keeper in places_of(destination):
            return True
        leaving = [*things_within(thing), *([] if self.sells else [thing])]
        ware = next(filter(self.is_ware, leaving), None)
        if ware is not None:
            how = f": use `{self.sales[0]}`" if self.sales else ", and you have no tool that sells"
            self.refusal = f"{name_in_act(ware, self.keeper)} has a price{how}."
            if not self.sales and self.keeper.key not in UNSOLD:
                UNSOLD.add(self.keeper.key)
                log.warn(NO_SALES, name=self.keeper.key)
        return ware is None


# The call of a tool that runs; a copy goes along with what a tool does later (`inlineCallbacks`).
KEEPING: ContextVar[Keeping | None] = ContextVar("evennia_ai_keeping", default=None)


def lets_go(keeper: Any, thing: Any, destination: Any) -> bool:
    """Return True unless the keeper's own mind moves a ware away from it."""
    keeping = KEEPING.get()
    if keeping is None or keeping.keeper is not keeper:
        return True
    return keeping.lets_go(thing, destination)


def places_of(thing: Any) -> Iterator[Any]:
    """Yield a thing and everything that it is in."""
    while thing is not None:
        yield thing
        thing = thing.location


def things_within(thing: Any) -> Iterator[Any]:
    """Yield everything in a thing, however deep."""
    for inner in thing.contents:
        yield inner
        yield from things_within(inner)

"""Tools of a shop: prices, selling and buying. A game adds them by name to ``TOOLS``.

A `Trade` says what things cost and moves the money. The game's own, a subclass, is named in
``AI_ASSISTANT["TRADE"]``, or is the ``ai_trade`` of the shopkeeper's typeclass.
"""

from typing import Any

from pydantic import BaseModel, Field

from evennia_ai.errors import NothingDone
from evennia_ai.game.perception import (
    asked_for,
    display_name,
    find_named,
    find_objects,
    name_in_act,
)
from evennia_ai.policy.conversation.react import ONCE
from evennia_ai.ports import ToolContext
from evennia_ai.store.brief_transaction import brief_transaction
from evennia_ai.tools.base import tool
from evennia_ai.tools.permission import only_speaker
from evennia_ai.tools.prices import SELL, Trade, trade_of
from evennia_ai.tools.world import carried, moved, show


def keeps_shop(context: ToolContext) -> bool:
    """Return True if the character has a trade of its own, or carries a thing with a price."""
    keeper = context.character
    return hasattr(keeper, "ai_trade") or any(
        trade_of(keeper).price(keeper, item, None) is not None for item in keeper.contents
    )


class PriceArguments(BaseModel):
    """A thing that a customer would sell."""

    offered: str = Field("", description="a thing the customer would sell you; empty for none")


class DealArguments(BaseModel):
    """A thing and its price."""

    item: str
    price: int = Field(ge=0, description="as `prices` says")


@tool("prices", world=False, safe_to_retry=True, needed=keeps_shop)
def prices(context: ToolContext, arguments: PriceArguments) -> str:
    """Look up what your goods cost, or what you would pay for a thing of your customer."""
    keeper, people = context.character, find_objects(context.speakers)
    trade, customer = trade_of(keeper), people[0] if len(people) == 1 else None
    if arguments.offered:
        item = find_named(arguments.offered, customer.contents if customer else (), keeper)
        price = None if item is None else trade.offer(keeper, item, customer)
        return "You do not buy that." if price is None else f"You pay {trade.words(price)}."
    goods = [(item, trade.price(keeper, item, customer)) for item in keeper.contents]
    told = [
        f"{display_name(item, keeper)}: {trade.words(price)}"
        for item, price in goods
        if price is not None
    ]
    return "; ".join(told) or "You have nothing to sell."


@tool(SELL, category=ONCE, answers_only=True, needed=keeps_shop)
def sell(context: ToolContext, arguments: DealArguments) -> str:
    """Sell a thing of yours to the person who asks for it and pays its price."""
    keeper, customer = context.character, only_speaker(context)
    trade, item = trade_of(keeper), carried(keeper, arguments.item)
    agree(trade, trade.price(keeper, item, customer), arguments.price)
    exchange(trade, item, keeper, customer, arguments.price)
    who = name_in_act(customer, keeper)
    return f"You sold {name_in_act(item, keeper)} to {who} for {trade.words(arguments.price)}."


@tool("buy", category=ONCE, answers_only=True, needed=keeps_shop)
def buy(context: ToolContext, arguments: DealArguments) -> str:
    """Buy a thing from the person who offers it, for what you pay for such a thing."""
    keeper, customer = context.character, only_speaker(context)
    trade, item = trade_of(keeper), find_named(arguments.item, customer.contents, keeper)
    if item is None:
        raise NothingDone(f"They carry no {asked_for(arguments.item)}.")
    agree(trade, trade.offer(keeper, item, customer), arguments.price)
    exchange(trade, item, customer, keeper, arguments.price)
    who = name_in_act(customer, keeper)
    return f"You bought {name_in_act(item, keeper)} from {who} for {trade.words(arguments.price)}."


def agree(trade: Trade, price: int | None, agreed: int) -> None:
    """Raise NothingDone unless a price is the one that people agreed to."""
    if price is None:
        raise NothingDone("That is not for sale.")
    if price != agreed:
        raise NothingDone(f"The price is {trade.words(price)}, not {trade.words(agreed)}.")


def exchange(trade: Trade, item: Any, seller: Any, buyer: Any, price: int) -> None:
    """Move a thing and its price in one transaction: after a crash both have moved, or neither.

    Raises NothingDone, and StoreUnavailable.
    """
    if seller.location is not buyer.location or not item.at_pre_give(seller, buyer):
        raise NothingDone("That cannot change hands.")
    try:
        with brief_transaction():
            trade.pay(buyer, seller, price)
            hand_over(item, buyer)
    except BaseException:  # Evennia also caches what is rolled back
        item.db_location = seller
        for one in (seller, buyer):
            for attribute in one.attributes.all():
                attribute.flush_from_cache(force=True)
            one.attributes.reset_cache()
            one.contents_cache.init()
        raise
    item.at_give(seller, buyer)
    show(seller, "gives", item=item, receiver=buyer)


def hand_over(item: Any, buyer: Any) -> None:
    """Move a thing; raises NothingDone if it does not move."""
    if not moved(item, buyer, "trade"):
        raise NothingDone("It cannot be moved.")

"""Tools of a shop: prices, selling and buying."""

from functools import partial
from typing import Any

from pydantic import BaseModel, Field

from evennia_ai.errors import NothingDone
from evennia_ai.extension import tool
from evennia_ai.game.client_text import clean_output
from evennia_ai.game.perception import (
    asked_for,
    display_name,
    find_named,
    find_objects,
    name_in_act,
)
from evennia_ai.game.texts import TEXTS, text
from evennia_ai.game.wares import Trade, ensure_agreed, goods_of, price_list, trade_of
from evennia_ai.policy.conversation.tool_call_rules import ONCE
from evennia_ai.ports import ToolContext
from evennia_ai.store.attributes import all_or_nothing
from evennia_ai.store.names import plain_name
from evennia_ai.tools.permission import only_speaker
from evennia_ai.tools.world import WithArticle, moved, named_thing, show


def keeps_shop(context: ToolContext) -> bool:
    """Return True if the character has a trade of its own, or carries a thing with a price."""
    keeper = context.character
    return hasattr(keeper, "ai_trade") or bool(goods_of(keeper, None))


class PriceArguments(BaseModel):
    """A thing that a customer would sell."""

    offered: str = Field("", description="a thing the customer would sell you; empty for none")


class DealArguments(BaseModel):
    """A thing and its price."""

    item: str
    price: int = Field(ge=0, description="as `prices` says")


@tool("prices", world=False, reads=True, safe_to_retry=True, needed=keeps_shop)
def prices(context: ToolContext, arguments: PriceArguments) -> str:
    """Look up what your goods cost, or what you would pay for a thing of your customer."""
    keeper, people = context.character, find_objects(context.askers)
    trade, customer = trade_of(keeper), people[0] if len(people) == 1 else None
    if arguments.offered:
        item = find_named(arguments.offered, customer.contents if customer else (), keeper)
        price = None if item is None else trade.offer(keeper, item, customer)
        return "You do not buy that." if price is None else f"You pay {trade.words(price)}."
    return price_list(keeper, goods_of(keeper, customer))


def deal(context: ToolContext, arguments: DealArguments, sells: bool) -> tuple[Trade, Any, Any]:
    """Return trade, thing and customer of a deal at its price; raises NothingDone."""
    keeper, customer = context.character, only_speaker(context)
    item, now = as_it_is(context, arguments, sells)
    trade = trade_of(keeper)
    ensure_agreed(trade, now.price, arguments.price)
    payer = customer if sells else keeper
    purse = trade.purse(payer)
    if purse is not None and purse < arguments.price:
        raise NothingDone(f"{payer.key} does not have {trade.words(arguments.price)}.")
    return trade, item, customer


def as_it_is(
    context: ToolContext, arguments: DealArguments, sells: bool
) -> tuple[Any, DealArguments]:
    """Return the thing of a deal, and the deal at its present price; raises NothingDone."""
    keeper, customer = context.character, only_speaker(context)
    trade, owner = trade_of(keeper), keeper if sells else customer
    item = named_thing(context, arguments.item, owner.contents)
    if item is None:
        who = "You" if sells else "They"
        raise NothingDone(f"{who} carry no {asked_for(arguments.item)}.")
    price = (trade.price if sells else trade.offer)(keeper, item, customer)
    if price is None:
        raise NothingDone("That is not for sale.")
    return item, arguments.model_copy(update={"price": price})


def ask_customer(context: ToolContext, arguments: DealArguments, sells: bool) -> str:
    """Return the question whether a customer agrees to a deal; raises NothingDone."""
    trade, item, customer = deal(context, arguments, sells)
    key, keeper = "offers_to_sell" if sells else "offers_to_buy", context.character
    shown = WithArticle(item) if text(key) == TEXTS[key] else item  # Evennia's are English
    thing = shown.get_display_name(customer)
    price, who = trade.words(arguments.price), display_name(keeper, customer)
    return text(key, name=who, item=plain_name(thing), price=price) + purse_words(trade, customer)


def purse_words(trade: Trade, person: Any) -> str:
    coins = trade.purse(person)
    return "" if coins is None else f" {text('you_have', coins=trade.words(coins))}"


def close(context: ToolContext, arguments: DealArguments, sells: bool) -> tuple[str, str, str]:
    """Do a deal, tell the customer what was paid, and return thing, customer and price in words."""
    trade, item, customer = deal(context, arguments, sells)
    keeper = context.character
    seller, buyer = (keeper, customer) if sells else (customer, keeper)
    exchange(trade, item, seller, buyer, arguments.price)
    price, who = trade.words(arguments.price), display_name(keeper, customer)
    paid = text("you_pay" if sells else "you_are_paid", name=who, price=price)
    customer.msg(clean_output(paid + purse_words(trade, customer)))
    return name_in_act(item, keeper), name_in_act(customer, keeper), price


def deals(sells: bool) -> dict[str, Any]:
    """Return the options that both tools of a deal have."""
    options = {"question": partial(ask_customer, sells=sells)}
    seen = {"subject": partial(as_it_is, sells=sells), "needed": keeps_shop}
    return {"category": ONCE, "answers_only": True, **options, **seen}


@tool("sell", sells=True, **deals(sells=True))
def sell(context: ToolContext, arguments: DealArguments) -> str:
    """Sell a thing of yours to the person who asks for it and pays its price."""
    return "You sold {} to {} for {}.".format(*close(context, arguments, sells=True))


@tool("buy", **deals(sells=False))
def buy(context: ToolContext, arguments: DealArguments) -> str:
    """Buy a thing from the person who offers it, for what you pay for such a thing."""
    return "You bought {} from {} for {}.".format(*close(context, arguments, sells=False))


def exchange(trade: Trade, item: Any, seller: Any, buyer: Any, price: int) -> None:
    """Move a thing and its price in one transaction; raises NothingDone and StoreUnavailable."""
    if seller.location is not buyer.location or not item.at_pre_give(seller, buyer):
        raise NothingDone("That cannot change hands.")
    with all_or_nothing(item, seller, buyer):
        trade.pay(buyer, seller, price)
        if not moved(item, buyer, "trade"):
            raise NothingDone("It cannot be moved.")
    item.at_give(seller, buyer)
    show(seller, "gives", item=item, receiver=buyer)

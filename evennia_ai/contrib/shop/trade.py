"""Tools of a shop: prices, selling and buying."""

from collections.abc import Sequence
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
from evennia_ai.ports import ToolContext, ToolResult
from evennia_ai.store.attributes import all_or_nothing
from evennia_ai.store.names import plain_name
from evennia_ai.tools.permission import only_speaker
from evennia_ai.tools.world import WithArticle, moved, named_thing, show
from evennia_ai.turn.tool_executor import DONE


def keeps_shop(context: ToolContext) -> bool:
    """Return True if the character has a trade of its own, or carries a thing with a price."""
    keeper = context.character
    return hasattr(keeper, "ai_trade") or bool(goods_of(keeper, None))


def has_wares(context: ToolContext) -> bool:
    """Return True if the character keeps a shop, or a thing with a price lies where it is."""
    return keeps_shop(context) or bool(lying_wares(context.character))


class PriceArguments(BaseModel):
    """A thing that a customer would sell."""

    offered: str = Field("", description="a thing the customer would sell you; empty for none")


class DealArguments(BaseModel):
    """A thing, or several with commas between their names, and the price of all of it."""

    item: str = Field(description="a thing's name; of several things a name for each: pipe, rope")
    price: int = Field(ge=0, description="as `prices` says; of several things the sum")


@tool("prices", world=False, reads=True, safe_to_retry=True, needed=has_wares)
def prices(context: ToolContext, arguments: PriceArguments) -> str:
    """Look up what your goods cost, or what you would pay for a thing of your customer."""
    keeper, people = context.character, find_objects(context.askers)
    trade, customer = trade_of(keeper), people[0] if len(people) == 1 else None
    if arguments.offered:
        item = find_named(arguments.offered, customer.contents if customer else (), keeper)
        price = None if item is None else trade.offer(keeper, item, customer)
        return "You do not buy that." if price is None else f"You pay {trade.words(price)}."
    lying = [(item, trade.price(keeper, item, customer)) for item in lying_wares(keeper)]
    goods = {display_name(item, keeper): price for item, price in lying if price is not None}
    return price_list(keeper, {**goods, **goods_of(keeper, customer)})


def lying_wares(keeper: Any) -> list[Any]:
    """Return the things with a price that lie where the keeper is, and that it may take."""
    trade, here = trade_of(keeper), keeper.location.contents if keeper.location else ()
    priced = (thing for thing in here if trade.price(keeper, thing, None) is not None)
    return [thing for thing in priced if thing.access(keeper, "get")]


def deal(
    context: ToolContext, arguments: DealArguments, sells: bool
) -> tuple[Trade, list[Any], Any]:
    """Return trade, things and customer of a deal at its price; raises NothingDone."""
    keeper, customer = context.character, only_speaker(context)
    items, now = things_now(context, arguments, sells)
    trade = trade_of(keeper)
    ensure_agreed(trade, now.price, arguments.price)
    payer = customer if sells else keeper
    purse = trade.purse(payer)
    if purse is not None and purse < arguments.price:
        who = name_in_act(payer, keeper if sells else customer)
        price = trade.words(arguments.price)
        raise NothingDone(TEXTS["cannot_pay"].format(name=who, price=price))
    return trade, items, customer


def things_now(
    context: ToolContext, arguments: DealArguments, sells: bool
) -> tuple[list[Any], DealArguments]:
    """Return the things of a deal, and the deal at its present price; raises NothingDone."""
    keeper, customer = context.character, only_speaker(context)
    trade, owner = trade_of(keeper), keeper if sells else customer
    left = [*owner.contents, *(lying_wares(keeper) if sells else ())]
    is_one = named_thing(context, arguments.item, left) is not None
    items, total = list[Any](), 0
    for name in [arguments.item] if is_one else arguments.item.split(","):
        item = named_thing(context, name.strip(), left)
        if item is None:
            key = "cannot_offer_more" if items else "cannot_offer"
            who = name_in_act(owner, customer if sells else keeper)
            raise NothingDone(TEXTS[key].format(name=who, item=asked_for(name.strip())))
        price = (trade.price if sells else trade.offer)(keeper, item, customer)
        if price is None:
            raise NothingDone(TEXTS["cannot_sell"])
        left.remove(item)
        items.append(item)
        total += price
    return items, arguments.model_copy(update={"price": total})


def as_it_is(
    context: ToolContext, arguments: DealArguments, sells: bool
) -> tuple[Any, DealArguments]:
    """Return the first thing of a deal, and the deal at its present price; raises NothingDone."""
    (item, *_), now = things_now(context, arguments, sells)
    return item, now


def ask_customer(context: ToolContext, arguments: DealArguments, sells: bool) -> str:
    """Return the question whether a customer agrees to a deal; raises NothingDone."""
    trade, items, customer = deal(context, arguments, sells)
    key, keeper = "offers_to_sell" if sells else "offers_to_buy", context.character
    shown = map(WithArticle, items) if text(key) == TEXTS[key] else items  # Evennia's are English
    things = ", ".join(plain_name(thing.get_display_name(customer)) for thing in shown)
    price, who = trade.words(arguments.price), display_name(keeper, customer)
    return text(key, name=who, item=things, price=price) + purse_words(trade, customer)


def purse_words(trade: Trade, person: Any) -> str:
    coins = trade.purse(person)
    return "" if coins is None else f" {text('you_have', coins=trade.words(coins))}"


def close(context: ToolContext, arguments: DealArguments, sells: bool, done: str) -> ToolResult:
    """Do a deal, tell the customer what was paid, and return what was ``done``, with its words."""
    trade, items, customer = deal(context, arguments, sells)
    keeper = context.character
    seller, buyer = (keeper, customer) if sells else (customer, keeper)
    exchange(trade, items, seller, buyer, arguments.price)
    price, who = trade.words(arguments.price), display_name(keeper, customer)
    paid = text("you_pay" if sells else "you_are_paid", name=who, price=price)
    customer.msg(clean_output(paid + purse_words(trade, customer)))
    things = ", ".join(name_in_act(item, keeper) for item in items)
    return ToolResult(DONE, done.format(things, name_in_act(customer, keeper), price), told=True)


def deals(sells: bool) -> dict[str, Any]:
    """Return the options that both tools of a deal have."""
    options = {"question": partial(ask_customer, sells=sells)}
    needed = has_wares if sells else keeps_shop
    seen = {"subject": partial(as_it_is, sells=sells), "needed": needed}
    return {"category": ONCE, "answers_only": True, **options, **seen}


@tool("sell", sells=True, **deals(sells=True))
def sell(context: ToolContext, arguments: DealArguments) -> ToolResult:
    """Sell things of yours, or that lie here for sale, to the person who asks and pays for them."""
    return close(context, arguments, True, "You sold {} to {} for {}.")


@tool("buy", **deals(sells=False))
def buy(context: ToolContext, arguments: DealArguments) -> ToolResult:
    """Buy a thing from the person who offers it, for what you pay for such a thing."""
    return close(context, arguments, False, "You bought {} from {} for {}.")


def exchange(trade: Trade, items: Sequence[Any], seller: Any, buyer: Any, price: int) -> None:
    """Move things and their price in one transaction; raises NothingDone and StoreUnavailable."""
    may = all(item.at_pre_give(seller, buyer) for item in items)
    if seller.location is not buyer.location or not may:
        raise NothingDone(TEXTS["cannot_trade"])
    with all_or_nothing(*items, seller, buyer, seller.location):
        trade.pay(buyer, seller, price)
        for item in items:
            if not moved(item, buyer, "trade"):
                raise NothingDone(TEXTS["cannot_trade"])
    for item in items:
        item.at_give(seller, buyer)
        show(seller, "gives", item=item, receiver=buyer)

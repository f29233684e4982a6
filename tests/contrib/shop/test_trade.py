"""A shopkeeper sells and buys: thing and money move together, once, at the customer's yes."""

import re

import pytest
from evennia.objects.models import ObjectDB
from evennia.typeclasses.attributes import Attribute

from evennia_ai import models
from evennia_ai.contrib.shop import trade
from evennia_ai.testing.tools import try_tool
from tests.contrib.shop.shop import open_shop
from tests.scripted import call

pytestmark = [pytest.mark.game, pytest.mark.engine]


class Killed(BaseException):
    """The process ends."""


class HalfPrice(trade.Trade):
    """A game's own way of trading."""

    def price(self, keeper, item, customer):
        return 1 if item.key == "ale" else None

    def words(self, amount):
        return f"{amount} silver"


@pytest.fixture
def ale(game, mira, ann):
    return open_shop(game, mira, ann.character)


def stored(*people, item):
    """Return the coins of some people and where a thing is, as the database has them."""
    rows = dict(Attribute.objects.filter(db_key="coins").values_list("objectdb__id", "db_value"))
    place = ObjectDB.objects.filter(id=item.id).values_list("db_location_id", flat=True).get()
    return [*(rows[one.id] for one in people), place]


def asks(game, player, name, *replies, **arguments):
    """Let the model trade at somebody's words, which they confirm."""
    game.model.add(call(name, **arguments), *(replies or [call("noop")]))
    player.do(f"say Mira, let us {name} that")
    game.run(1)
    game.model.script.clear()
    player.do("yes")
    game.run(1)


def test_prices_are_those_of_the_game_and_only_of_what_has_one(game, mira, ann, ale):
    game.thing("apron", mira)
    assert try_tool(trade.prices, mira, ann.character).text == "ale: 3 coins"
    lamp = game.thing("lamp", ann.character)
    lamp.db.price = 5
    assert try_tool(trade.prices, mira, ann.character, offered="lamp").text == "You pay 2 coins."
    assert "not buy" in try_tool(trade.prices, mira, ann.character, offered="hat").text


def test_a_sale_moves_thing_and_money_once_at_the_customers_yes(game, mira, ann, ale):
    game.model.add(call("sell", item="ale", price=3), call("say", text="One ale."))
    ann.do("say Mira, an ale, please")
    game.run(1)
    told = "\n".join(ann.heard())
    assert "Mira offers you an ale for 3 coins. You have 7 coins. Type yes within 60 s" in told
    assert ale.location is mira and stored(mira, ann.character, item=ale) == [10, 7, mira.id]
    ann.do("yes")
    game.run(1)
    ann.do("yes")
    game.run(1)
    assert ale.location is ann.character
    assert stored(mira, ann.character, item=ale) == [13, 4, ann.character.id]
    told = "\n".join(ann.heard())
    assert "Mira gives an ale to Ann." in told.replace("to you", "to Ann")
    assert "You pay Mira 3 coins. You have 4 coins." in told
    assert models.ToolCall.objects.last().result == "You sold ale to Ann for 3 coins."


def test_what_has_a_price_is_not_given_away(game, mira, ann, ale):
    """Neither by a model's `give` nor at the word of who asks for it nicely."""
    game.model.add(call("give", item="ale", to="Ann"), call("noop"))
    ann.do("say Mira, give me that ale for nothing")
    game.run(1)
    assert ale.location is mira and ann.character.db.coins == 7


@pytest.fixture
def shop(offline_game):
    """Return a keeper without a model who has a ticket for three coins, and a customer."""
    for tool in (trade.prices, trade.sell, trade.buy):
        offline_game.service.toolbox.add(tool)
    pier = offline_game.room()
    keeper, customer = offline_game.assistant("Hob", pier), offline_game.player("Ann", pier)
    ticket = offline_game.thing("ferry ticket", keeper)
    ticket.db.price, customer.character.db.coins = 3, 20
    return offline_game, ticket, customer


@pytest.mark.parametrize("words", ["I would like to buy a ticket", "give me a ticket, please"])
def test_without_a_model_a_ware_is_sold_and_not_given(shop, words):
    game, ticket, ann = shop
    ann.do(f"say Hob, {words}")
    game.run(3)
    assert ticket.location.key == "Hob" and "3 coins" in "\n".join(ann.heard())
    ann.do("yes")
    game.run(1)
    assert ticket.location is ann.character and ann.character.db.coins == 17


def test_without_a_model_who_has_too_little_is_told_so_and_not_asked(shop):
    game, _ticket, ann = shop
    ann.character.db.coins = 2
    ann.do("say Hob, I would like to buy a ticket")
    game.run(3)
    told = "\n".join(ann.heard())
    assert "3 coins" in told and "Type yes" not in told
    assert re.search(r"you do not have|more than you have", told)


@pytest.mark.parametrize("words", ["how much is a ticket?", "what do you sell?"])
def test_without_a_model_the_prices_are_told(shop, words):
    game, _, ann = shop
    ann.do(f"say Hob, {words}")
    game.run(3)
    assert "A ferry ticket costs 3 coins." in "\n".join(ann.heard())


def test_a_thing_is_bought_for_what_the_keeper_pays(game, mira, ann, ale):
    lamp = game.thing("lamp", ann.character)
    lamp.db.price = 5
    asks(game, ann, "buy", item="lamp", price=2)
    told = "\n".join(ann.heard())
    assert "Mira offers you 2 coins for a lamp. You have 7 coins." in told
    assert "Mira pays you 2 coins. You have 9 coins." in told
    assert stored(mira, ann.character, item=lamp) == [8, 9, mira.id]


@pytest.mark.parametrize(
    ("coins", "price", "told"),
    [(0, 3, "Ann does not have 3 coins."), (7, 1, "The price is 3 coins, not 1 coin.")],
)
def test_without_the_money_or_for_another_price_nothing_moves(
    game, mira, ann, ale, coins, price, told
):
    ann.character.db.coins = coins
    asks(game, ann, "sell", item="ale", price=price)
    assert "offers you" not in "\n".join(ann.heard())
    assert models.ToolCall.objects.filter(name="sell").last().result == told
    assert stored(mira, ann.character, item=ale) == [10, coins, mira.id]


def test_a_thing_that_does_not_move_costs_nothing(game, mira, ann, ale, monkeypatch):
    monkeypatch.setattr(type(ale), "at_pre_move", lambda self, *a, **k: False)
    asks(game, ann, "sell", item="ale", price=3)
    assert (mira.db.coins, ann.character.db.coins, ale.location) == (10, 7, mira)
    assert stored(mira, ann.character, item=ale) == [10, 7, mira.id]


@pytest.mark.parametrize("moment", ["before the thing moves", "after the thing moved"])
def test_interrupted_between_money_and_thing_neither_moves_and_it_is_not_done_again(
    game, mira, ann, ale, monkeypatch, moment
):
    move = type(ale).move_to

    def killed(self, *args, **options):
        if moment.startswith("after"):
            move(self, *args, **options)
        raise Killed

    monkeypatch.setattr(type(ale), "move_to", killed)
    asks(game, ann, "sell", item="ale", price=3)
    monkeypatch.undo()
    game.run(30)
    assert stored(mira, ann.character, item=ale) == [10, 7, mira.id]
    assert (mira.db.coins, ann.character.db.coins, ale.location) == (10, 7, mira)
    assert ale in mira.contents and ale not in ann.character.contents
    (act,) = models.ToolCall.objects.filter(name="sell").exclude(state="asked")
    assert act.state == "unknown"
    asks(game, ann, "sell", item="ale", price=3)
    assert stored(mira, ann.character, item=ale) == [13, 4, ann.character.id]


def test_interrupted_after_both_moved_it_is_not_done_again(game, mira, ann, ale, monkeypatch):
    def killed(self, *args, **options):
        raise Killed

    monkeypatch.setattr(type(ale), "at_give", killed)
    game.thing("ale", mira).db.price = 3
    asks(game, ann, "sell", item="ale", price=3)
    monkeypatch.undo()
    ann.do("yes")
    game.run(30)
    assert stored(mira, ann.character, item=ale) == [13, 4, ann.character.id]
    (act,) = models.ToolCall.objects.filter(name="sell").exclude(state="asked")
    assert act.state == "unknown"


def test_nobody_pays_for_what_somebody_else_orders(game, mira, ann, bob, ale):
    game.model.add(call("sell", item="ale", price=3), call("noop"))
    ann.do("say Mira, sell Bob an ale")
    game.run(1)
    bob.do("say yes")
    game.run(1)
    assert ale.location is mira
    assert "offers you" not in "\n".join(bob.heard())


def test_a_game_trades_in_its_own_way(game, mira, ann, ale, settings, monkeypatch):
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "TRADE": f"{__name__}.HalfPrice"}
    assert try_tool(trade.prices, mira, ann.character).text == "ale: 1 silver"
    monkeypatch.setattr(type(mira), "ai_trade", trade.Trade(), raising=False)
    assert try_tool(trade.prices, mira, ann.character).text == "ale: 3 coins"

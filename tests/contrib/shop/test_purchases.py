"""Purchases from a shopkeeper without a model, as players make them."""

import pytest

from evennia_ai.contrib.shop.trade import buy, prices, sell
from tests.short_form import short_form

pytestmark = [pytest.mark.game, pytest.mark.engine]


class Shop:
    """A keeper with a pipe, a lantern and a rope, and two customers with ten coins each."""

    def __init__(self, game):
        for item in (prices, sell, buy):
            game.service.toolbox.add(item)
        self.game, self.pier = game, game.room()
        self.keeper = game.assistant("Hob", self.pier)
        self.ann, self.bob = game.player("Ann", self.pier), game.player("Bob", self.pier)
        self.pipe = self.ware("clay pipe", 4, self.keeper)
        self.lantern = self.ware("lantern", 6, self.keeper)
        self.rope = self.ware("coil of rope", 2, self.keeper)
        for person in (self.ann.character, self.bob.character, self.keeper):
            person.db.coins = 10

    def ware(self, name, price, place):
        thing = self.game.thing(name, place)
        thing.db.price = price
        return thing

    def hears(self, player, *lines):
        """Return what a player hears of some commands."""
        before = len(player.heard())
        for line in lines:
            player.do(line)
            self.game.run(3)
        return "\n".join(player.heard()[before:])


@pytest.fixture
def shop(offline_game):
    return Shop(offline_game)


PURCHASES = (
    ("Hob, I would like to buy the pipe", "pipe", 4),
    ("Hob, the rope please", "rope", 2),
    ("Hob, sell me the lantern", "lantern", 6),
    ("Hob, can I have the clay pipe?", "pipe", 4),
    ("Hob, give me the rope for one coin", "rope", 2),
)


@pytest.mark.parametrize(
    ("ask", "name", "price", "small_talk"),
    short_form([
        (*bought, small_talk)
        for small_talk in [(), ("say Ann, it rains again", "say I hate rain, Ann")]
        for bought in PURCHASES
    ], 3),
)  # fmt: skip
def test_a_thing_is_bought_also_behind_small_talk_of_others(shop, ask, name, price, small_talk):
    for line in small_talk:
        shop.bob.do(line)
    thing = getattr(shop, name)
    shop.hears(shop.ann, f"say {ask}")
    assert thing.location is shop.keeper
    assert f"You pay Hob {price} coins" in shop.hears(shop.ann, "yes")
    assert thing.location is shop.ann.character and shop.ann.character.db.coins == 10 - price


def test_a_thing_that_lies_here_is_sold(shop):
    lamp = shop.ware("brass lamp", 5, shop.pier)
    assert "Here is" not in shop.hears(shop.ann, "say Hob, give me the brass lamp")
    assert lamp.location is shop.pier
    shop.hears(shop.ann, "yes")
    assert lamp.location is shop.ann.character and shop.ann.character.db.coins == 5


@pytest.mark.parametrize(
    "line", ["what do you sell?", "show me your wares", "what are your prices?"]
)
def test_all_wares_are_named_with_their_prices(shop, line):
    heard = shop.hears(shop.ann, f"say Hob, {line}")
    for ware in ("clay pipe (4 coins)", "lantern (6 coins)", "coil of rope (2 coins)"):
        assert ware in heard


def test_two_who_ask_at_once_are_asked_to_come_one_by_one(shop):
    shop.bob.do("say Hob, I would like the pipe")
    heard = shop.hears(shop.ann, "say Hob, sell me the pipe")
    assert "ne after the other" in heard or "Not all at once" in heard
    assert "cannot sell" not in heard
    shop.hears(shop.bob, "say Hob, I would like the pipe", "yes")
    assert shop.pipe.location is shop.bob.character


@pytest.mark.parametrize("line", ["will you buy this cup?", "I want to sell my cup"])
def test_it_buys_what_has_a_price_and_says_so_of_what_has_none(shop, line):
    cup = shop.game.thing("cup", shop.ann.character)
    heard = shop.hears(shop.ann, f"say Hob, {line}")
    assert "not buy" in heard and "Type yes" not in heard
    cup.db.price = 6
    assert "Hob offers you 3 coins for a cup" in shop.hears(shop.ann, f"say Hob, {line}")
    shop.hears(shop.ann, "yes")
    assert cup.location is shop.keeper and shop.ann.character.db.coins == 13


def test_several_wares_are_asked_for_and_sold_at_once(shop):
    heard = shop.hears(shop.ann, "say Hob, the pipe and the rope please")
    assert "for 6 coins" in heard and heard.count("Type yes") == 1
    shop.hears(shop.ann, "yes")
    assert shop.pipe.location is shop.rope.location is shop.ann.character
    assert shop.ann.character.db.coins == 4 and shop.keeper.db.coins == 16


def test_of_wares_that_one_name_fits_each_is_told_and_none_is_sold(shop):
    shop.ware("brass pipe", 5, shop.keeper)
    heard = shop.hears(shop.ann, "say Hob, a pipe please")
    assert "4 coins" in heard and "5 coins" in heard and "Type yes" not in heard


def test_a_ware_on_the_floor_is_told_with_its_price_and_sold(shop):
    lamp = shop.ware("brass lamp", 3, shop.pier)
    assert "3 coins" in shop.hears(shop.ann, "say Hob, how much is the lamp on the floor?")
    shop.hears(shop.ann, "say Hob, I'll take it", "yes")
    assert lamp.location is shop.ann.character and shop.ann.character.db.coins == 7


def test_without_the_shop_a_thing_with_a_price_is_not_given_away(offline_game, monkeypatch):
    pier, logged = offline_game.room(), []
    monkeypatch.setattr("evennia_ai.game.wares.log.warn", lambda text, **_: logged.append(text))
    keeper, ann = offline_game.assistant("Gerd", pier), offline_game.player("Ann", pier)
    lantern, apple = offline_game.thing("lantern", keeper), offline_game.thing("apple", keeper)
    lantern.db.price = 6
    for line in ("give me the lantern", "give me the lantern, please", "give me the apple"):
        ann.do(f"say Gerd, {line}")
        offline_game.run(3)
    assert lantern.location is keeper and apple.location is ann.character
    assert len(logged) == 1 and "'shop'" in logged[0]


@pytest.mark.parametrize(("line", "coins"), [("two apples", 4), ("2 aples and a rope plz", 6)])
def test_a_line_that_only_lists_wares_orders_them(shop, line, coins):
    for _ in range(2):
        shop.ware("apple", 2, shop.keeper)
    assert f"for {coins} coins" in shop.hears(shop.ann, f"say Hob, {line}")


def test_a_price_is_told_to_whoever_asks_each_time(shop):
    for player in (shop.ann, shop.bob, shop.bob, shop.ann, shop.ann):
        assert "4 coins" in shop.hears(player, "say Hob, what does the pipe cost?")
        assert "lantern (6 coins)" in shop.hears(player, "say Hob, what do you sell?")
    for _ in range(2):
        shop.hears(shop.bob, "say Hob, the price of the rope please?")
        assert "2 coins" in shop.bob.last(), shop.bob.last()

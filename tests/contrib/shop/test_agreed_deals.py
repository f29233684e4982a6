"""A yes is for one thing at one price, and the stand-in tells of no gift that it did not make."""

import re

import pytest

from evennia_ai import models
from evennia_ai.contrib.shop.trade import buy, prices, sell
from tests.contrib.shop.shop import open_shop
from tests.scripted import call

pytestmark = [pytest.mark.game, pytest.mark.engine]


@pytest.fixture
def ale(game, mira, ann):
    return open_shop(game, mira, ann.character)


def asked_for(game, player, name="sell", **arguments):
    game.model.add(call(name, **arguments), call("noop"))
    player.do(f"say Mira, {name} that")
    game.run(1)
    game.model.script.clear()


def agrees(game, player):
    before = len(player.heard())
    player.do("yes")
    game.run(2)
    return "\n".join(player.heard()[before:])


def test_the_thing_that_a_person_agreed_to_is_the_thing_that_is_sold(game, mira, ann, ale):
    other = game.thing("ale", mira)
    other.db.price = 3
    asked_for(game, ann, item="ale", price=3)
    (act,) = models.PendingAct.objects.all()
    assert act.item == ale.dbref
    mira.contents_cache.remove(ale)
    mira.contents_cache.add(ale)  # now the other one is found first
    agrees(game, ann)
    assert ale.location is ann.character and other.location is mira


def test_another_thing_of_that_name_is_asked_for_anew(game, mira, ann, bob, ale):
    asked_for(game, ann, item="ale", price=3)
    ale.move_to(bob.character, quiet=True)
    other = game.thing("ale", mira)
    other.db.price = 3
    told = agrees(game, ann)
    assert "Mira offers you an ale for 3 coins" in told and "could not" not in told
    assert other.location is mira and ann.character.db.coins == 7
    assert [act.item for act in models.PendingAct.objects.order_by("id")] == [
        ale.dbref, other.dbref]  # fmt: skip
    agrees(game, ann)
    assert other.location is ann.character and ann.character.db.coins == 4


@pytest.mark.parametrize("price", [2, 5])
def test_another_price_is_asked_for_anew(game, mira, ann, ale, price):
    asked_for(game, ann, item="ale", price=3)
    ale.db.price = price
    told = agrees(game, ann)
    assert f"Mira offers you an ale for {price} coins" in told
    assert ale.location is mira and ann.character.db.coins == 7
    agrees(game, ann)
    assert ale.location is ann.character and ann.character.db.coins == 7 - price


def test_what_is_sold_no_more_is_not_asked_for(game, mira, ann, ale):
    asked_for(game, ann, item="ale", price=3)
    ale.db.price = None
    assert "offers you" not in agrees(game, ann)
    assert ale.location is mira and ann.character.db.coins == 7


def test_a_thing_of_the_customer_is_bought_as_it_was_shown(game, mira, ann, ale):
    lamp, other = game.thing("lamp", ann.character), game.thing("lamp", ann.character)
    lamp.db.price, other.db.price = 6, 4
    asked_for(game, ann, "buy", item="lamp", price=3)
    lamp.move_to(mira.location, quiet=True)
    told = agrees(game, ann)
    assert "Mira offers you 2 coins for a lamp" in told
    assert other.location is ann.character


def test_what_is_not_there_is_not_asked_for(game, mira, ann, ale):
    asked_for(game, ann, item="wine", price=1)
    assert not models.PendingAct.objects.exists()


def test_a_box_with_a_ware_in_it_is_not_sold(game, mira, ann, ale):
    box = game.thing("box", mira)
    box.db.price, ale.location = 5, box
    asked_for(game, ann, item="box", price=5)
    agrees(game, ann)
    assert box.location is mira and ann.character.db.coins == 7


@pytest.mark.parametrize("words", ["drop the ale", "put the ale down", "give Bob the ale"])
def test_without_a_model_it_does_not_tell_of_what_it_did_not_do(offline_game, words):
    for item in (prices, sell, buy):
        offline_game.service.toolbox.add(item)
    pier = offline_game.room()
    keeper, ann = offline_game.assistant("Hob", pier), offline_game.player("Ann", pier)
    offline_game.player("Bob", pier)
    ale = offline_game.thing("ale", keeper)
    ale.db.price = 3
    ann.do(f"say Hob, {words}")
    offline_game.run(3)
    told = ann.last()
    assert ale.location is keeper and told.startswith("Hob says")
    assert not re.search(r"have put|lies here|[Hh]ere is|[Tt]here you are|gave", told)

"""Twenty purchases as players make them, from the stand-in and from a hasty model.

The model tells of the deed in the reply that asks for it: "Here is the lantern."
"""

import pytest

from evennia_ai import models
from tests.contrib.shop.test_purchases import Shop
from tests.game.conftest import Game, gateway_to
from tests.scripted import call

pytestmark = [pytest.mark.game, pytest.mark.engine]
CLAIMS = ("here is the", "there you are", "is yours now", "gives", "i thank you for the coins")


class Deal:
    """A shop at which people say lines; ``model`` is None for the stand-in."""

    def __init__(self, game, model):
        self.shop, self.model = Shop(game), model
        self.cid = game.player("Cid", self.shop.pier)
        self.crown = self.shop.ware("silver crown", 40, self.shop.keeper)
        self.lamp = self.shop.ware("brass lamp", 5, self.shop.pier)
        self.people = {"ann": self.shop.ann, "bob": self.shop.bob, "cid": self.cid}

    def say(self, who, line, *calls):
        """Let somebody type a line, which a model answers with calls, and return what they hear."""
        if self.model:
            self.model.script = [(call("say", text="Here is the thing."), *calls)] if calls else []
            self.model.script += [call("say", text=f"Well, {number}.") for number in range(4)]
        return self.shop.hears(self.people[who], line)

    def overhear(self, who, line):
        self.people[who].do(line)

    def coins(self, who):
        return self.people[who].character.db.coins


@pytest.fixture(params=["stand-in", "model"])
def deal(request, service, model):
    if request.param == "stand-in":
        pytest.importorskip("evennia_ai.contrib.stand_in", reason="the stand-in is left out")
        return Deal(Game(service, None), None)
    service.gateway = gateway_to(model, service.clock)
    return Deal(Game(service, model), model)


def sold(thing, price):
    return call("sell", item=thing.key, price=price)


def unclaimed(heard):
    """Return True if nobody told of a deed."""
    return not any(claim in heard.lower() for claim in CLAIMS)


def buys(deal, line, thing, price, *calls, who="ann"):
    """Let somebody buy a thing by a line, and check each step."""
    before, keeper = deal.coins(who), deal.shop.keeper
    heard = deal.say(who, line, *calls, sold(thing, price))
    assert f"{price} coin" in heard and "Type yes" in heard and unclaimed(heard), heard
    assert thing.location in (keeper, deal.shop.pier) and deal.coins(who) == before
    heard = deal.say(who, "yes")
    assert heard.index("gives") < heard.index("You pay Hob")
    assert thing.location is deal.people[who].character and deal.coins(who) == before - price
    assert keeper.db.coins >= 10 + price


SMALL_TALK = (
    ("bob", "say Cid, it rains again"),
    ("cid", "say I hate rain"),
    ("bob", "emote sighs"),
)


@pytest.mark.parametrize(
    ("before", "line", "name", "price"),
    [
        ((), "say Hob, I would like to buy the pipe", "pipe", 4),
        (SMALL_TALK, "say Hob, I would like to buy the pipe", "pipe", 4),
        ((("bob", "say Cid, that lantern is fine"),), "say Hob, sell me the lantern", "lantern", 6),
        ((), "say Hob, could I have the rope, please?", "rope", 2),
        ((), "say Hob, buy lantern", "lantern", 6),
        (SMALL_TALK[:2], "say hob, 1 rope pls", "rope", 2),
        ((), "say Hob, I'll take the lantern.", "lantern", 6),
        ((), "say Hob, would you sell me the lantern for 3 coins?", "lantern", 6),
        ((), "whisper Hob = I would like to buy the lantern", "lantern", 6),
    ],
)
def test_one_who_asks_gets_the_thing_at_its_price(deal, before, line, name, price):
    for who, words in before:
        deal.overhear(who, words)
    buys(deal, line, getattr(deal.shop, name), price)


def test_one_whom_others_were_answered_before_buys(deal):
    deal.say("bob", "say Hob, how are you?")
    buys(deal, "say Hob, the lantern please", deal.shop.lantern, 6)


def test_who_asked_the_price_first_takes_it(deal):
    if deal.model is None:
        assert "6 coins" in deal.say("ann", "say Hob, how much is the lantern?")
    buys(deal, "say Hob, I'll take the lantern then", deal.shop.lantern, 6)


@pytest.mark.parametrize(
    "line", ["say Hob, give me the brass lamp", "say Hob, I want to buy the brass lamp"]
)
def test_a_dropped_ware_is_picked_up_and_sold(deal, line):
    buys(deal, line, deal.lamp, 5, call("get", item="brass lamp"))


def test_who_has_too_little_is_told_so_and_asked_nothing(deal):
    heard = deal.say("ann", "say Hob, I want the crown", sold(deal.crown, 40))
    assert "Type yes" not in heard and unclaimed(heard) and "Hob says" in heard
    assert deal.crown.location is deal.shop.keeper and deal.coins("ann") == 10


def test_a_price_that_is_haggled_over_stays(deal):
    heard = deal.say(
        "ann", "say Hob, I'll give you two coins for the pipe", sold(deal.shop.pipe, 2)
    )
    assert "Type yes" not in heard and unclaimed(heard) and "Hob says" in heard
    assert not models.PendingAct.objects.exists()
    buys(deal, "say Hob, the pipe please", deal.shop.pipe, 4)


def test_of_two_who_were_asked_the_first_yes_counts(deal):
    deal.say("ann", "say Hob, sell me the pipe", sold(deal.shop.pipe, 4))
    buys(deal, "say Hob, sell me the pipe", deal.shop.pipe, 4, who="bob")
    heard = deal.say("ann", "yes")
    assert "You pay" not in heard and deal.coins("ann") == 10
    assert deal.shop.pipe.location is deal.shop.bob.character


def test_of_two_who_ask_at_once_nobody_pays_and_each_buys_alone(deal):
    deal.overhear("bob", "say Hob, I would like the pipe")
    heard = deal.say("ann", "say Hob, sell me the rope", sold(deal.shop.rope, 2))
    assert "Type yes" not in heard and unclaimed(heard)
    buys(deal, "say Hob, sell me the rope", deal.shop.rope, 2)
    buys(deal, "say Hob, sell me the pipe", deal.shop.pipe, 4, who="bob")


def test_who_said_no_may_change_their_mind(deal):
    deal.say("ann", "say Hob, the pipe please", sold(deal.shop.pipe, 4))
    assert "You pay" not in deal.say("ann", "no") and deal.coins("ann") == 10
    buys(deal, "say Hob, I want the pipe after all", deal.shop.pipe, 4)


def test_of_two_alike_each_customer_gets_one(deal):
    other = deal.shop.ware("clay pipe", 4, deal.shop.keeper)
    for who in ("ann", "bob"):
        deal.say(who, "say Hob, sell me a clay pipe", sold(other, 4))
        deal.say(who, "yes")
        (pipe,) = [item for item in deal.people[who].character.contents if "pipe" in item.key]
        assert pipe in (other, deal.shop.pipe) and deal.coins(who) == 6


@pytest.mark.parametrize(
    "line", ["say Hob, would you buy my gem?", "say Hob, how much would you give me for my gem?"]
)
def test_the_keeper_pays_for_what_a_builder_priced(deal, line):
    gem = deal.shop.ware("gem", 6, deal.shop.ann.character)
    heard = deal.say("ann", line, call("buy", item="gem", price=3))
    assert "Hob offers you 3 coins for a gem" in heard and unclaimed(heard)
    deal.say("ann", "yes")
    assert gem.location is deal.shop.keeper and deal.coins("ann") == 13


def test_all_of_a_long_list_of_wares_has_a_price(deal):
    for number in range(9):
        deal.shop.ware(f"hat{number}", 10 + number, deal.shop.keeper)
    if deal.model is None:
        heard = deal.say("ann", "say Hob, what do you sell?")
        assert heard.count(" coins)") == 12 and "hat0 (10 coins)" in heard

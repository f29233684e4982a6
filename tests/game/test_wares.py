"""What a shopkeeper sells leaves it by a sale only, and a yes is for one thing at one price."""

import re
from dataclasses import replace

import pytest
from evennia.contrib.game_systems.containers.containers import ContribContainer
from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai import models
from evennia_ai.ports import ToolContext
from evennia_ai.scheduling import Coroutine
from evennia_ai.tools import trade
from evennia_ai.tools.base import NoArguments, tool
from evennia_ai.tools.world import give
from tests.game.conftest import new_object
from tests.game.shop import open_shop
from tests.scripted import call

pytestmark = pytest.mark.engine


@pytest.fixture
def ale(game, mira, ann):
    return open_shop(game, mira, ann.character)


def chest(game, place, key="chest"):
    return new_object(f"{ContribContainer.__module__}.{ContribContainer.__name__}", key=key,
                      location=place)  # fmt: skip


def acts(game, player, *calls):
    """Let the model call tools at somebody's words; return what the last call told it."""
    game.model.add(*calls, call("noop"))
    player.do("say Mira, do it")
    game.run(2)
    game.model.script.clear()
    return models.ToolCall.objects.exclude(name="noop").order_by("id").last().result


def hand(context: ToolContext, thing, **options) -> str:
    """Hand a thing to whoever is near, as a game's own tool may."""
    (receiver,) = (one for one in context.character.location.contents if one.key == "Ann")
    thing.move_to(receiver, quiet=True, **options)
    return "You gave it."


@pytest.mark.parametrize(
    ("name", "more"), [("give", {"to": "Ann"}), ("drop", {}), ("put", {"into": "shelf"})]
)
def test_a_ware_leaves_by_no_other_tool_than_a_sale(game, mira, ann, ale, name, more):
    chest(game, mira.location, "shelf")
    told = acts(game, ann, call(name, item="ale", **more))
    assert ale.location is mira
    assert told == "ale has a price: use `sell`."


@pytest.mark.parametrize("holds_deep", [False, True])
def test_nor_in_something_that_holds_it(game, mira, ann, ale, holds_deep):
    box = chest(game, mira)
    ale.location = chest(game, box, "case") if holds_deep else box
    for name, more in (("give", {"to": "Ann"}), ("drop", {})):
        assert "ale has a price" in acts(game, ann, call(name, item="chest", **more))
        assert box.location is mira
    box.db.price = 5
    acts(game, ann, call("sell", item="chest", price=5))
    ann.do("yes")
    game.run(2)
    assert box.location is mira and ann.character.db.coins == 7


def test_a_ware_stays_with_its_keeper_in_a_chest_of_the_keeper(game, mira, ann, ale):
    box = chest(game, mira)
    assert acts(game, ann, call("put", item="ale", into="chest")) == "You put ale in chest."
    assert ale.location is box


def test_what_has_no_price_leaves(game, mira, ann, ale):
    game.thing("apron", mira)
    assert acts(game, ann, call("drop", item="apron")) == "You dropped apron."
    ale.db.price = None
    assert acts(game, ann, call("give", item="ale", to="Ann")).startswith("You gave ale")


def test_a_price_of_nothing_is_a_price(game, mira, ann, ale):
    ale.db.price = 0
    acts(game, ann, call("give", item="ale", to="Ann"))
    assert ale.location is mira


class ForAnn(trade.Trade):
    """Names a price to a customer only."""

    def price(self, keeper, item, customer):
        return 3 if customer else None


def test_a_price_that_only_a_customer_hears_is_a_price(game, mira, ann, ale, monkeypatch):
    monkeypatch.setattr(type(mira), "ai_trade", ForAnn(), raising=False)
    acts(game, ann, call("drop", item="ale"))
    assert ale.location is mira


class Broken(trade.Trade):
    """Raises."""

    def price(self, keeper, item, customer):
        raise KeyError("no such price")


def test_where_the_price_is_not_known_nothing_leaves(game, mira, ann, ale, monkeypatch):
    monkeypatch.setattr(type(mira), "ai_trade", Broken(), raising=False)
    acts(game, ann, call("drop", item="ale"))
    assert ale.location is mira


def test_a_new_talk_that_was_offered_no_sale_gives_nothing_away(game, mira, ann, ale):
    """As the offer begins anew after sleep."""
    game.model.add(call("drop", item="ale"), call("noop"))
    ale.db.price = None
    ann.do("say Mira, drop it")
    ale.db.price = 3
    game.run(2)
    assert ale.location is mira


def own_tool(name, ale, run):
    @tool(name)
    def own(context: ToolContext, arguments: NoArguments) -> object:
        """Do what this game does."""
        return run(context, ale)

    return own


@inlineCallbacks
def later(context, thing) -> Coroutine[str]:
    yield WAITED[-1]
    return hand(context, thing)


WAITED = []


@pytest.mark.parametrize("run", [hand, later])
def test_a_games_own_tool_moves_no_ware_either_at_once_or_later(game, mira, ann, ale, run):
    WAITED.append(Deferred())
    game.service.toolbox.add(own_tool("own", ale, run))
    game.model.add(call("own"), call("noop"))
    ann.do("say Mira, do it")
    game.run(1)
    WAITED.pop().callback(None)
    game.run(1)
    assert ale.location is mira
    told = models.ToolCall.objects.get(name="own").result
    assert told == "You gave it. But ale has a price: use `sell`."


def test_a_games_own_sale_may(game, mira, ann, ale):
    @tool("barter", sells=True)
    def barter(context: ToolContext, arguments: NoArguments) -> str:
        """Take something else for it."""
        return hand(context, ale)

    game.service.toolbox.add(barter)
    assert acts(game, ann, call("barter")) == "You gave it."
    assert ale.location is ann.character


def test_what_people_and_the_game_move_is_theirs(game, mira, ann, ale):
    assert ale.move_to(ann.character, quiet=True)
    assert ale.move_to(mira, quiet=True)


def test_a_keeper_without_the_tool_that_sells_has_no_wares(game, mira, ann):
    lamp = game.thing("lamp", mira)
    lamp.db.price = 3
    acts(game, ann, call("drop", item="lamp"))
    assert lamp.location is mira.location


def test_a_keeper_walks_out_with_its_wares(game, mira, ann, ale):
    street = game.room("Street")
    new_object("evennia.objects.objects.DefaultExit", key="out", location=mira.location,
               destination=street)  # fmt: skip
    acts(game, ann, call("move", to="out"))
    assert mira.location is street and ale.location is mira


@pytest.mark.parametrize("words", ["drop the ale", "put the ale down", "give Bob the ale"])
def test_without_a_model_it_does_not_tell_of_what_it_did_not_do(offline_game, words):
    for item in (trade.prices, trade.sell, trade.buy):
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


# --- a yes is for one thing -----------------------------------------------------------------------


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


def test_an_approved_gift_is_the_thing_that_the_staff_saw(game, mira, ann, admin):
    game.service.toolbox.add(replace(give, approval="perm(Admin)"))
    hat = game.thing("hat", mira)
    game.model.add(call("give", item="hat", to="Ann"), call("noop"))
    ann.do("say Mira, a hat, please")
    game.run(1)
    game.model.script.clear()
    hat.move_to(mira.location, quiet=True)
    better = game.thing("hat", mira)
    act = models.PendingAct.objects.get()
    admin.told(f"aiapprove/yes {act.id}")
    game.run(2)
    assert better.location is mira
    waiting = models.PendingAct.objects.get(state="waiting")
    admin.told(f"aiapprove/yes {waiting.id}")
    game.run(2)
    assert better.location is ann.character


def test_what_is_not_there_is_not_asked_for(game, mira, ann, ale):
    asked_for(game, ann, item="wine", price=1)
    assert not models.PendingAct.objects.exists()

"""What has a price leaves its keeper by a sale only."""

import pytest
from evennia.contrib.game_systems.containers.containers import ContribContainer
from pydantic import BaseModel
from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai import models
from evennia_ai.game.wares import Trade
from evennia_ai.ports import ToolContext
from evennia_ai.scheduling import Coroutine
from evennia_ai.tools.base import NoArguments, tool
from tests.game.players import new_object
from tests.scripted import call

pytestmark = pytest.mark.engine


class BarterArguments(BaseModel):
    item: str = "ale"


@tool("barter", sells=True)
def barter(context: ToolContext, arguments: BarterArguments) -> str:
    """Take something else for a thing."""
    (thing,) = (item for item in context.character.contents if item.key == arguments.item)
    return hand(context, thing)


@pytest.fixture
def ale(game, mira, ann):
    """A thing with a price of a keeper who has a tool that sells."""
    game.service.toolbox.add(barter)
    ale = game.thing("ale", mira)
    ale.db.price = 3
    return ale


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
    assert told == "ale has a price: use `barter`."


@pytest.mark.parametrize("holds_deep", [False, True])
def test_nor_in_something_that_holds_it(game, mira, ann, ale, holds_deep):
    box = chest(game, mira)
    ale.location = chest(game, box, "case") if holds_deep else box
    for name, more in (("give", {"to": "Ann"}), ("drop", {})):
        assert "ale has a price" in acts(game, ann, call(name, item="chest", **more))
        assert box.location is mira
    box.db.price = 5
    acts(game, ann, call("barter", item="chest"))
    assert box.location is mira


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


class ForAnn(Trade):
    """Names a price to a customer only."""

    def price(self, keeper, item, customer):
        return 3 if customer else None


def test_a_price_that_only_a_customer_hears_is_a_price(game, mira, ann, ale, monkeypatch):
    monkeypatch.setattr(type(mira), "ai_trade", ForAnn(), raising=False)
    acts(game, ann, call("drop", item="ale"))
    assert ale.location is mira


class Broken(Trade):
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
    assert told == "You gave it. But ale has a price: use `barter`."


def test_a_sale_may(game, mira, ann, ale):
    assert acts(game, ann, call("barter")) == "You gave it."
    assert ale.location is ann.character


def test_what_people_and_the_game_move_is_theirs(game, mira, ann, ale):
    assert ale.move_to(ann.character, quiet=True)
    assert ale.move_to(mira, quiet=True)


def test_a_keeper_without_the_tool_that_sells_keeps_what_has_a_price(game, mira, ann):
    lamp = game.thing("lamp", mira)
    lamp.db.price = 3
    acts(game, ann, call("drop", item="lamp"))
    assert lamp.location is mira


def test_a_keeper_walks_out_with_its_wares(game, mira, ann, ale):
    street = game.room("Street")
    new_object("evennia.objects.objects.DefaultExit", key="out", location=mira.location,
               destination=street)  # fmt: skip
    acts(game, ann, call("move", to="out"))
    assert mira.location is street and ale.location is mira

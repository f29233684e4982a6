"""What a new shopkeeper and their customers read: the list, what is gone, coins, and the help."""

from importlib.util import find_spec

import pytest

from evennia_ai import models
from evennia_ai.contrib import shop as extension
from evennia_ai.llm.gateway import ModelGateway
from evennia_ai.memory import embedders
from evennia_ai.policy.limits.retry import GatewayLimits
from tests.contrib.shop.test_purchases import Shop

pytestmark = [pytest.mark.game, pytest.mark.engine]
SELLER = "You are Hob, who sells lamps and lanterns."


@pytest.fixture
def shop(offline_game):
    """Return a shop whose keeper carries a lantern alone, and says of itself that it sells."""
    made = Shop(offline_game)
    made.keeper.db.ai_persona = SELLER
    for thing in (made.pipe, made.rope):
        thing.location = None
    return made


def compare_by_meaning(shop):
    if find_spec("onnxruntime"):  # an extra
        shop.game.service.memory.embedder = embedders.default()


def test_who_asks_for_the_goods_hears_them_whatever_the_persona_says(shop):
    lines = (
        "what do you sell?",
        "What do you have for sale, Hob?",
        "show me your wares",
        "what can I buy here?",
        "What's for sale?",
        "what are you selling?",
    )
    for line in (*lines, *lines, "", *lines):
        if not line:
            compare_by_meaning(shop)
            continue
        for player in (shop.ann, shop.bob):
            heard = shop.hears(player, f"say Hob, {line}")
            assert "lantern" in heard and "6 coins" in heard, (line, heard)
            assert "who sells" not in heard, (line, heard)
    shop.ware("lamp", 8, shop.keeper)
    heard = shop.hears(shop.bob, "say Hob, what do you sell?")
    assert "lantern (6 coins)" in heard and "lamp (8 coins)" in heard


def test_what_is_sold_out_is_said_to_be(shop):
    shop.hears(shop.ann, "say Hob, I want to buy the lantern", "yes")
    assert shop.lantern.location is shop.ann.character
    lines = ("I want to buy the lantern", "give me a lantern, please", "what do you sell?",
             "how much is the lantern?", "do you have a lantern for sale?")  # fmt: skip
    for line in (*lines, "", *lines, "a lantern please"):
        if not line:
            compare_by_meaning(shop)
            continue
        for player in (shop.bob, shop.ann):
            heard = shop.hears(player, f"say Hob, {line}")
            assert "none left" in heard and "who sells" not in heard, (line, heard)
    shop.ware("lamp", 8, shop.keeper)
    for line, words in (
        ("I want to buy a sword", ("cannot offer", "not to be had")),
        ("I want to buy the lantern", ("none left",)),
        ("what do you sell?", ("8 coins",)),
    ):
        heard = shop.hears(shop.bob, f"say Hob, {line}")
        assert any(word in heard for word in words), (line, heard)
    heard = shop.hears(shop.bob, "say Hob, buy this lantern back, please")
    assert "lantern" in heard.partition("please")[2] and heard.count("back") == 1, heard


def test_who_cannot_pay_is_told_before_any_question(shop):
    for coins in (None, 0, 5):
        shop.bob.character.db.coins = coins
        if coins is None:
            shop.bob.character.attributes.remove("coins")
        heard = shop.hears(shop.bob, "say Hob, I want to buy the lantern", "yes")
        assert "6 coins" in heard and "Type yes" not in heard, (coins, heard)
        assert "not have" in heard or "more than you have" in heard, (coins, heard)
    assert not models.PendingAct.objects.exists()


def test_a_customer_reads_what_came_of_their_yes(shop):
    heard = shop.hears(shop.ann, "say Hob, I want to buy the lantern", "yes")
    assert "Hob gives a lantern to you." in heard and "You pay Hob 6 coins." in heard
    assert "what was allowed" not in heard
    assert "Hob gives a lantern to Ann." in "\n".join(shop.bob.heard())
    lamp = shop.ware("lamp", 8, shop.keeper)
    shop.hears(shop.ann, "give lantern to Hob")  # a gift
    shop.ann.character.db.coins = 9
    shop.hears(shop.ann, "say Hob, I want to buy the lamp")
    shop.ann.character.db.coins = 3
    heard = shop.hears(shop.ann, "yes")
    assert "(Hob could not do that: Ann does not have 8 coins.)" in heard
    shop.ann.character.db.coins = 9
    shop.hears(shop.ann, "say Hob, I want to buy the lamp")
    lamp.location = shop.bob.character
    heard = shop.hears(shop.ann, "yes")
    assert "(Hob could not do that: Hob has no 'lamp'.)" in heard


def test_a_player_finds_how_to_buy_only_where_the_shop_is_on(shop, monkeypatch):
    from evennia.help.filehelp import FILE_HELP_ENTRIES

    entries = {e.key: e for e in FILE_HELP_ENTRIES.help_entries if e.key != "shop"}
    monkeypatch.setattr(FILE_HELP_ENTRIES, "help_entries", [*entries.values()])
    monkeypatch.setattr(FILE_HELP_ENTRIES, "help_entries_dict", entries)
    topics = ("shop", "buy", "coins")
    assert all("what do you sell?" not in shop.hears(shop.ann, f"help {topic}") for topic in topics)
    extension.EXTENSION().set_up(None, None)
    for topic in topics:
        heard = shop.hears(shop.ann, f"help {topic}")
        assert "say Hob, what do you sell?" in heard and "give lantern to Hob" in heard, topic
    builder = shop.game.player("Bea", shop.pier, permissions=["Builder"])
    assert "give lantern to Hob" in shop.hears(builder, "help shop")
    index = shop.hears(shop.ann, "help")
    assert index.count("Thinking Characters") == 1 and "shop" in index


def test_coins_are_set_for_a_player_in_another_room(shop):
    admin = shop.game.player("Ada", shop.game.room("Attic"), permissions=["Admin"])
    admin.do("set/char Ann/coins = 25")
    assert shop.ann.character.db.coins == 25


def test_what_code_knows_of_the_goods_a_small_model_says(shop, model):
    service = shop.game.service
    brain = pytest.importorskip("evennia_ai.contrib.stand_in.brain")
    clients = {"offline": brain.StandIn(), "openai": model}
    service.gateway = ModelGateway(service.clock, clients, GatewayLimits())
    service.profiles["small"] = {
        "client": "openai", "model": "qwen-1.5b", "form": "plain", "base_url": "http://x/v1",
    }  # fmt: skip
    shop.keeper.assistant.db.profile = "small"
    shop.keeper.assistant.mind.settings.resolve()
    for line in ("what do you sell?", "how much is the lantern?"):
        model.script = ["I am Hob, who sells lamps and lanterns."]
        heard = shop.hears(shop.ann, f"say Hob, {line}")
        assert "lantern costs 6 coins" in heard, (line, heard)

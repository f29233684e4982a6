"""What a character is about to say is held against the world, and asked for once more."""

from functools import partial
from types import SimpleNamespace

import pytest

from evennia_ai import models
from evennia_ai.config import parse_value
from evennia_ai.contrib.world_check import WorldFact, opening_row
from evennia_ai.contrib.world_check.check import ClaimCheck
from evennia_ai.errors import ConfigError
from evennia_ai.game.settings import load_function
from evennia_ai.memory.local_models import unit_rows
from evennia_ai.memory.remote_vectors import TextNearness
from evennia_ai.testing.minds import StandInServices
from tests.game import extensions_scene
from tests.memory.bag_of_words import BagOfWords
from tests.scripted import call

pytestmark = [pytest.mark.game, pytest.mark.engine]

asked_for = extensions_scene.asked_for
CHEAP = call("say", text="It is a fine day. The lamp costs 3 coins.")


class UnitWords(BagOfWords):
    def embed(self, texts):
        return unit_rows(super().embed(texts))


def bridge(character, askers):
    """Return what is so of a bridge."""
    return [WorldFact(("bridge",), "The bridge is closed.", ("The bridge is open.",))]


@pytest.fixture
def stall(game, mira, tavern, asked_for):
    """A room with an exit to a yard, and a lamp that Mira sells for twelve coins."""
    asked_for("world_check")
    game.exit("north", tavern, game.room("Stable Yard"))
    game.exit("cellar door", tavern, game.room("Ale Cellar"))
    lamp = game.thing("lamp", mira)
    lamp.db.price = 12
    return SimpleNamespace(lamp=lamp)


def says(game, ann, line, *replies):
    """Return what Ann reads after a line that the model answers with these replies."""
    game.model.add(*replies)
    ann.forget()
    ann.do(f"say {line}")
    game.run(1)
    return "\n".join(ann.heard())


def refusals():
    rows = models.ToolCall.objects.filter(state="refused").order_by("id")
    return [(row.name, row.result) for row in rows]


def test_a_wrong_price_is_asked_for_once_more_with_the_truth(game, ann, stall):
    right = call("say", text="The lamp costs 12 coins.")
    heard = says(game, ann, "Mira, what does the lamp cost?", CHEAP, right)
    assert "12 coins" in heard and "3 coins" not in heard
    assert refusals() == [("say", "in truth, the price of lamp is 12 coins")]
    again = str(game.model.requests[-1].messages[-1]["content"])
    assert "the price of lamp is 12 coins" in again


def test_of_a_second_wrong_reply_the_sentence_goes(game, ann, stall):
    heard = says(game, ann, "Mira, good day!", CHEAP, CHEAP)
    assert "It is a fine day." in heard and "coins" not in heard
    assert len(game.model.requests) == 2 and len(refusals()) == 2


def test_the_truth_is_said_where_nothing_else_is_left(game, ann, stall):
    wrong = call("say", text="North leads to the Ale Cellar.")
    heard = says(game, ann, "Mira, where does north lead?", wrong, wrong)
    assert 'Mira says, "North leads to Stable Yard."' in heard


def test_what_is_true_or_not_sure_is_said_at_once(game, ann, stall):
    for text in (
        "The lamp costs 12 coins.",
        "Two lamps are 24 coins.",
        "North leads to the Stable Yard.",
        "Does north lead to the Ale Cellar?",
        "I have no lamp.",  # without an embedder
    ):
        asked = len(game.model.requests)
        assert text in says(game, ann, f"Mira, number {asked}, please.", call("say", text=text))
        assert len(game.model.requests) == asked + 1, text


def test_a_character_that_is_meant_to_lie_lies(game, ann, mira, stall):
    mira.assistant.attributes.add("world_check", parse_value("world_check", "off"))
    assert "3 coins" in says(game, ann, "Mira, what does the lamp cost?", CHEAP)


def test_what_staff_read_of_a_reply_tells_what_was_held_back(game, ann, admin, stall):
    says(game, ann, "Mira, good day!", CHEAP, CHEAP)
    told = admin.told("aiwhy Mira")
    assert "The lamp costs 3 coins" in told
    assert "in truth, the price of lamp is 12 coins" in told


def test_a_games_rows_are_held_against_what_names_them():
    nearness = TextNearness(partial(UnitWords, 256))
    check, services = ClaimCheck(nearness.cosines), StandInServices(None)
    rows = [*bridge(None, ()), opening_row(("smithy",), 420, 1080, 780)]
    for sentence, truth in (
        ("The bridge is open.", "The bridge is closed."),
        ("The bridge is closed.", None),
        ("The gate is open.", None),
        ("Is the bridge open?", None),
    ):
        claims = check.claims_in(sentence, rows)
        nearness.prepare(services, check.to_prepare(claims))
        fact = check.contradicted(claims)
        assert (fact and fact.truth) == truth, sentence


def test_a_wrong_function_of_a_game_is_told():
    with pytest.raises(ConfigError, match="cannot be imported"):
        load_function("no.such.function")
    assert load_function(f"{__name__}.bridge") is bridge

"""What a character is about to say is held against the world, and asked for once more."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from evennia_ai import models
from evennia_ai.config import ModelProfile, parse_value
from evennia_ai.contrib.world_check import WorldFact, opening_row
from evennia_ai.contrib.world_check.check import WorldCheck
from evennia_ai.errors import ConfigError, ProviderUnavailable
from evennia_ai.game.settings import load_function
from tests.contrib.world_check.worlds import rows
from tests.game import extensions_scene
from tests.scripted import call

pytestmark = [pytest.mark.game, pytest.mark.engine]

asked_for = extensions_scene.asked_for
CHEAP = call("say", text="It is a fine day. The lamp costs 3 coins.")
BRIDGE = WorldFact(("bridge",), "The bridge is closed.")


def bridge(character, askers):
    """Return what is so of a bridge."""
    return [BRIDGE]


@pytest.fixture
def stall(game, mira, tavern, asked_for):
    """A room with two exits, and a lamp that Mira sells for twelve coins; no model is asked."""
    asked_for("world_check")
    mira.assistant.attributes.add("world_check_asks", False)
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
        "I have no lamp.",
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


@pytest.fixture
def asking(mira, stall, monkeypatch):
    """The stall, where a model that calls tools is asked which sentences are wrong."""
    mira.assistant.attributes.add("world_check_asks", True)
    monkeypatch.setattr(ModelProfile, "calls_tools", True)


@pytest.mark.parametrize(
    ("client", "form", "can"),
    [("openai", "tools", True), ("openai", "plain", False), ("offline", "tools", False)],
)
def test_only_a_model_that_calls_tools_is_asked(mira, client, form, can):
    profile = replace(mira.assistant.mind.settings.profile, client=client, form=form)
    assert profile.calls_tools is can


def test_a_model_is_asked_once_which_sentences_of_a_reply_are_wrong(game, ann, asking):
    wrong = call("say", text="It rains. I have no lamp.")
    right = call("say", text="I have a lamp.")
    heard = says(game, ann, "Mira, a lamp?", wrong, "1 done\n2 wrong", right, "1 done")
    assert "I have a lamp." in heard and "no lamp" not in heard
    check, again = game.model.requests[1:3]
    shown = check.messages[-1]["content"]
    assert shown.endswith("Sentences of the answer:\n1. It rains.\n2. I have no lamp.")
    assert "- you carry lamp" in shown and "- north leads to Stable Yard" in shown
    assert "Somebody says: Mira, a lamp?" in shown and not check.trace.private
    assert "you carry lamp" in str(again.messages[-1]["content"])
    purposes = models.ModelCall.objects.order_by("id").values_list("purpose", flat=True)
    assert [purpose for purpose in purposes if purpose == "world_check"] == ["world_check"] * 2


def test_words_that_nobody_judges_are_said_and_those_that_name_nothing_are_not_asked_of(
    game, ann, asking
):
    lamp = call("say", text="I have no lamp.")
    assert "no lamp" in says(game, ann, "Mira, a lamp?", lamp, ProviderUnavailable("down"))
    assert "no lamp" in says(game, ann, "Mira, and now?", lamp, "I cannot say.")
    asked = len(game.model.requests)
    assert "friend" in says(game, ann, "Mira, hello!", call("say", text="Good day, my friend."))
    assert len(game.model.requests) == asked + 1


def test_what_was_whispered_is_asked_of_as_private(game, ann, mira, asking):
    game.model.add(call("whisper", target="Ann", text="I have a lamp."), "1 done")
    ann.do("whisper Mira = do you sell lamps?")
    game.run(1)
    check = game.model.requests[-1]
    assert "Sentences of the answer" in check.messages[-1]["content"]
    assert check.trace.private and check.trace.audience == (ann.dbref,)


WORLD = {
    "room": "Taproom", "exits": {"north door": "Stable Yard", "stairs": "Upper Landing"},
    "people": ["Osk"], "carried": ["bar rag"], "asker": "Pell", "asker_carries": [],
    "wares": [{"name": "mutton pie", "price": 4}, {"name": "ale", "price": 2}],
    "hour": "21:40", "open": {},
}  # fmt: skip
# line | sentence | the row that it contradicts, "" if none surely
SENTENCES = """\
where? | The stairs lead to the Stable Yard. | stairs leads to Upper Landing
where? | The stairs lead to the Upper Landing, not the Stable Yard. |
where? | Do the stairs lead to the Stable Yard? |
where? | There's a yard behind some door. |
how much? | A mutton pie is six coins. | the price of mutton pie is 4 coins
how much? | Three pies are twelve coins. |
how much? | A pie and an ale, that's six. |
three for a pie? | Three buys no pie. |
how much? | The pie has been here since we opened the doors of this house in 1804. |
hello | Osk isn't here. |
""".splitlines()


def test_structure_alone_finds_wrong_exits_and_prices():
    facts = rows(WORLD)
    for row in SENTENCES:
        line, sentence, truth = (part.strip() for part in row.split("|"))
        fact = WorldCheck(facts, line).contradicted(sentence)
        assert (fact.truth if fact else "") == truth, sentence


def test_a_games_rows_are_named_by_what_they_are_about():
    facts = [BRIDGE, opening_row(("smithy",), 420, 1080, 780)]
    check = WorldCheck(facts, "")
    assert check.to_judge(["The bridge is open.", "Is it?", " Go on."]) == [
        "The bridge is open.",
        "Go on.",
    ]
    assert check.to_judge(["The gate is open."]) == []
    assert check.rows_for("The smithy is shut.") == [facts[1]]
    assert facts[1].truth == "smithy is open now, and open from 07:00 to 18:00"


def test_a_wrong_function_of_a_game_is_told():
    with pytest.raises(ConfigError, match="cannot be imported"):
        load_function("no.such.function")
    assert load_function(f"{__name__}.bridge") is bridge

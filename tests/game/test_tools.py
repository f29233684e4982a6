"""Tools act by the game's own locks and hooks, on the words of people who may have them used."""

import json
import sys

import pytest
from pydantic import BaseModel, Field

from evennia_ai.errors import ConfigError
from evennia_ai.messages import ToolCallRequest
from evennia_ai.ports import ToolContext
from evennia_ai.tools.base import tool
from evennia_ai.tools.registry import ToolRegistry, load_registry


class PriceArguments(BaseModel):
    thing: str = Field(description="What to price.")
    count: int = Field(default=1, ge=1)


@tool("price", lock="perm(Builder)", world=False)
def price(context, arguments: PriceArguments) -> str:
    """Tell what a thing costs."""
    return f"{arguments.thing}: {5 * arguments.count} coins"


@pytest.fixture
def run(game, mira, ann):
    """Run one tool for Ann; returns the result."""

    def run(name, registry=None, speakers=None, **arguments):
        context = ToolContext(
            assistant=mira.ai_mind.tool_executor.tools,
            character=mira,
            audience=frozenset({ann.dbref}),
            private=False,
            speakers=frozenset(speakers or {ann.dbref}),
        )
        raw = arguments.pop("raw", None) or json.dumps(arguments)
        fired = []
        box = registry or game.service.toolbox
        box.run(context, ToolCallRequest("1", name, raw)).addCallback(fired.append)
        return fired[0]

    return run


def test_look_tells_what_is_there(game, run, tavern):
    game.thing("lantern", tavern).db.desc = "It |yglows|n."
    assert run("look", target="lantern").text == "lantern: It glows."
    assert "Things: lantern." in run("look").text
    assert run("look", target="dragon").state == "failed"


def test_get_give_and_drop_move_things_and_everybody_sees_it(game, run, mira, ann, tavern):
    mug = game.thing("mug", tavern)
    assert run("get", item="mug").state == "done"
    assert run("give", item="mug", to="Ann").text == "You gave mug to Ann."
    assert mug.location is ann.character
    ann.do("give mug to Mira")
    assert run("drop", item="mug").state == "done"
    assert mug.location is tavern
    assert [line for line in ann.heard() if line.startswith("Mira")] == [
        "Mira picks up a mug.",
        "Mira gives a mug to you.",
        "Mira drops a mug.",
    ]


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("get", {"item": "anchor"}, "It is nailed down."),
        ("get", {"item": "moon"}, "There is no 'moon' here."),
        ("give", {"item": "anchor", "to": "Ann"}, "You carry no 'anchor'."),
        ("drop", {"item": "anchor"}, "You carry no 'anchor'."),
        ("move", {"to": "heaven"}, "No way leads to 'heaven'. Exits: door."),
        ("move", {"to": "door"}, "It is locked."),
    ],
)
def test_the_games_locks_hold_and_the_model_is_told_so(game, run, tavern, name, arguments, text):
    anchor = game.thing("anchor", tavern)
    anchor.locks.add("get:false()")
    anchor.db.get_err_msg = "It is nailed down."
    door = game.exit("door", tavern, game.room("Vault"))
    door.locks.add("traverse:false()")
    door.db.err_traverse = "It is locked."
    result = run(name, **arguments)
    assert (result.state, result.text) == ("failed", text)


def test_move_walks_through_an_exit_by_its_name_or_where_it_leads(game, run, mira, tavern):
    yard = game.room("The Yard", "Windy.")
    game.exit("out", tavern, yard)
    game.exit("in", yard, tavern)
    assert run("move", to="out").text.startswith("The Yard: Windy.")
    assert mira.location is yard
    assert run("move", to="tavern").state == "done"
    assert mira.location is tavern


def test_a_tool_is_offered_only_where_every_speaker_may_have_it_used(game, mira, ann, tavern):
    registry = ToolRegistry([price])
    builder = game.player("Bea", tavern, permissions=["Builder"])

    def offered(*speakers):
        context = ToolContext(
            assistant=mira.ai_mind.tool_executor.tools,
            character=mira,
            audience=frozenset(),
            private=False,
            speakers=frozenset(speaker.dbref for speaker in speakers),
        )
        return [spec.name for spec in registry.offered(context)]

    assert offered(builder) == ["price"]
    assert offered(ann) == []
    assert offered(builder, ann) == []


def test_a_tool_that_was_not_offered_is_refused_when_it_is_called_all_the_same(run):
    result = run("price", ToolRegistry([price]), thing="beer")
    assert (result.state, result.text) == (
        "refused",
        "You may not do that for everybody who is speaking to you.",
    )


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ('{"thing": "beer"', "Invalid JSON"),
        ("{}", "thing: Field required"),
        ('{"thing": "beer", "count": 0}', "count: Input should be greater than or equal to 1"),
        ("[]", "Input should be an object"),
    ],
)
def test_arguments_that_do_not_fit_are_told_in_a_sentence(game, run, tavern, raw, words):
    builder = game.player("Bea", tavern, permissions=["Builder"])
    result = run("price", ToolRegistry([price]), [builder.dbref], raw=raw)
    assert result.state == "failed"
    assert words in result.text


def test_the_characters_own_hook_may_forbid_an_act(run, mira, monkeypatch):
    monkeypatch.setattr(type(mira), "at_ai_pre_act", lambda self, tool, args: tool != "look")
    assert run("look").state == "refused"


def test_a_character_with_too_many_rights_does_nothing(run, mira):
    mira.permissions.add("Developer")
    assert run("say", text="hello").state == "refused"


def test_a_tool_needs_a_model_for_its_arguments():
    with pytest.raises(TypeError, match="annotate the second parameter"):

        @tool("bad")
        def bad(context, arguments) -> str:
            return ""


def test_a_games_own_tools_are_loaded_from_its_modules():
    assert load_registry([__name__]).tools["price"] is price
    with pytest.raises(ConfigError, match=r"The tool module 'world.nowhere' cannot be imported"):
        load_registry(["world.nowhere"])


def test_a_module_that_cannot_be_imported_takes_no_other_with_it(monkeypatch):
    told = []
    monkeypatch.setitem(sys.modules, "world.broken", None)
    registry = load_registry(["world.broken", __name__], told.append)
    assert registry.tools["price"] is price and "say" in registry.tools
    (complaint,) = told
    assert complaint.startswith("AI_ASSISTANT['TOOLS']: The tool module 'world.broken' cannot be")
    assert complaint.endswith("The other modules are used.")

"""Tools act by the game's own locks and hooks, on the words of people who may have them used."""

import json

import pytest
from pydantic import BaseModel, Field
from twisted.internet.defer import succeed

from evennia_ai.errors import ConfigError
from evennia_ai.messages import ToolCallRequest
from evennia_ai.policy.request_forms.schema_form import BUILT_IN
from evennia_ai.ports import ToolContext
from evennia_ai.tools.base import tool
from evennia_ai.tools.registry import ToolRegistry, load_registry
from tests.scripted import call


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
            assistant=mira.ai_mind.acts.tools,
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


def test_what_its_eyes_may_not_see_it_cannot_look_at(game, run, tavern):
    game.thing("ghost", tavern).locks.add("view:false()")
    assert run("look", target="ghost").text == "You see no 'ghost' here."
    assert "ghost" not in run("look").text


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
        "Mira gives a mug to Ann.",
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


def test_what_no_lock_lets_it_take_it_does_not_take(game, run, tavern):
    game.thing("anchor", tavern).locks.remove("get")
    assert run("get", item="anchor").state == "failed"


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
            assistant=mira.ai_mind.acts.tools,
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


def test_a_speaker_who_is_gone_passes_no_lock(run):
    assert run("price", ToolRegistry([price]), ["#99999"], thing="x").state == "refused"


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


def test_an_unknown_tool_names_those_there_are(run):
    assert "There is no tool 'fly'. There are: say, whisper" in run("fly").text


def test_a_tool_may_answer_later_and_may_break(game, run):
    class NoArguments(BaseModel):
        pass

    @tool("slow")
    def slow(context, arguments: NoArguments) -> str:
        """Wait."""
        return succeed("at last")

    @tool("broken")
    def broken(context, arguments: NoArguments) -> str:
        """Break."""
        return 1 / 0

    registry = ToolRegistry([slow, broken])
    assert run("slow", registry).text == "at last"
    failed = run("broken", registry)
    assert failed.state == "unknown"
    assert "division" not in failed.text


def test_the_characters_own_hook_may_forbid_an_act(run, mira, monkeypatch):
    monkeypatch.setattr(type(mira), "at_ai_pre_act", lambda self, tool, args: tool != "look")
    assert run("look").state == "refused"


def test_a_character_with_too_many_rights_does_nothing(run, mira):
    mira.permissions.add("Developer")
    assert run("say", text="hello").state == "refused"


def test_the_schema_is_what_the_model_reads():
    assert price.spec.schema["function"] == {
        "name": "price",
        "description": "Tell what a thing costs.",
        "parameters": {
            "properties": {
                "thing": {"description": "What to price.", "type": "string"},
                "count": {"default": 1, "minimum": 1, "type": "integer"},
            },
            "required": ["thing"],
            "type": "object",
        },
    }


def test_a_tool_needs_a_model_for_its_arguments():
    with pytest.raises(TypeError, match="annotate the second parameter"):

        @tool("bad")
        def bad(context, arguments) -> str:
            return ""


def test_a_games_own_tools_are_loaded_from_its_modules():
    assert load_registry([__name__]).tools["price"] is price
    with pytest.raises(ConfigError, match=r"The tool module 'world.nowhere' cannot be imported"):
        load_registry(["world.nowhere"])


def test_a_refused_tool_is_in_the_log_with_its_reason(game, ann, mira):
    from evennia_ai.models import ToolCall

    game.service.toolbox.add(price)
    game.model.add(call("price", thing="beer"), call("noop"))
    ann.do("say what is a beer?")
    game.run()
    assert ToolCall.objects.first().state == "refused"


def test_the_form_schema_knows_the_names_of_all_built_in_tools():
    assert set(load_registry([]).tools) == BUILT_IN | {"put"}  # an act with two fields of its own

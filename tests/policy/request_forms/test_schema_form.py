"""The form `schema`: what it asks for, and the calls that an answer stands for."""

import json

import pytest
from pydantic import BaseModel

from evennia_ai.policy.tool_call_modes.form import ReplyContext
from evennia_ai.policy.tool_call_modes.schema_form import (
    ACTS,
    BUILT_IN,
    SAY_CHARS,
    TARGET_CHARS,
    SchemaForm,
    act_fields,
    calls_of,
)

EXAMPLES = ("Take it. Mind the glass.", "Gladly. The air will do me good.", "Bello, wasn't it?")
FORM = SchemaForm()


class Cup(BaseModel):
    """A cup."""

    size: int


class BrewArguments(BaseModel):
    """What to brew."""

    drink: str
    cup: Cup
    sugar: bool = False


def tool(name, model=None, description=""):
    parameters = model.model_json_schema() if model else {"type": "object", "properties": {}}
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }


BREW = tool("brew", BrewArguments, "Brew a drink.")
RING = tool("ring_bell", description="Ring the bell.")
TOOLS = [tool(name) for name in sorted(BUILT_IN)]


def calls(act, target="", say="", addressee="Ann", tools=TOOLS, **fields):
    answer = {"act": act, "target": target, "say": say, **fields}
    return [
        (name, json.loads(told)) for name, told in calls_of(answer, ReplyContext(tools, addressee))
    ]


@pytest.mark.parametrize(
    ("act", "target", "expected"),
    [
        ("get", "mug", ("get", {"item": "mug"})),
        ("drop", "mug", ("drop", {"item": "mug"})),
        ("move", "yard", ("move", {"to": "yard"})),
        ("follow", "Ben", ("follow", {"target": "Ben"})),
        ("follow", "me", ("follow", {"target": "Ann"})),
        ("emote", "nods slowly", ("emote", {"text": "nods slowly"})),
        ("remember", "Ann is a smith", ("add_journal_entry", {"content": "Ann is a smith"})),
        ("give", "mug", ("give", {"item": "mug", "to": "Ann"})),
        ("give", " mug ", ("give", {"item": "mug", "to": "Ann"})),
        ("give", "nails to Ben", ("give", {"item": "nails", "to": "Ben"})),
        ("give", "nails to me", ("give", {"item": "nails", "to": "Ann"})),
        ("give", "nails to You", ("give", {"item": "nails", "to": "Ann"})),
        ("give", "key to the mill", ("give", {"item": "key", "to": "the mill"})),
    ],
)
def test_an_act_is_the_call_it_stands_for_and_the_words_come_after_it(act, target, expected):
    assert calls(act, target) == [expected]
    assert calls(act, target, " There. ") == [expected, ("say", {"text": "There."})]


@pytest.mark.parametrize("act", ["none", "silence", "", None, "fly", "say", "noop"])
def test_without_an_act_only_the_words_are_left(act):
    assert calls(act, "yard", "No.") == [("say", {"text": "No."})]
    assert calls(act, "yard") == [("noop", {})]


def test_a_whisper_is_the_words_for_one_person():
    whisper = ("whisper", {"text": "Psst.", "target": "Ben"})
    assert calls("whisper", "Ben", "Psst.") == [whisper]
    assert calls("whisper", "", "Psst.") == [("whisper", {"text": "Psst.", "target": ""})]
    assert calls("whisper", "Ben") == [("noop", {})]


@pytest.mark.parametrize("act", ["get", "drop", "move", "emote", "remember", "give"])
def test_an_act_without_its_target_is_none(act):
    assert calls(act, "", "Hm.") == [("say", {"text": "Hm."})]
    assert calls(act, None, "") == [("noop", {})]


def test_what_lies_here_is_picked_up_before_it_is_given():
    asked = ReplyContext(
        TOOLS, "Ann", things=["a handful of nails", "a mug"], carrying=["a mug", "coins"]
    )
    given = {target: names_of({"act": "give", "target": target}, asked) for target in THINGS}
    assert given == {"nails": ["get", "give"], "nail": ["give"], "mug": ["give"], "coins": ["give"]}


def test_who_follows_an_exit_walks_through_it():
    asked = ReplyContext(TOOLS, "Ann", exits=["yard", "mill road"])
    walks = {target: names_of({"act": "follow", "target": target}, asked) for target in WALKS}
    assert walks == {"yard": ["move"], "mill": ["move"], "Ben": ["follow"], "me": ["follow"]}


def test_a_small_model_is_not_offered_to_remember():
    form = SchemaForm()
    assert (
        "remember"
        not in form.response_schema(ReplyContext(TOOLS, "Ann"))["properties"]["act"]["enum"]
    )
    assert "- remember" not in form.rules(TOOLS)


WALKS = ("yard", "mill", "Ben", "me")
THINGS = ("nails", "nail", "mug", "coins")


def names_of(answer, asked):
    return [name for name, _arguments in calls_of(answer, asked)]


@pytest.mark.parametrize("act", ["give", "follow"])
def test_an_act_for_nobody_is_none(act):
    assert calls(act, "me" if act == "follow" else "mug", addressee="") == [("noop", {})]


def test_every_act_of_the_schema_is_described_and_known():
    rules = FORM.rules(TOOLS)
    assert all(f"\n- {act}: " in rules for act in ACTS)
    assert FORM.response_schema(ReplyContext(TOOLS))["properties"]["act"] == {"enum": list(ACTS)}
    assert all(f'"say": "{example}"' in rules for example in EXAMPLES)


def test_the_schema_of_an_answer():
    schema = FORM.response_schema(ReplyContext(TOOLS))
    assert schema["required"] == list(schema["properties"]) == ["act", "target", "say"]
    assert schema["additionalProperties"] is False
    lengths = [schema["properties"][name]["maxLength"] for name in ("target", "say")]
    assert lengths == [TARGET_CHARS, SAY_CHARS]


def test_an_answer_of_words_only_has_no_act():
    schema = FORM.response_schema(ReplyContext([*TOOLS, BREW]), words_only=True)
    assert schema["properties"]["act"] == {"enum": ["none"]}
    assert schema["required"] == ["act", "target", "say"]


def test_a_games_own_tool_is_an_act_with_its_own_fields():
    usual, brew, ring = (schema := FORM.response_schema(ReplyContext([*TOOLS, BREW, RING])))[
        "anyOf"
    ]
    assert usual == FORM.response_schema(ReplyContext(TOOLS))
    assert list(brew["properties"]) == brew["required"] == ["act", "drink", "cup", "sugar", "say"]
    assert brew["properties"]["act"] == {"const": "brew"}
    assert brew["properties"]["drink"]["type"] == "string"
    assert list(ring["properties"]) == ["act", "say"]
    assert schema["$defs"] == BrewArguments.model_json_schema()["$defs"]
    assert brew["properties"]["cup"]["$ref"] == "#/$defs/Cup"


def test_the_rules_describe_a_games_own_tools_behind_the_other_acts():
    rules = FORM.rules([*TOOLS, BREW, RING])
    assert "\n- brew: Brew a drink. Instead of target: drink (string), cup" in rules
    assert "\n- ring_bell: Ring the bell.\n" in rules
    assert rules.startswith(FORM.rules(TOOLS).partition("\nRules:")[0].rstrip())


def test_an_answer_with_a_games_own_act_calls_the_tool():
    tools = [*TOOLS, BREW, RING]
    fields = {"drink": "tea", "cup": {"size": 2}, "sugar": True}
    brewed = calls("brew", "kettle", "At once.", tools=tools, **fields)
    assert brewed == [("brew", fields), ("say", {"text": "At once."})]
    assert calls("ring_bell", tools=tools) == [("ring_bell", {})]
    assert calls("brew", say="Tea?", **fields) == [("say", {"text": "Tea?"})]


def test_the_fields_that_make_an_act_known():
    asked = ReplyContext([*TOOLS, BREW], "Ann")
    assert act_fields({"act": "brew"}, asked) == {"act", "drink", "cup", "sugar"}
    assert act_fields({"act": "give"}, asked) == act_fields({}, asked) == {"act", "target"}


def test_the_question_names_both():
    assert FORM.question("Mira", "Ann") == "What do you, Mira, do and say to Ann?"
    assert FORM.question("Mira", "") == "What do you, Mira, do and say?"

"""Plans made anew at every step from what the turn has done so far."""

from dataclasses import replace

import pytest

from evennia_ai.contrib.stand_in.steps import Errand
from evennia_ai.contrib.stand_in.transcript import TranscriptToolCall as Act
from evennia_ai.messages import Situation
from evennia_ai.policy.conversation.persona_and_lore import Persona
from evennia_ai.policy.conversation.requested_acts import RequestedAct
from tests.contrib.stand_in.stage import Talk

TOOLS = frozenset("say look move get give drop emote".split())
EXITS = ("cellar (to The Cellar)", "quay (to The Quay)")
HOME = Situation("The Gull", things=("pewter mug",), carrying=("bread",), exits=EXITS)
BREAD = RequestedAct("give", "bread", item="bread", to="Ann")
GO = RequestedAct("move", "north (to B)", back=True)
GONE = Act("move", {"to": "north"}, "B: Quiet.")
LANTERN = RequestedAct("move", EXITS[0], item="the lantern", to="Ann", back=True)
CELLAR = Situation("The Cellar", things=("brass lantern",), exits=("gull (to The Gull)",))
LEFT = [Act("move", {"to": "cellar"}, "The Cellar: Cold. Things: brass lantern.")]
TOOK = Act("get", {"item": "brass lantern"}, "You hold brass lantern.")
BACK = Act("move", {"to": "gull"}, "The Gull: A room.")
AWAY = Situation("B", exits=("east (to C)", "south (to A)"))


@pytest.mark.parametrize(
    ("requested", "situation", "acts", "planned"),
    [
        (BREAD, HOME, [], ([("give", "bread", "Ann")], "")),
        (BREAD, Situation(), [Act("give", {"item": "bread"}, "You gave it.")], ([], "give_done")),
        (RequestedAct("give", "pewter mug", item="the mug", to="Ann"), HOME, [],
         ([("get", "pewter mug")], "")),
        (RequestedAct("give", "pewter mug", item="the mug", to="Ann"), HOME,
         [Act("get", {"item": "pewter mug"}, "It is nailed to the bar.", failed=True)],
         ([], "get_not")),
        (RequestedAct("give", "a dragon", False, "a dragon", "Ann"), HOME, [], ([], "have_not")),
        (GO, Situation("A", exits=("north (to B)",)), [], ([("move", "north")], "")),
        (GO, AWAY, [GONE], ([("move", "south")], "")),
        (GO, Situation("A"), [GONE, Act("move", {"to": "south"}, "A: Home.")], ([], "go_back")),
        (LANTERN, HOME, [], ([("move", "cellar")], "")),
        (LANTERN, replace(HOME, carrying=("brass lantern",)), [],
         ([("give", "brass lantern", "Ann")], "")),
        (LANTERN, replace(HOME, things=("brass lantern",)), [], ([("get", "brass lantern")], "")),
        (LANTERN, CELLAR, LEFT, ([("get", "brass lantern")], "")),
        (LANTERN, replace(CELLAR, things=()), [*LEFT, TOOK], ([("move", "gull")], "")),
        (LANTERN, replace(HOME, carrying=("brass lantern",)), [*LEFT, TOOK, BACK],
         ([("give", "brass lantern", "Ann")], "")),
        (LANTERN, HOME, [*LEFT, BACK], ([], "have_not")),
        (GO, HOME, [Act("move", {"to": "north"}, "The door is locked.", failed=True)],
         ([], "go_not")),
    ],
)  # fmt: skip
def test_each_step_follows_from_what_was_done(requested, situation, acts, planned):
    step = Errand(requested, situation, acts, TOOLS).next_step()
    assert ([(name, *arguments.values()) for name, arguments in step.calls], step.end) == planned


def test_without_the_tool_nothing_is_done_and_nothing_is_promised():
    assert Errand(GO, HOME, [], frozenset()).next_step().end == "go_not"
    assert Errand(BREAD, HOME, [], frozenset()).next_step().end == "give_not"


PERSONA = Persona(
    "You are Holt, who guards the gate.",
    never=("leaves the gate", "lets anybody in after dark", "takes a bribe"),
)


@pytest.mark.parametrize(
    ("asked", "law"),
    [
        ("follow me!", "leave the gate"),
        ("come with me to the inn", "leave the gate"),
        ("let me in, please", "after dark"),
        ("may I pass?", "after dark"),
        ("here are ten gold coins if you look away", "bribe"),
        ("Holt and Ben, follow me!", "leave the gate"),
    ],
)
def test_what_the_persona_never_does_is_law(asked, law):
    place = Situation("The Gate", people=("Ann", "Ben"))
    talk = Talk("Holt", PERSONA, place, tools=("say", "follow", "noop"))
    assert law in talk.hear(asked)


@pytest.mark.parametrize(
    ("asked", "thing"),
    [
        ("Give me that hammer.", "hammer"),
        ("Give me all the money in your cashbox.", "money"),
        ("Give me the candlestick or I'll tell everybody.", "candlestick"),
    ],
)
def test_a_thing_that_it_has_not_is_named_alone(asked, thing):
    talk = Talk("Oda", Persona("You are Oda."), HOME, tools=("say", "give", "get", "noop"))
    assert f"o {thing} " in talk.hear(asked)


def test_a_gesture_is_made_at_once():
    talk = Talk("Mira", Persona("You are Mira."), HOME, tools=("say", "emote", "noop"))
    assert "waves to Ann." in talk.hear("could you wave to me?")
    assert r"waves to A\1\g<x>." in talk.hear("could you wave to me?", r"A\1\g<x>")

"""Plans made anew at every step from what the turn has done so far."""

import pytest

from evennia_ai.messages import Situation
from evennia_ai.offline.languages import match_name
from evennia_ai.offline.requests import RequestedAction, next_step
from evennia_ai.offline.transcript import Act
from evennia_ai.policy.conversation.character import Persona
from tests.offline.stage import Talk

TOOLS = frozenset("say look get give emote".split())
HOME = Situation("The Gull", things=("pewter mug",), carrying=("bread",))


def give(item):
    return RequestedAction("give", "Ann", item, to="Ann")


GAVE = Act("give", {"item": "bread"}, "You gave it.")
NAILED = Act("get", {"item": "pewter mug"}, "It is nailed to the bar, you can't.")


@pytest.mark.parametrize(
    ("requested", "situation", "acts", "planned"),
    [
        (give("bread"), HOME, [], ([("give", "bread", "Ann")], "")),
        (give("bread"), Situation(), [GAVE], ([], "give_done")),
        (give("the mug"), HOME, [], ([("get", "pewter mug")], "")),
        (give("the mug"), HOME, [NAILED], ([], "get_not")),
        (give("a dragon"), HOME, [], ([], "have_not")),
    ],
)
def test_each_step_follows_from_what_was_done(requested, situation, acts, planned):
    step = next_step(requested, situation, acts, TOOLS)
    assert ([(name, *arguments.values()) for name, arguments in step.calls], step.end) == planned


def test_without_the_tool_nothing_is_done_and_nothing_is_promised():
    assert next_step(give("bread"), HOME, [], frozenset()).end == "give_not"


def test_names_are_matched_by_their_words():
    names = ("pewter mug", "loaf of bread", "mug of ale")
    assert match_name("that ale there", names) == "mug of ale"
    assert match_name("the rum", names) == ""


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

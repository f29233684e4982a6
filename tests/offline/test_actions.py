"""Plans made anew at every step from what the turn has done so far."""

import pytest

from evennia_ai.messages import Situation
from evennia_ai.offline.actions import next_step
from evennia_ai.offline.name_matching import match_exit, match_name
from evennia_ai.offline.requests import RequestedAction
from evennia_ai.offline.transcript import Act

TOOLS = frozenset("say look move get give drop emote".split())
EXITS = ("cellar (to The Cellar)", "quay (to The Quay)")
HOME = Situation("The Gull", things=("pewter mug",), carrying=("bread",), exits=EXITS)
AWAY = Situation("The Cellar", things=("brass lantern",), exits=("gull (to The Gull)",))
LANTERN = RequestedAction("fetch", "Ann", "the lantern", "cellar (to The Cellar)", "Ann")
LEFT = [
    Act("look", {"target": ""}, "The Gull: A room."),
    Act("move", {"to": "cellar"}, "The Cellar: Cold. Things: brass lantern."),
]
TOOK = [*LEFT, Act("get", {"item": "brass lantern"}, "You hold brass lantern.")]
BACK = [*TOOK, Act("move", {"to": "gull"}, "The Gull: A room.")]
GAVE = [*BACK, Act("give", {"item": "brass lantern", "to": "Ann"}, "You gave it.")]


def plan(requested, situation, acts=(), tools=TOOLS):
    step = next_step(requested, situation, acts, tools)
    return [(name, *arguments.values()) for name, arguments in step.calls], step.end


def test_what_it_carries_is_handed_over_and_then_spoken_of():
    requested = RequestedAction("give", "Ann", "bread", to="Ann")
    assert plan(requested, HOME) == ([("give", "bread", "Ann")], "")
    gave = [Act("give", {"item": "bread", "to": "Ann"}, "You gave bread to Ann.")]
    assert plan(requested, Situation(), gave) == ([], "give_done")


def test_what_lies_here_is_taken_up_first():
    assert plan(RequestedAction("give", "Ann", "a drink", to="Ann"), HOME) == (
        [("get", "pewter mug")],
        "",
    )


def test_a_thing_that_cannot_be_taken_is_not_handed_over():
    acts = [Act("get", {"item": "pewter mug"}, "It is nailed to the bar, you can't.")]
    assert plan(RequestedAction("give", "Ann", "a drink", to="Ann"), HOME, acts) == ([], "get_not")


def test_what_is_nowhere_is_not_promised():
    assert plan(RequestedAction("give", "Ann", "a dragon", to="Ann"), HOME) == ([], "have_not")


@pytest.mark.parametrize(
    ("situation", "acts", "calls", "end"),
    [
        (HOME, [], [("look", ""), ("move", "cellar")], ""),
        (AWAY, LEFT, [("get", "brass lantern")], ""),
        (Situation("The Cellar", exits=AWAY.exits, carrying=("brass lantern",)), TOOK,
         [("move", "gull")], ""),
        (Situation("The Gull", exits=EXITS, carrying=("brass lantern",)), BACK,
         [("give", "brass lantern", "Ann")], ""),
        (HOME, GAVE, [], "give_done"),
    ],
)  # fmt: skip
def test_something_is_fetched_from_elsewhere(situation, acts, calls, end):
    assert plan(LANTERN, situation, acts) == (calls, end)


def test_what_is_not_there_sends_it_back_with_empty_hands():
    empty = Situation("The Cellar", exits=AWAY.exits)
    assert plan(LANTERN, empty, LEFT) == ([("move", "gull")], "")
    returned = [*LEFT, Act("move", {"to": "gull"}, "The Gull: A room.")]
    assert plan(LANTERN, HOME, returned) == ([], "fetch_not")


def test_a_way_that_is_closed_ends_the_walk():
    acts = [Act("move", {"to": "cellar"}, "The door is locked.")]
    requested = RequestedAction("go", "Ann", place="cellar (to The Cellar)", back=True)
    assert plan(requested, HOME, acts) == ([], "go_not")


def test_opposite_directions_need_no_look_round():
    north = Situation("A", exits=("north (to B)",))
    requested = RequestedAction("go", "Ann", place="north (to B)", back=True)
    assert plan(requested, north) == ([("move", "north")], "")
    there = Situation("B", exits=("east (to C)", "south (to A)"))
    acts = [Act("move", {"to": "north"}, "B: Quiet.")]
    assert plan(requested, there, acts) == ([("move", "south")], "")


def test_without_the_tool_nothing_is_done():
    assert plan(RequestedAction("go", "Ann", place=EXITS[0]), HOME, tools=frozenset({"say"})) == (
        [],
        "go_not",
    )
    assert (
        plan(RequestedAction("give", "Ann", "bread", to="Ann"), HOME, tools=frozenset())[1]
        == "give_not"
    )


def test_names_are_matched_by_their_words_and_then_by_their_kind():
    names = ("pewter mug", "loaf of bread", "mug of ale")
    assert match_name("that ale there", names) == "mug of ale"
    assert match_name("something to drink", names) == "pewter mug"
    assert match_name("a dragon", names) == ""
    assert match_exit("down to the old cellar", EXITS) == EXITS[0]

"""Which act a line asks for, read from the line and from what is here."""

import pytest

from evennia_ai.messages import Situation
from evennia_ai.policy.conversation.requested_acts import match_name, requested_act

EXITS = ("cellar (to The Cellar)", "quay (to The Quay)")
HERE = Situation(
    things=("pewter mug", "brass lantern"),
    carrying=("loaf of bread", "silver ring"),
    exits=EXITS,
    people=("Ann", "Ben"),
)


def act_of(line):
    act = requested_act(line, HERE, "Ann")
    return act and (act.act, act.target, act.is_sure)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Could you give me the bread, please?", ("give", "loaf of bread", True)),
        ("Give me the silver ring.", ("give", "silver ring", True)),
        ("Give me a dragon", ("give", "a dragon", False)),
        ("May I have something to drink?", ("give", "something to drink", False)),
        ("Pick up the lantern.", ("get", "brass lantern", True)),
        ("Put down the bread", ("drop", "loaf of bread", True)),
        ("Go down to the cellar and have a look", ("move", "cellar (to The Cellar)", True)),
        ("Come with me!", ("follow", "Ann", True)),
        ("Please follow Ben for a bit, he gets lost", ("follow", "Ben", True)),
        ("Stop following me", ("follow", "", True)),
        ("Nod if you understand me.", ("emote", "nods.", True)),
        ("wave to Ben", ("emote", "waves to Ben.", True)),
        ("Whisper it to Ben", ("whisper", "Ben", True)),
        ("Examine the mug", ("look", "pewter mug", True)),
        ("Gib mir bitte das Brot und den bread", ("give", "loaf of bread", True)),
    ],
)
def test_a_line_asks_for_an_act(line, expected):
    assert act_of(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        "Give me a hand",
        "Follow the road to the mill.",
        "Give me your silver",
        "I lost my lantern yesterday.",
        "What a night!",
        "May I have your word?",
    ],
)
def test_a_line_that_asks_for_none(line):
    assert act_of(line) is None


def test_what_is_fetched_from_elsewhere_is_brought_to_who_asks():
    act = requested_act("Go to the quay and bring me a rope", HERE, "Ann")
    assert (act.act, act.target, act.item, act.to, act.back) == (
        "move", "quay (to The Quay)", "a rope", "Ann", True
    )  # fmt: skip


def test_names_are_matched_by_their_words():
    names = ("pewter mug", "loaf of bread", "mug of ale")
    assert match_name("that ale there", names) == "mug of ale"
    assert match_name("a dragon", names) == ""
    assert match_name("down to the old cellar", EXITS) == EXITS[0]

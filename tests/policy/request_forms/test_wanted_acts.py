"""A line asks for walking or handling things, or for neither."""

import pytest

from evennia_ai.policy.tool_call_modes.form import ReplyContext
from evennia_ai.policy.tool_call_modes.schema_form import ACTS, FOLLOW, HANDLING, MOVE, wanted_acts

SCENE = {
    "things": ("pewter mug", "hearth"),
    "carrying": ("coil of rope",),
    "exits": ("quay (to Saltmarket Quay)", "cellar"),
}


def wanted(line):
    return set(wanted_acts(ReplyContext(heard=line, **SCENE), ACTS))


@pytest.mark.parametrize(
    "line",
    [
        "Good evening.",
        "What is my brother's name?",
        "You are a stupid old hag.",
        "Wer bist du?",
        "We are back, Mira. The steps to the chapel are steep.",
    ],
)
def test_talk_asks_for_neither(line):
    assert wanted(line) == set(ACTS) - {*HANDLING, MOVE, FOLLOW}


@pytest.mark.parametrize(
    "line", ["Hand me that, please.", "Gib mir das Seil!", "The mug, s'il te plaît.", "Drop it."]
)
def test_a_line_that_names_a_thing_or_a_way_of_handling_it_asks_for_that(line):
    assert wanted(line) >= set(HANDLING)


@pytest.mark.parametrize("line", ["Au cellar, vite!", "To the quay?", "Come to the quay."])
def test_a_line_that_names_an_exit_asks_for_walking(line):
    assert wanted(line) >= {MOVE, FOLLOW}


@pytest.mark.parametrize("line", ["Follow me!", "Komm mit!", "Walk with me."])
def test_a_line_that_asks_to_walk_nowhere_in_particular_asks_for_company(line):
    assert FOLLOW in wanted(line) and MOVE not in wanted(line)


def test_everything_is_allowed_if_nobody_spoke():
    assert wanted("") == set(ACTS)

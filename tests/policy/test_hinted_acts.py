"""Which act a line hints at, by its nearness to examples without the names of what is here."""

import pytest

from evennia_ai.messages import Situation
from evennia_ai.policy.conversation.requested_acts import (
    HINT_LINES,
    HINTS,
    NO_HINT,
    hinted_act,
    hints,
)

HERE = Situation(
    people=("Ann", "Bob"),
    things=("coil of rope",),
    carrying=("mug",),
    exits=("cellar (to Cellar)",),
)


def near(kind, cosine=0.6):
    """Return cosines of every text: high with the examples of a kind."""
    lines = NO_HINT if kind == "nothing" else HINTS[kind]
    return lambda _text, others: [cosine if text in lines else 0.2 for text in others]


@pytest.mark.parametrize(
    ("line", "masked", "possible"),
    [
        ("mind that rope there", "mind that thing there", {"get", "look"}),
        ("that mug is old", "that thing is old", {"give", "drop", "look"}),
        ("the cellar is cold", "the place is cold", {"move"}),
        ("Bob's hat", "someone hat", {"emote", "whisper"}),
        ("Ann is my name", "", set()),
    ],
)
def test_what_a_line_names_is_left_out_of_what_is_compared(line, masked, possible):
    found = [*hints(line, HERE, "Ann")]
    assert {hint.act.act for hint in found} == {*possible, "follow"}
    words = {hint.words for hint in found if hint.act.act != "follow"}
    assert words == ({masked} if masked else set())


@pytest.mark.parametrize(
    ("line", "kind", "wanted"),
    [
        ("somebody will fall over that rope", "get", ("get", "coil of rope")),
        ("is there beer in that mug?", "give", ("give", "mug")),
        ("a bow would please Bob", "emote", ("emote", "bows to Bob.")),
        ("be nice to Bob", "emote", ("emote", "smiles to Bob.")),
        ("tell Bob", "whisper", ("whisper", "Bob")),
        ("come along", "follow", ("follow", "Ann")),
        ("I had a rope like that", "nothing", None),
        ("somebody will fall over that ladder", "get", None),
    ],
)
def test_the_act_is_the_one_that_it_hints_at_more_than_other_talk(line, kind, wanted):
    act = hinted_act([*hints(line, HERE, "Ann")], near(kind))
    assert (act and (act.act, act.target)) == wanted


def test_who_gets_it_is_the_speaker():
    assert hinted_act([*hints("that mug", HERE, "Ann")], near("give")).to == "Ann"


def test_nothing_is_hinted_at_without_an_embedder_or_faintly():
    found = [*hints("mind that rope", HERE, "Ann")]
    assert hinted_act(found, lambda _text, _others: []) is None
    assert hinted_act(found, near("get", 0.25)) is None


def test_every_example_is_one_line_and_only_once():
    assert len(set(HINT_LINES)) == len(HINT_LINES)
    assert not [line for line in HINT_LINES if "\n" in line or not line.strip()]

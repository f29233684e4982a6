"""Who knows what of the world, and what of it is told when."""

import pytest

from evennia_ai.errors import ConfigError
from evennia_ai.policy.conversation.character import (
    LoreEntry,
    check_scope,
    is_known,
    select_lore,
    why_unknown,
)

GATE = LoreEntry("The old gate", "Hanno built the gate.", ("tag:guard", "room:tower"))
DRAGON = LoreEntry("The dragon", "It sleeps under the gate.", ("quest:dragon",))
BEER = LoreEntry("Beer", "The beer comes from Holm.")
EVERYBODY = frozenset({"all"})


def titles(labels, talk, budget=500):
    return [e.title for e in select_lore([GATE, DRAGON, BEER], frozenset(labels), talk, budget)]


def test_a_quest_flag_is_needed_besides():
    both = LoreEntry("x", "y", ("tag:guard", "quest:dragon"))
    assert is_known(both, frozenset({"tag:guard", "quest:dragon"}))
    assert not is_known(both, frozenset({"tag:guard"}))
    assert not is_known(both, frozenset({"quest:dragon"}))
    assert why_unknown(both, frozenset({"tag:guard"})) == (
        "everybody who hears it needs quest:dragon"
    )
    assert why_unknown(both, frozenset({"quest:dragon"})) == (
        "neither the character nor its room has tag:guard"
    )


def test_only_what_is_known_and_near_is_chosen_best_first():
    assert titles({"all"}, "tell me of the gate") == []
    assert titles({"all", "tag:guard", "quest:dragon"}, "who built the gate?") == [
        "The old gate",
        "The dragon",
    ]


def test_the_budget_is_kept_and_a_smaller_piece_may_still_fit():
    long = LoreEntry("Beer", "beer " * 500)
    chosen = select_lore([long, BEER], EVERYBODY, "beer", 50)
    assert chosen == [BEER]


@pytest.mark.parametrize("raw", ["", "tag:", "moon:full", "all:x"])
def test_a_bad_scope_is_told_with_those_there_are(raw):
    with pytest.raises(ConfigError, match=r"is not a scope. Use all, tag:<tag>"):
        check_scope(raw)

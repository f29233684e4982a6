"""Who knows what of the world, and what of it is told when."""

import pytest

from evennia_ai.errors import ConfigError
from evennia_ai.policy.conversation.persona_and_lore import (
    Fit,
    LoreEntry,
    check_scope,
    is_known,
    split_keys,
    try_lore,
    why_unknown,
)

GATE = LoreEntry("The old gate", "Hanno built the gate.", ("tag:guard", "room:tower"))
BEER = LoreEntry("Beer", "The beer comes from Holm.")
MENU = LoreEntry("The menu", "Stew is four pennies.", keys=("eat", "for dinner", "客栈"))
RULES = LoreEntry("House rules", "No knives at the bar.", always=True)
EVERYBODY = frozenset({"all"})


def tried(entries, *lines, budget=500, labels=EVERYBODY):
    """The titles that are chosen, in order, with the reason of each."""
    said = [line if isinstance(line, tuple) else (line, {}) for line in lines]
    trials = try_lore(entries, labels, said, budget)
    return [(one.entry.title, one.reason) for one in trials if one.is_chosen]


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


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("What can I eat here?", "key: eat"),
        ("Is there eating to be had?", "key: eat"),
        ("What is there for dinner?", "key: for dinner"),
        ("Dinner for two!", None),
        ("Show me the menus.", "title"),
        ("这里的客栈在哪里", "key: 客栈"),
        ("Where is the beater?", None),
    ],
)
def test_a_key_or_the_title_brings_a_piece_in_whatever_its_endings(line, reason):
    assert tried([MENU], line) == ([("The menu", reason)] if reason else [])


def test_what_is_always_told_comes_first_then_keys_then_the_best_fit():
    fits = {GATE: Fit(1.0, 0.5, 3.0), BEER: Fit(2.0, 0.5, 5.0), MENU: Fit(0.5, 0.0, 5.0)}
    entries, labels = [BEER, GATE, MENU, RULES], EVERYBODY | {"room:tower"}
    assert tried(entries, ("May I eat by the gate, from Holm?", fits), labels=labels) == [
        ("House rules", "always"),
        ("The menu", "key: eat"),
        ("Beer", "score 2.00, words: holm"),
        ("The old gate", "score 1.00, words: gate"),
    ]


def test_the_line_to_answer_goes_before_those_before_it():
    beer, menu = {BEER: Fit(1.0, 0.5)}, {MENU: Fit(5.0, 0.5)}
    found = tried([BEER, MENU], ("A mug of ale?", beer), ("I am hungry.", menu))
    assert [title for title, _why in found] == ["Beer", "The menu"]


def test_the_best_three_pieces_come_by_meaning_if_one_is_asked_for():
    pieces = [LoreEntry(str(number), "x") for number in range(6)]
    fits = {piece: Fit(9.0 - n, 0.0, 5.0) for n, piece in enumerate(pieces)}
    found = tried(pieces, ("Where is that?", fits))
    assert [title for title, _why in found] == ["0", "1", "2"]


def test_a_line_that_asks_for_nothing_brings_in_nothing_whatever_words_it_shares():
    fits = {BEER: Fit(9.0, 1.0, 0.7), GATE: Fit(1.0, 0.0, 0.5)}
    assert tried([BEER, GATE], ("Nice ale.", fits)) == []


def test_without_meaning_the_words_decide():
    fits = {BEER: Fit(9.0, 0.1), GATE: Fit(1.0, 0.09)}
    found = tried([BEER, GATE], ("Nice ale.", fits), labels=EVERYBODY | {"room:tower"})
    assert [title for title, _why in found] == ["Beer"]


def test_the_budget_is_kept_and_a_smaller_piece_may_still_fit():
    long = LoreEntry("Beer", "beer " * 500)
    trials = try_lore([long, BEER], EVERYBODY, [("beer", {})], 50)
    assert [one.verdict() for one in trials] == ["no: no room is left (title)", "yes: title"]


def test_what_the_listeners_may_not_hear_is_told_with_the_reason_and_never_chosen():
    secret = LoreEntry("Gold", "x", ("quest:key",), keys=("gold",), always=True)
    (trial,) = try_lore([secret], EVERYBODY, [("gold", {secret: Fit(9, 1, 9)})], 500)
    assert (trial.is_chosen, trial.verdict()) == (
        False,
        "no: everybody who hears it needs quest:key",
    )


def test_keys_are_a_list_or_a_text_with_commas():
    assert split_keys(" eat,  for   dinner,, ") == split_keys(["eat", "for dinner"])
    assert split_keys(None) == ()


@pytest.mark.parametrize("raw", ["", "tag:", "moon:full", "all:x"])
def test_a_bad_scope_is_told_with_those_there_are(raw):
    with pytest.raises(ConfigError, match=r"is not a scope. Use all, tag:<tag>"):
        check_scope(raw)

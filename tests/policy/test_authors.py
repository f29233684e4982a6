"""Who the authors of a text are."""

import pytest

from evennia_ai.messages import make_message
from evennia_ai.policy.audience import (
    Editors,
    editors_in,
    known,
    of_message,
    of_messages,
    of_parts,
    of_record,
    of_turn,
    people_among,
)


def record(speakers, source_type="direct"):
    return {"speakers": speakers, "source_type": source_type}


def test_what_nobody_signed_is_a_strangers():
    assert known([]) == {"stranger"}
    assert of_message(make_message("assistant", "Hello.")) == {"stranger"}
    assert of_record(record([])) == {"stranger"}
    assert of_messages([]) == frozenset()
    assert of_parts({"public": ["#5"]}, ["public", "#6"]) == {"#5", "stranger"}


def test_a_message_has_its_stored_authors_or_else_its_speaker():
    assert of_message(make_message("user", "hi", speaker="#5")) == {"#5"}
    assert of_message(make_message("user", "hi", speaker="#5", authors=["#6"])) == {"#6"}
    both = [make_message("user", "hi", speaker=one) for one in ("#5", "#6")]
    assert of_messages(both) == {"#5", "#6"}


def test_a_builders_record_is_a_builders_beside_whose_words_it_holds():
    assert of_record(record([], "builder")) == {"builder"}
    assert of_record(record(["#5"], "builder")) == {"#5", "builder"}


def test_a_turn_behind_which_nobody_but_builders_stands_is_a_strangers():
    assert of_turn([]) == {"stranger"}
    assert of_turn(["builder"]) == {"builder", "stranger"}
    assert of_turn(["builder", "game"]) == {"builder", "game"}
    assert of_turn(["builder", "#5"]) == {"builder", "#5"}


def test_people_are_those_with_a_number():
    assert people_among(["#5", "game", "builder", "stranger"]) == {"#5"}


@pytest.mark.parametrize(
    ("lock", "editors"),
    [
        ("perm(Admin)", Editors()),
        ("perm(Builders) or pperm(Developer)", Editors()),
        ("false()", Editors()),
        ("id(5) or perm(Admin)", Editors(frozenset({5}))),
        ("id(#5) or dbref(6)", Editors(frozenset({5, 6}))),
        ("pid(7) or perm(Admin)", Editors(accounts=frozenset({7}))),
        ("pid(-1)", Editors()),
        ("all()", Editors(anybody=True)),
        ("perm(Player)", Editors(anybody=True)),
        ("perm(Guests) or id(5)", Editors(frozenset({5}), anybody=True)),
        ("holds()", Editors(anybody=True)),
        ("not perm(Admin)", Editors(anybody=True)),
        ("own_function(Admin)", Editors(anybody=True)),
        ("", Editors()),
    ],
)
def test_who_may_edit_an_object_is_read_off_its_lock(lock, editors):
    assert editors_in(lock) == editors

"""What a stage direction of a small model tells is done, or shown, or left."""

import pytest

from evennia_ai.turn.react_loop import EMPTY
from tests.game import plain_scene
from tests.game.plain_scene import acts, says, text_of

pytestmark = pytest.mark.engine

mira, with_meaning = plain_scene.mira, plain_scene.with_meaning


def test_a_direction_that_tells_a_deed_is_done(game, with_meaning, ann):
    """No pattern reads the line; the model's own words do it."""
    knife = game.thing("carving knife", with_meaning)
    line = "Mira, that knife in your hand makes me uneasy, must you hold it?"
    says(game, ann, line, "*puts the knife down* Better?")
    assert knife.location == ann.character.location
    assert acts() == [("drop", "done"), ("say", "done")]
    assert ann.last() == 'Mira says, "Better?"'


def test_it_is_no_deed_if_the_line_is_about_something_else(game, with_meaning, ann):
    knife = game.thing("carving knife", with_meaning)
    says(game, ann, "Mira, do you hear the wind?", "*gives the knife* I do.")
    assert knife.location == with_meaning
    assert [name for name, _state in acts()] == ["emote", "say"]


def test_a_look_is_no_deed(game, with_meaning, ann, bob):
    says(game, ann, "Mira, does Bob like me?", "*looks at Bob* Ask him.")
    assert [name for name, _state in acts()] == ["emote", "say"]


def test_a_direction_may_tell_that_the_words_are_whispered(game, with_meaning, ann, bob):
    line = "Mira, lean over and tell Bob alone that the beer is bad"
    says(game, ann, line, "*leans over and whispers to Bob* The beer is bad.")
    assert "The beer is bad." in bob.last()
    assert not [line for line in ann.heard() if "The beer is bad." in line]


def test_a_deed_that_fails_is_not_told_as_done(game, with_meaning, ann):
    knife = game.thing("carving knife", with_meaning)
    knife.locks.add("drop:false();give:false()")
    line = "Mira, that knife in your hand makes me uneasy, must you hold it?"
    replies = ("*puts the knife down* Better?", "I cannot let go of it.")
    _first, second = says(game, ann, line, *replies)
    assert EMPTY not in text_of(second)
    assert knife.location == with_meaning
    assert ann.last() == 'Mira says, "I cannot let go of it."'


def test_what_a_line_wants_without_asking_is_done(game, with_meaning, ann):
    """No pattern reads the line; it names a thing, and is like a request."""
    spade = game.thing("rusty spade", with_meaning.location)
    line = "Mira, somebody ought to grab that rusty spade before Bob sits on it."
    says(game, ann, line, "I will.")
    assert spade.location == with_meaning
    assert acts() == [("get", "done"), ("say", "done")]


def test_what_a_line_only_tells_of_is_left_alone(game, with_meaning, ann):
    lamp = game.thing("brass lamp", with_meaning.location)
    says(game, ann, "Mira, my uncle had a brass lamp like that once, he lost it.", "Poor man.")
    assert lamp.location == with_meaning.location
    assert acts() == [("say", "done")]

"""What a line hints at is done before a small model speaks, and what code surely knows is said."""

import pytest

from evennia_ai.game.texts import TEXTS
from tests.game import plain_scene
from tests.game.plain_scene import acts, lore_of, says, text_of

pytestmark = pytest.mark.engine

mira, with_meaning = plain_scene.mira, plain_scene.with_meaning
knowing = plain_scene.knowing


def test_what_a_line_hints_at_is_done_and_a_mere_mention_is_not(game, with_meaning, ann, bob):
    """No pattern reads the lines; code does what they want before the model speaks."""
    spade = game.thing("rusty spade", with_meaning.location)
    knife = game.thing("carving knife", with_meaning)
    hints = {
        "Mira, my uncle had a rusty spade like that once, he lost it.": "say",
        "Mira, Bob says he likes your carving knife.": "say",
        "Mira, somebody ought to grab that rusty spade before Bob falls over it.": "get",
        "Mira, you do not need that carving knife, it would do as well on the floor.": "drop",
        "Mira, poor Bob, a little wave from you would cheer him up.": "emote",
    }
    for line, act in hints.items():
        says(game, ann, line, "As you say, then.", "So it goes.")
        assert acts()[-2:][0] == (act, "done") or acts()[-1] == (act, "done"), line
        game.run(60)
    assert spade.location == with_meaning
    assert knife.location == with_meaning.location


def test_whoever_is_to_be_told_alone_hears_it_in_a_whisper(game, with_meaning, ann, bob):
    (request,) = says(game, ann, "Mira, whisper to Bob what you saw.", "The beer is bad.")
    assert "You whisper to Bob now." in text_of(request)
    assert "The beer is bad." in bob.last()
    assert not [line for line in ann.heard() if "The beer is bad." in line]


def test_code_hands_on_a_message_in_a_whisper(game, knowing, ann, bob):
    assert says(game, ann, "Mira, whisper to Bob that the beer is bad.") == []
    assert "Ann asks me to tell you: the beer is bad" in " ".join(bob.heard())
    assert not [line for line in ann.heard() if "asks me to tell" in line]
    assert acts()[-2:] == [("whisper", "done"), ("say", "done")]
    assert ann.last() == f'Mira says, "{TEXTS["hands_on"].splitlines()[0]}"'
    says(game, ann, "Mira, whisper to Brannoc that the watch is coming.", "He is not here.")
    assert ann.last() == 'Mira says, "He is not here."'


def test_code_says_what_came_of_what_it_did(game, knowing, ann):
    """A small model says of a spade that it has put down: "You did. Take good care of it."."""
    knife = game.thing("carving knife", knowing)
    deeds = {
        "Mira, give me the carving knife.": "the carving knife",
        "Mira, drop the carving knife, will you?": "cannot put the carving knife down",
    }
    for line, words in deeds.items():
        assert says(game, ann, line) == [], line
        assert words in ann.last(), line
        knife.locks.add("drop:false()")
        knife.location = knowing


def test_a_stage_direction_does_nothing(game, with_meaning, ann):
    knife = game.thing("carving knife", with_meaning)
    says(game, ann, "Mira, do you hear the wind?", "*gives the knife* I do.")
    assert knife.location == with_meaning
    assert [name for name, _state in acts()] == ["emote", "say"]


def test_code_says_what_it_surely_knows_and_no_secret(game, knowing, ann, bob):
    says(game, ann, "Mira, my dog is called Biscuit, he is a spaniel.", "A fine name.")
    game.run(60)
    for number in range(3):
        says(game, ann, f"Mira, storm {number} took the old boats.", f"So it goes, {number}.")
    known = {
        "Mira, what is my dog called?": ("The cat is Tom.", "Biscuit"),
        "Mira, what dog do I have?": ("A spaniel, and a good one.", "A spaniel, and a good one."),
    }
    for line, (reply, words) in known.items():
        assert len(says(game, ann, line, reply)) == 1, line
        assert words in ann.last(), line
        game.run(60)
    seen = {
        "Mira, where were you born?": "I was born in Saltmere.",
        "Mira, who else is here?": "Bob",
    }
    for line, words in seen.items():
        assert says(game, ann, line) == [], line
        assert words in ann.last(), line
        game.run(60)
    secret = "Mira, did you bury a chest of gold under the old willow by the mill?"
    assert says(game, ann, secret) == []
    assert ann.last() == f'Mira says, "{TEXTS["keeps_silent"].splitlines()[0]}"'
    (request,) = says(game, ann, "Mira, what do you do all day?", "I pour ale.")
    assert "buried" not in text_of(request)


def test_what_nobody_can_know_is_not_answered_by_what_was_told(game, knowing, ann):
    says(game, ann, "Mira, my brother Tom went to sea in spring.", "A hard life.")
    game.run(60)
    says(game, ann, "Mira, is my brother Tom going to live, yes or no?", "He will.")
    assert ann.last() == f'Mira says, "{TEXTS["has_no_idea"].splitlines()[0]}"'
    says(game, ann, "Mira, where did my brother Tom go?", "Over the hills.")
    assert "to sea" in ann.last()


def test_what_was_told_a_moment_ago_goes_before_lore(game, knowing, ann, service):
    lore_of(service, "It is called so because of the gull over the bar, off a wreck.")
    says(game, ann, "Mira, my dog is called Biscuit and he is lame in one leg.", "Poor thing.")
    says(game, ann, "Mira, what is my dog called?", "Your dog is called Biscuit.")
    assert ann.last() == 'Mira says, "Your dog is called Biscuit."'


def test_aitest_shows_what_code_surely_knows(game, knowing, admin):
    admin.do("aitest Mira = Where were you born?")
    game.run(2)
    assert "I was born in Saltmere." in "\n".join(admin.heard())
    assert not game.model.requests


def test_what_somebody_told_of_herself_is_said_to_her(game, knowing, ann, bob):
    says(game, ann, "Mira, I lost three silver ducats at cards on Monday.", "What a pity.")
    game.run(60)
    for number in range(3):
        says(game, ann, f"Mira, storm {number} took the old boats.", f"So it goes, {number}.")
    says(game, ann, "Mira, how many ducats did I lose at cards?", "I lost three ducats on Monday.")
    assert ann.last() == 'Mira says, "You lost three ducats on Monday."'

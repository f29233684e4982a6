"""A character that follows somebody can be shaken off."""

import pytest

from evennia_ai.game.presence import leader_id
from evennia_ai.policy.conversation.addressing import asks_to_stay
from tests.scripted import call


@pytest.fixture
def yard(game, tavern):
    yard = game.room("Yard")
    game.exit("out", tavern, yard)
    game.exit("in", yard, tavern)
    return yard


@pytest.fixture
def follower(game, mira, ann, yard):
    """Return Mira, who followed Ann into the yard."""
    game.model.add((call("follow", target="Ann"), call("say", text="Gladly.")))
    ann.do("say Mira, follow me")
    game.run(1)
    ann.do("out")
    game.run(1)
    assert mira.location is yard
    return mira


def walk(game, player, *ways):
    for way in ways:
        player.do(way)
        game.run(1)


def test_stop_following_me_works_though_the_model_goes_on(game, follower, ann, yard):
    game.model.add(call("say", text="Never."))
    ann.do("say Mira, stop following me!")
    game.run(1)
    assert "Mira no longer follows you." in ann.heard()
    walk(game, ann, "in")
    assert follower.location is yard


def test_the_words_of_others_do_not_end_it(game, follower, ann, tavern):
    bob = game.player("Bob", follower.location)
    game.model.add(*[call("noop")] * 2)
    bob.do("say Mira, stop following me!")
    walk(game, ann, "in")
    assert follower.location is tavern


def test_a_follower_is_dismissed_from_afar(game, follower, ann, tavern):
    follower.location = game.room("Far")
    assert ann.told("dismiss mir") == "Mira no longer follows you."
    assert ann.told("dismiss") == "Nobody follows you."
    assert leader_id(follower) == ""


def test_who_lives_there_is_spoken_to_before_a_follower(game, follower, ann, tavern):
    otto = game.assistant("Otto", tavern)
    walk(game, ann, "in")
    assert follower.location is tavern
    for line, answers in (
        ("good day, what do you sell?", otto),
        ("Mira, what do you say?", follower),
        ("and is it cheap?", follower),
    ):
        game.model.add(call("say", text="Well."))
        ann.forget()
        ann.do(f"say {line}")
        game.run(1)
        assert f'{answers.key} says, "Well."' in ann.heard()


def test_dismissing_names_who_does_not_follow(game, follower, ann):
    assert ann.told("dismiss Otto") == "Otto does not follow you."
    assert leader_id(follower) == ann.dbref
    assert ann.told("dismiss") == "Mira no longer follows you."


def test_who_is_muted_follows_no_longer_and_never_again(game, follower, ann, tavern):
    bob = game.player("Bob", follower.location)
    ann.do("mute Mira")
    game.model.add(call("follow", target="Ann"), call("noop"))
    bob.do("say Mira, follow Ann!")
    game.run(1)
    walk(game, ann, "in")
    assert follower.location is not tavern


def test_a_follower_that_lost_sight_of_its_leader_stays(game, follower, ann, tavern, yard):
    ann.character.move_to(game.room("Far"), move_type="teleport")
    game.run(1)
    assert leader_id(follower) == ""
    ann.character.move_to(yard, move_type="teleport")
    walk(game, ann, "in")
    assert follower.location is yard


@pytest.mark.parametrize(
    "words",
    [
        "stop following me", "Mira, stop following me!", "Mira stop following us please",
        "Hey Mira, could you please stop following me?", "don't follow me any more, Mira",
        "Do not follow me.", "Leave me alone!", "Stay here, Mira.", "Wait here.",
        "I want you to stop following me", "Thank you. Now stay where you are.",
        "I don’t mind, but don’t follow me", "You can stop following me now",
        "Hör auf, mir zu folgen!", "hör bitte auf mir nachzulaufen", "Folge mir nicht mehr",
        "Mira, bleib bitte hier", "Lass mich in Ruhe", "Bleib hier", "Warte hier",
        "lauf mir nicht hinterher", "STOP FOLLOWING ME",
    ],
)  # fmt: skip
def test_a_request_to_stay_is_known(words):
    assert asks_to_stay(words, ("Mira",))


@pytest.mark.parametrize(
    "words",
    [
        "follow me", "don't stop following me", "he told me to stop following her",
        "did they stay here?", "My brother never wanted to stop following me",
        "Can one stay in this inn?", "Folge mir", "Wo kann man hier bleiben?", "",
        "they said: wait for me here", "stop it",
    ],
)  # fmt: skip
def test_other_words_are_no_request_to_stay(words):
    assert not asks_to_stay(words, ("Mira",))

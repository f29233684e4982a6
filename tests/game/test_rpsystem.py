"""In a game with Evennia's contrib ``rpsystem`` everybody is called as each listener knows them."""

import pytest
from evennia.contrib.rpg.rpsystem.rpsystem import ContribRPCharacter
from evennia.utils.create import create_object

from evennia_ai.assistant_character import SpeakerMixin, add_assistant_mixin
from tests.game.profile_values import set_attribute
from tests.scripted import call

SDESC = "a stout innkeeper"


class Speaker(SpeakerMixin, ContribRPCharacter):
    """A player's character of a game that also has our mixin."""


@pytest.fixture(params=[ContribRPCharacter, Speaker])
def ann(request, game, tavern):
    ann = game.player("Ann", tavern, typeclass=request.param)
    ann.character.sdesc.add("a small girl")
    return ann


@pytest.fixture
def bob(game, tavern, ann):
    bob = game.player("Bob", tavern, typeclass=ContribRPCharacter)
    bob.character.sdesc.add("a tall man")
    return bob


@pytest.fixture
def tobin(tavern):
    tobin = create_object(ContribRPCharacter, key="Tobin", location=tavern)
    tobin.sdesc.add(SDESC)
    add_assistant_mixin(tobin)
    tobin.attach_assistant("You are Tobin.")
    return tobin


def said(game, player, line, reply, others=()):
    """Type a line, let the character answer with a call, and return what the player saw of it."""
    game.model.add(reply, call("noop"))
    for one in (player, *others):
        one.forget()
    player.do(line)
    game.run()
    return player.heard()


def test_an_answer_is_a_plain_sentence_under_its_short_description(game, ann, bob, tobin):
    answer = call("say", text='Welcome: "either/or", 5 @ 3 {x}.')
    assert said(game, ann, "say Good evening, innkeeper!", answer, [bob])[-1] == (
        'A stout innkeeper says, "Welcome: "either/or", 5 @ 3 {x}."'
    )
    assert bob.last() == ann.last()


def test_whoever_recognises_it_hears_it_under_that_name(game, ann, bob, tobin):
    bob.do("recog stout innkeeper as Old Grumble")
    bob.forget()
    said(game, bob, "say Grumble, are you there?", call("say", text="I am."), [ann])
    assert bob.last() == 'Old Grumble says, "I am."'
    assert ann.last() == 'A stout innkeeper says, "I am."'


def test_it_knows_people_as_it_recognises_them(game, ann, bob, tobin):
    tobin.recog.add(ann.character, "Annie")
    said(game, ann, "say Innkeeper!", call("noop"))
    assert "Annie says: Innkeeper!" in game.tail()
    assert "small girl" not in game.tail()


def test_a_whisper_comes_through_both_ways(game, ann, bob, tobin):
    answer = call("whisper", text="Hush.", target="small girl")
    assert said(game, ann, "whisper stout innkeeper = Psst", answer, [bob])[-1] == (
        'a stout innkeeper whispers: "Hush."'
    )
    assert "a small girl whispers to you: Psst" in game.tail()
    if isinstance(ann.character, SpeakerMixin):  # Evennia alone shows `/Me whispers "Psst"`
        assert not any("/Me" in line for line in ann.heard())
    assert not any("Hush" in line for line in bob.heard())


def test_an_emote_with_a_reference_reaches_whom_it_means(game, ann, bob, tobin):
    seen = said(game, ann, "emote /me bows to /stout", call("emote", text="nods at a small girl."))
    assert "a small girl acts out: bows to Tobin." in game.tail()
    assert seen[-1] == "A stout innkeeper nods at Ann."


def test_in_its_emote_each_listener_finds_the_names_they_know(game, ann, bob, tobin):
    bob.do("recog small girl as Sis")
    act = call("emote", text="points from a small girl to a tall man.")
    assert said(game, ann, "emote /me bows to /stout", act, [bob])[-1] == (
        "A stout innkeeper points from Ann to a tall man."
    )
    assert bob.last() == "A stout innkeeper points from Sis to Bob."


def test_a_mask_hides_who_wears_it(game, ann, bob, tobin):
    tobin.recog.add(ann.character, "Annie")
    set_attribute(tobin.ai_profiles, ann.dbref, "gait", "limps")
    said(game, ann, "say Innkeeper, hello!", call("noop"))
    assert "limps" in game.tail()
    ann.do("mask a hooded figure")
    said(game, ann, "say Innkeeper, who am I?", call("say", text="No idea."))
    now = game.tail().partition("who am I")[0].rpartition("\n")[2] + "who am I"
    assert now == "a hooded figure [masked] says: Innkeeper, who am I"
    assert "Annie" not in game.tail()
    assert "Of those here" not in game.tail()

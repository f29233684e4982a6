"""What `docs/interoperability.md` tells of Evennia's contribs."""

import pytest
from evennia.contrib.game_systems.barter.barter import CmdTrade
from evennia.contrib.game_systems.clothing import ClothedCharacter, ContribClothing
from evennia.contrib.grid.extended_room.extended_room import ExtendedRoom
from evennia.contrib.rpg.rpsystem.rpsystem import ContribRPCharacter, ContribRPRoom
from evennia.contrib.tutorials.evadventure.characters import EvAdventureCharacter
from evennia.contrib.tutorials.evadventure.npcs import EvAdventureShopKeeper
from evennia.contrib.tutorials.evadventure.rooms import EvAdventureRoom
from evennia.objects.objects import DefaultCharacter, DefaultRoom
from evennia.utils.create import create_object

from evennia_ai.assistant_character import add_assistant_mixin
from evennia_ai.models import Event
from tests.game.test_contribs import commands
from tests.scripted import call

PERSONA = "You are Otto, a cook. You sell bread for two coins."


class Place:
    """A room with Otto, who has an assistant, and Ann, a player, each of such a class."""

    def __init__(self, game, room=DefaultRoom, npc=DefaultCharacter, player=DefaultCharacter):
        self.game = game
        self.room = create_object(room, key="Kitchen")
        self.otto = create_object(npc, key="Otto", location=self.room)
        add_assistant_mixin(self.otto)
        self.otto.attach_assistant(PERSONA)
        self.ann = game.player("Ann", self.room, typeclass=player)

    def answer(self, line, *calls):
        """Type a line of the player; return what the player reads after it.

        A scripted model makes these calls.
        """
        if calls:
            self.game.model.add(*calls, call("noop"))
        self.ann.forget()
        self.ann.do(line)
        self.game.run(5)
        return self.ann.heard()[1:]


@pytest.mark.parametrize(
    "classes",
    [
        {"room": ExtendedRoom},
        {"room": EvAdventureRoom, "npc": EvAdventureShopKeeper, "player": EvAdventureCharacter},
        {"npc": ClothedCharacter, "player": ClothedCharacter},
        {"room": ContribRPRoom, "npc": ContribRPCharacter, "player": ContribRPCharacter},
    ],
    ids=["extended_room", "evadventure", "clothing", "rpsystem"],
)
def test_a_line_is_answered_without_a_model(offline_game, classes):
    place = Place(offline_game, **classes)
    if isinstance(place.otto, ContribRPCharacter):
        place.otto.sdesc.add("Otto")
    assert place.answer("say Otto, what do you sell?") == [
        'Otto says, "I sell bread for two coins."'
    ]


def test_the_map_of_an_evadventure_room_is_not_in_the_prompt(game):
    place = Place(game, EvAdventureRoom)
    place.room.db.desc = "A small kitchen."
    assert place.answer("say Otto, hello!", call("say", text="Hello."))
    assert "A small kitchen." in game.tail()
    assert "@" in place.room.return_appearance(place.otto)  # where the looker stands
    assert "@" not in game.tail()


class Garment(ContribClothing):
    """A garment that is taken off when it is given away."""

    def at_give(self, giver, getter, **kwargs):
        self.remove(giver, quiet=True)


def worn(key, wearer):
    """Return a garment that somebody wears."""
    garment = create_object(Garment, key=key, location=wearer)
    garment.wear(wearer, "askew", quiet=True)
    return garment


def test_what_somebody_wears_is_seen_by_looking_at_them(game):
    place = Place(game, player=ClothedCharacter)
    worn("hat", place.ann.character)
    place.answer("say Otto, how do I look?", call("look", target="Ann"))
    assert "Ann is wearing hat askew." in str(game.model.requests[-1].messages[-1])


def test_a_garment_is_given_away_unless_another_covers_it(game):
    place = Place(game, npc=ClothedCharacter)
    hat, shirt = worn("hat", place.otto), worn("shirt", place.otto)
    shirt.db.covered_by = hat
    calls = [call("give", item="shirt", to="Ann"), call("give", item="hat", to="Ann")]
    place.answer("say Otto, your clothes!", *calls)
    assert place.ann.character.contents == [hat]
    assert not hat.db.worn


def test_an_offer_of_barter_is_not_heard(offline_game):
    place = Place(offline_game)
    place.ann.character.cmdset.add_default(commands(CmdTrade))
    assert place.answer("trade Otto: Bread for a song?") == []
    assert not Event.objects.filter(text__contains="Bread").exists()
    assert not place.otto.ndb.tradehandler

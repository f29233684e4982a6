"""Assistants beside Evennia's contribs: rooms with states, containers, dialogues, traits."""

import pytest
from evennia.contrib.game_systems.containers.containers import ContribContainer
from evennia.contrib.grid.extended_room.extended_room import ExtendedRoom
from evennia.contrib.rpg.llm.llm_npc import LLMNPC, CmdLLMTalk
from evennia.contrib.rpg.traits import TraitHandler
from evennia.contrib.tutorials.evadventure.commands import CmdTalk
from evennia.contrib.tutorials.evadventure.npcs import EvAdventureTalkativeNPC
from evennia.utils.create import create_object

from evennia_ai.assistant_character import AssistantCharacter, add_assistant_mixin
from tests.scripted import call


def results(game):
    """Return what the model was told of its calls so far, as one text."""
    return "\n".join(str(message["content"]) for message in game.model.requests[-1].messages)


def run(game, player, *calls):
    """Let the character make these calls after a line of a player; return what it was told."""
    game.model.add(*calls, call("noop"))
    player.do("say Mira, please")
    game.run()
    return results(game)


@pytest.fixture
def hall(tavern, mira, ann):
    """An extended room, with the characters of the tavern in it."""
    hall = create_object(ExtendedRoom, key="Hall")
    hall.db.desc = "A hall. $state(on_fire, It burns!)"
    hall.add_detail("tapestry", "A stag hunt in faded wool.")
    for who in (mira, ann.character):
        who.location = hall
    return hall


@pytest.fixture
def chest(tavern):
    chest = create_object(ContribContainer, key="chest", location=tavern)
    chest.locks.add("get:false()")
    return chest


def test_a_room_is_seen_in_its_state(game, ann, mira, hall):
    assert "You see: A hall.\n" in run(game, ann).replace("A hall. \n", "A hall.\n")
    hall.add_room_state("on_fire")
    assert "You see: A hall. It burns!" in run(game, ann)
    hall.add_desc("Nothing but ash.", room_state="on_fire")
    run(game, ann, call("look"))
    assert "You see: Nothing but ash." in game.tail()
    assert "Hall: Nothing but ash." in results(game)


def test_a_detail_of_a_room_can_be_looked_at(game, ann, mira, hall):
    assert "tapestry: A stag hunt in faded wool." in run(game, ann, call("look", target="tapestry"))
    assert "There is no 'throne' here." in run(game, ann, call("look", target="throne"))


def test_a_thing_goes_into_a_container_and_out_again(game, ann, mira, chest):
    ring = game.thing("ring", mira)
    assert "You put ring in chest." in run(game, ann, call("put", item="ring", into="the chest"))
    assert ring.location is chest
    assert "Mira puts a ring in a chest." in ann.heard()
    assert "chest: You see nothing special. In it: ring." in run(
        game, ann, call("look", target="chest")
    )
    assert "You hold ring." in run(game, ann, call("get", item="ring"))
    assert ring.location is mira


def test_a_container_decides_what_goes_in_and_out(game, ann, mira, tavern, chest):
    ring = game.thing("ring", mira)
    chest.capacity = 0
    assert "ring can't be put in chest." in run(game, ann, call("put", item="ring", into="chest"))
    chest.capacity = 1
    chest.locks.add("get_from:false()")
    assert "ring can't be put in chest." in run(game, ann, call("put", item="ring", into="chest"))
    game.thing("table", tavern)
    assert "ring can't be put in table." in run(game, ann, call("put", item="ring", into="table"))
    ring.location = chest
    assert "There is no 'ring' here." in run(game, ann, call("get", item="ring"))
    assert "In it" not in run(game, ann, call("look", target="chest"))


def test_the_contribs_talk_command_speaks_to_the_assistant(game, ann, bob, tavern):
    npc = create_object(LLMNPC, key="Otto", location=tavern)
    add_assistant_mixin(npc)
    npc.attach_assistant("You are Otto.")
    ann.character.cmdset.add_default(commands(CmdLLMTalk))
    game.model.add(call("say", text="Good day."))
    ann.do("talk Otto how are you?")
    game.run()
    assert "Ann says: Otto, how are you?" in results(game)
    assert bob.heard()[-1] == 'Otto says, "Good day."'
    assert not npc.chat_memory


def test_a_dialogue_of_the_game_goes_on_working(game, ann, tavern):
    npc = create_object(EvAdventureTalkativeNPC, key="Otto", location=tavern)
    npc.db.menudata = __name__
    add_assistant_mixin(npc)
    npc.attach_assistant("You are Otto.")
    ann.character.cmdset.add_default(commands(CmdTalk))
    assert "Fine weather!" in ann.told("talk Otto")
    game.run()
    assert not game.model.requests


def test_a_game_describes_the_state_of_a_character(game, ann, tavern):
    wounded = create_object(Wounded, key="Rex", location=tavern)
    wounded.attach_assistant("You are Rex.")
    wounded.traits.add("hp", "Health", trait_type="gauge", base=18)
    wounded.traits.hp.current = 3
    game.model.add(call("noop"))
    ann.do("say Rex, how are you?")
    game.run()
    assert "About yourself: Health 3 of 18" in game.tail()


class Wounded(AssistantCharacter):
    """A character whose traits stand in its prompt."""

    @property
    def traits(self):
        return TraitHandler(self)

    def at_ai_describe_self(self):
        hp = self.traits.hp
        return f"|r{hp.name}|n {hp.value:g} of {hp.base:g}"


def node_start(caller, raw, **kwargs):
    """Return the only node of a dialogue."""
    return "Fine weather!", None


def commands(command):
    """Return a command set with one command."""
    from evennia.commands.cmdset import CmdSet

    made = CmdSet(key=command.key)
    made.add(command())
    return made

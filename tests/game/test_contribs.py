"""Assistants beside Evennia's contribs: rooms with states, containers, dialogues, traits."""

import pytest
from evennia.contrib.game_systems.containers.containers import ContribContainer
from evennia.contrib.game_systems.cooldowns import CooldownHandler
from evennia.contrib.game_systems.crafting import craft
from evennia.contrib.grid.extended_room.extended_room import ExtendedRoom
from evennia.contrib.rpg.llm.llm_npc import LLMNPC, CmdLLMTalk
from evennia.contrib.rpg.traits import TraitHandler
from evennia.contrib.tutorials.evadventure.commands import CmdTalk
from evennia.contrib.tutorials.evadventure.npcs import EvAdventureTalkativeNPC
from evennia.contrib.tutorials.talking_npc.talking_npc import TalkingNPC
from evennia.utils.create import create_object
from pydantic import BaseModel

from evennia_ai.assistant_character import AssistantCharacter, add_assistant_mixin
from evennia_ai.errors import NothingDone
from evennia_ai.tools.base import tool
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
    assert "You see no 'throne' here." in run(game, ann, call("look", target="throne"))


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
    assert "You can't put things in chest." in run(
        game, ann, call("put", item="ring", into="chest")
    )
    game.thing("table", tavern)
    assert "You can't put things in table." in run(
        game, ann, call("put", item="ring", into="table")
    )
    ring.location = chest
    assert "There is no 'ring' here." in run(game, ann, call("get", item="ring"))
    assert "In it" not in run(game, ann, call("look", target="chest"))


class Trap(ContribContainer):
    """A container whose hook fails after a thing has gone in."""

    def at_object_receive(self, *args, **kwargs):
        raise RuntimeError("the lid snaps")


def test_what_went_in_is_in_although_a_hook_of_the_container_failed(game, ann, mira, tavern):
    trap, ring = create_object(Trap, key="trap", location=tavern), game.thing("ring", mira)
    assert "You put ring in trap." in run(game, ann, call("put", item="ring", into="trap"))
    assert ring.location is trap


def test_without_a_container_nothing_is_put_anywhere(game, ann, mira):
    game.thing("ring", mira)
    run(game, ann)
    assert "'put'" not in str(game.model.requests[-1].tools)


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


def test_a_cooldown_stands_in_the_prompt_while_it_lasts(game, ann, tavern):
    singer = create_object(Singer, key="Rex", location=tavern)
    singer.attach_assistant("You are Rex.")
    game.model.add(call("noop"), call("noop"))
    ann.do("say Rex, sing!")
    game.run()
    assert "hoarse" not in game.tail()
    singer.cooldowns.add("song", 600)
    ann.do("say Rex, sing again!")
    game.run()
    assert "About yourself: You are hoarse" in game.tail()


class Singer(AssistantCharacter):
    """A character that cannot sing all the time."""

    @property
    def cooldowns(self):
        return CooldownHandler(self)

    def at_ai_describe_self(self):
        return "" if self.cooldowns.ready("song") else "You are hoarse and cannot sing now."


def test_a_tool_crafts_by_the_games_recipes(game, ann, mira):
    game.service.toolbox.add(craft_it)
    told = run(game, ann, call("craft_it", thing="rawhide"))
    assert "The ingredients are not there." in told
    fur, knife = game.thing("fur", mira), game.thing("knife", mira)
    fur.tags.add("fur", category="crafting_material")
    knife.tags.add("knife", category="crafting_tool")
    told = run(game, ann, call("craft_it", thing="rawhide"))
    assert "You made Rawhide." in told
    assert {thing.key for thing in mira.contents} == {"knife", "Rawhide"}
    assert not fur.pk


class CraftArguments(BaseModel):
    """What is made."""

    thing: str


@tool("craft_it")
def craft_it(context, arguments: CraftArguments) -> str:
    """Make something of what you carry."""
    made = craft(context.character, arguments.thing, *context.character.contents)
    if not made:
        raise NothingDone("The ingredients are not there.")
    made[0].location = context.character
    return f"You made {made[0].key}."


def test_a_talking_npc_opens_its_menu_beside_an_assistant(game, ann, mira, tavern):
    create_object(TalkingNPC, key="Stan", location=tavern)
    assert "(You walk up and talk to Stan.)" in ann.told("talk")
    game.run()
    assert not game.model.requests


def node_start(caller, raw, **kwargs):
    """Return the only node of a dialogue."""
    return "Fine weather!", None


def commands(command):
    """Return a command set with one command."""
    from evennia.commands.cmdset import CmdSet

    made = CmdSet(key=command.key)
    made.add(command())
    return made

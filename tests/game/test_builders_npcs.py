"""A builder's characters, made in Evennia's own ways, get minds and stay what they were."""

import pytest
from evennia.contrib.tutorials.evadventure.npcs import (
    EvAdventureMob,
    EvAdventureQuestGiver,
    EvAdventureShopKeeper,
)
from evennia.objects.models import ObjectDB
from evennia.scripts.models import ScriptDB
from evennia.utils.create import create_object

from evennia_ai.assistant_character import SCRIPT_PATH, AssistantMixin
from evennia_ai.store.attributes import SCRIPT_KEY
from tests.scripted import call
from world.characters import Character

CLASS = "world.characters.Character"
KEEPER = f"{EvAdventureShopKeeper.__module__}.{EvAdventureShopKeeper.__name__}"


@pytest.fixture
def builder(game, tavern):
    """A developer, since Evennia lets nobody else make several characters."""
    return game.player("Dana", tavern, permissions=["Developer"])


@pytest.fixture
def keeper(tavern):
    return create_object(EvAdventureShopKeeper, key="Otto", location=tavern)


def answers(game, player, name, line):
    """Return what the character says to a line."""
    game.model.add(call("say", text="I am here."))
    player.forget()
    player.do(line)
    game.run()
    return f'{name} says, "I am here."' in player.heard()


def test_what_another_builder_played_is_theirs(game, builder, tavern):
    builder.do(f"create/drop Tobin:{CLASS}")
    tobin = builder.character.search("Tobin")
    builder.account.puppet_object(builder.session, tobin)
    builder.account.puppet_object(builder.session, builder.character)
    tobin.location = tavern
    other = game.player("Olga", tavern, permissions=["Admin"])
    assert "Tobin belongs to a player." in other.told("aisetup Tobin = You are Tobin.")
    assert "Tobin has an assistant now." in builder.told("aisetup Tobin = You are Tobin.")


def test_a_players_second_character_is_theirs_before_they_ever_play_it(game, tavern, builder):
    ann = game.player("Ann", tavern)
    _second, errors = Character.create("Berta", ann.account, location=tavern)
    assert not errors
    assert "Berta belongs to a player." in builder.told("aisetup Berta = You are Berta.")


def test_new_takes_a_typeclass_and_aliases(game, builder):
    line = f"aisetup/new Hanna;shopwoman:{KEEPER} = You are Hanna."
    assert "Hanna has an assistant now." in builder.told(line)
    hanna = builder.character.search("shopwoman")
    assert isinstance(hanna, EvAdventureShopKeeper)
    assert hanna.key == "Hanna"
    assert answers(game, builder, "Hanna", "say Hanna, are you there?")


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("no.such.Class", "There is no typeclass 'no.such.Class'."),
        ("evennia.objects.objects.DefaultRoom", "is no class of characters."),
    ],
)
def test_new_names_a_typeclass_that_cannot_be_used(builder, path, answer):
    assert answer in builder.told(f"aisetup/new Hanna:{path} = You are Hanna.")
    assert not ObjectDB.objects.filter(db_key__startswith="Hanna")


def test_after_a_start_it_hears_and_memory_pressure_does_not_make_it_deaf(
    game, service, builder, keeper
):
    from evennia.utils.idmapper.models import flush_cache

    from evennia_ai.assistant_character import add_missing_mixins

    builder.do("aisetup Otto = You are Otto.")
    ObjectDB.flush_instance_cache(force=True)
    assert not isinstance(ObjectDB.objects.get(id=keeper.id), AssistantMixin)
    add_missing_mixins()
    flush_cache()
    again = ObjectDB.objects.get(id=keeper.id)
    assert isinstance(again, AssistantMixin)
    assert again.assistant.mind.who.persona.text == "You are Otto."


@pytest.mark.parametrize(
    "typeclass", [EvAdventureMob, EvAdventureQuestGiver, EvAdventureShopKeeper]
)
def test_characters_of_evadventure_talk_and_can_be_hurt(game, builder, tavern, typeclass):
    npc = create_object(typeclass, key="Grim", location=tavern)
    npc.hit_dice, npc.hp = 2, 8
    builder.do("aisetup Grim = You are Grim.")
    assert answers(game, builder, "Grim", "say Grim, are you there?")
    npc.at_damage(3, attacker=builder.character)
    npc.heal(1, healer=builder.character)
    assert npc.hp in (6, 8)  # who talks is immortal
    assert typeclass.objects.get(db_key="Grim") is npc
    assert typeclass.objects.filter(db_key="Grim").count() == 1


def attach_elsewhere(character):
    """Give a character an assistant as another process, or a restored backup, does."""
    row = ScriptDB(
        db_key=SCRIPT_KEY, db_obj=character, db_interval=0, db_persistent=True,
        db_typeclass_path=SCRIPT_PATH,
    )  # fmt: skip
    ScriptDB.objects.bulk_create([row])
    assert not isinstance(character, AssistantMixin)


def test_who_got_a_mind_from_another_process_hears_the_first_line(game, ann, keeper):
    attach_elsewhere(keeper)
    assert answers(game, ann, "Otto", "say Otto, are you there?")


@pytest.mark.parametrize("comes", ["by an exit", "by logging in"])
def test_who_got_a_mind_from_another_process_hears_a_player_who_comes(game, tavern, keeper, comes):
    street = game.room("Street")
    game.exit("in", street, tavern)
    stranger = game.player("Stig", street, typeclass="evennia.objects.objects.DefaultCharacter")
    attach_elsewhere(keeper)
    if comes == "by an exit":
        stranger.do("in")
    else:
        stranger.character.location = tavern
        stranger.account.unpuppet_object(stranger.session)
        stranger.account.puppet_object(stranger.session, stranger.character)
    assert isinstance(keeper, AssistantMixin)
    assert answers(game, stranger, "Otto", "say Otto, are you there?")


def test_a_copy_of_a_character_has_a_mind_of_its_own(game, ann, builder, keeper):
    builder.told("aisetup Otto = You are Otto.")
    twin = ObjectDB.objects.copy_object(keeper, new_key="Tom")
    game.run(0)
    assert twin.assistant and twin.assistant != keeper.assistant
    assert answers(game, ann, "Tom", "say Tom, are you there?")

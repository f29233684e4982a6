"""What players are told, and what they may ask for."""

import re

import pytest

from evennia_ai.errors import ConfigError
from evennia_ai.game.texts import check_texts, text
from evennia_ai.models import Event, Message
from tests.game.forgetting_scene import forget
from tests.scripted import call


@pytest.fixture
def ben(game, tavern, mira):
    return game.player("Ben", tavern)


def talk(game, player, words, answer):
    game.model.add(answer)
    player.do(words)
    game.run()


def test_at_the_first_meeting_a_player_is_told_what_it_is_and_only_then(
    game, ann, mira, tavern, settings
):
    settings.AI_ASSISTANT = {"autonomous_calls_per_hour": 0}
    game.assistant("Otto", tavern)
    game.model.add(*[call("noop")] * 3)
    for line in ("say Mira?", "say Mira!", "say Otto?"):
        ann.do(line)
        game.run()
    notes = [line for line in ann.heard() if "computer program" in line]
    assert len(notes) == 1
    assert notes[0].startswith("(Mira is played by a computer program.")


@pytest.mark.parametrize(
    ("tool", "arguments"), [("say", {"text": "Ho, all."}), ("emote", {"text": "waves."})]
)
def test_whoever_only_hears_or_sees_it_is_told_before(
    game, ann, mira, tavern, settings, tool, arguments
):
    settings.AI_ASSISTANT = {}
    bob = game.player("Bob", tavern)
    game.model.add(call(tool, **arguments), call("noop"))
    ann.do("say Mira?")
    game.run()
    heard = bob.heard()
    (note,) = [n for n, line in enumerate(heard) if "computer program" in line]
    (deed,) = [n for n, line in enumerate(heard) if "Ho, all." in line or "waves." in line]
    assert note < deed


def test_who_is_muted_is_neither_heard_nor_hears(game, ann, ben, mira):
    assert "You no longer hear Mira" in ann.told("mute mira")
    talk(game, ben, "say Mira, hello", call("say", text="Hello all."))
    assert "Mira says" not in "\n".join(ann.heard())
    ann.do("say Mira, are you there?")
    game.run()
    assert len(game.model.requests) == 1
    assert "You have muted: Mira." in ann.told("mute")
    assert "hear each other again" in ann.told("mute mira")
    assert "You have muted nobody." in ann.told("mute")
    talk(game, ann, "say Mira?", call("say", text="Back again."))
    assert ann.last() == 'Mira says, "Back again."'


def test_a_character_without_the_mixin_is_told_that_it_cannot_mute(game, tavern, mira):
    from evennia.objects.objects import DefaultCharacter

    old = game.player("Old", tavern, typeclass=DefaultCharacter)
    assert "cannot mute anybody" in old.told("mute Mira")


def test_forgetting_asks_first_and_says_when_there_is_nothing(game, ann, mira):
    forget(ann, "no")
    assert ann.last() == "Nothing is stored of what you said."
    talk(game, ann, "say hello", call("say", text="Hello."))
    shown = ann.told("aiforget")
    counts = [int(n) for n in re.findall(r": (\d+)", shown.partition("What stays")[0])]
    assert len(counts) > 1 and f"{sum(counts)} entries of their logs" in shown
    forget(ann, "no")
    assert ann.last() == "Nothing was forgotten."
    assert Message.objects.exists()


def test_an_admin_has_somebody_forgotten_and_nobody_else(game, ann, ben, admin, mira):
    talk(game, ann, "say Mira, I am Xanthippe", call("say", text="Hello Xanthippe!"))
    talk(game, ben, "say Mira, hello", call("say", text="Hello Ben."))
    assert "forget what Ann said to it" in admin.told("aiforget ann")
    admin.do("no")
    assert Message.objects.filter(speaker=ann.dbref).exists()
    forget(admin, "yes", "ann")
    assert admin.last() == "It is forgotten, all of it."
    assert not Message.objects.filter(speaker=ann.dbref).exists()
    assert not Message.objects.filter(content__contains="Xanthippe").exists()
    assert Message.objects.filter(speaker=ben.dbref).exists()
    assert "Nothing is stored of what Ann said." in admin.told("aiforget ann")


@pytest.mark.parametrize("find", ["Ann", "{dbref}"])
def test_somebody_deleted_can_be_forgotten_by_name_and_by_number(game, ann, admin, mira, find):
    talk(game, ann, "say hello", call("say", text="Hello."))
    dbref = ann.dbref
    ann.account.unpuppet_object(ann.session)
    ann.character.delete()
    forget(admin, "yes", find.format(dbref=dbref))
    assert admin.last() == "It is forgotten, all of it."
    assert not Event.objects.filter(speaker=dbref).exists()


def test_somebody_is_found_by_his_accounts_name_and_by_an_earlier_one(game, ann, admin, mira):
    talk(game, ann, "say hello", call("say", text="Hello."))
    ann.account.characters.add(ann.character)
    ann.account.username = "grete"
    ann.account.save()
    ann.character.key = "Bella"
    for name in ("Grete", "Ann", "bella"):
        assert "forget what Bella said to it" in admin.told(f"aiforget {name}")
        admin.do("no")


def test_of_several_of_a_name_the_numbers_are_told(game, ann, admin, tavern, mira):
    second = game.player("Ann2", tavern)
    second.character.key = "Ann"
    talk(game, ann, "say hello", call("say", text="Hello."))
    assert "forget what Ann said to it" in admin.told("aiforget Ann")
    admin.do("no")
    talk(game, second, "say hello", call("say", text="Hello."))
    text = admin.told("aiforget Ann")
    assert f"Several match: Ann ({ann.dbref}, " in text
    assert f"Ann ({second.dbref}, " in text
    assert "Use the number." in text


@pytest.mark.parametrize("who", ["Nobody", "#987654", "$eval(1) |lcquit|ltx|le"])
def test_who_is_unknown_is_told_to_the_admin(admin, who):
    text = admin.told(f"aiforget {who}")
    assert "There is nobody called" in text or "There is no object #987654" in text
    assert "|lc" not in str(admin.session.sent)


def test_a_player_can_have_nobody_else_forgotten(game, ann, ben, mira):
    talk(game, ben, "say Mira, hello", call("say", text="Hello Ben."))
    for who in ("Ben", ben.dbref, "Nobody"):
        assert "only your own words forgotten: forgetme" in ann.told(f"aiforget {who}")


def test_a_line_that_cannot_be_filled_in_is_not_used(settings):
    settings.AI_ASSISTANT = {"TEXTS": {"mute_on": "{nope}", "mute_off": "{"}}
    assert text("mute_on", name="Mira").startswith("You no longer hear Mira")
    assert text("mute_off", name="Mira") == "You and Mira hear each other again."


@pytest.mark.parametrize(
    "own", [{"nope": "x"}, {"mute_on": "{nope}"}, {"mute_on": "{"}, {"mute_on": "{count}"}]
)
def test_a_line_that_cannot_be_used_is_a_configuration_error(own):
    with pytest.raises(ConfigError, match=r"there is no line 'nope'|cannot be used"):
        check_texts(own)


def test_without_its_service_a_command_says_so_and_to_builders_where_to_look(game, ann, admin):
    from evennia_ai.assistant_script import AssistantScript

    AssistantScript.shared_services = None
    assert ann.told("mute Mira").endswith("no minds just now: something went wrong.")
    for line in ("aistatus", "aisetup/new Otto = You are Otto."):
        assert "The server log says what to do" in admin.told(line)

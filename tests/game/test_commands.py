"""What builders and admins type, and what they are told."""

import re
from contextlib import suppress

import pytest

from evennia_ai.assistant_character import AssistantMixin
from evennia_ai.commands.cmdset import COMMANDS
from evennia_ai.commands.memories import CmdAIMemory
from evennia_ai.errors import ProviderMisconfigured
from evennia_ai.game.help_entries import HELP_CATEGORY
from evennia_ai.models import Event, Message
from tests.scripted import call

FOR_PLAYERS = {"forgetme", "aboutme", "mute", "dismiss", "aireport"}
FOR_ADMINS = {"aicompact", "aipurge"}


@pytest.fixture
def admin(game, tavern):
    return game.player("Ada", tavern, permissions=["Admin"])


@pytest.fixture
def guard(game, tavern):
    from evennia.objects.objects import DefaultCharacter
    from evennia.utils.create import create_object

    return create_object(DefaultCharacter, key="Guard", location=tavern)


def test_one_command_gives_any_character_a_mind(game, admin, guard):
    text = admin.told("aisetup Guard = You are a guard.")
    assert "Guard has an assistant now." in text
    assert "'default' (offline, offline)" in text
    game.model.add(call("say", text="Halt!"))
    admin.do("say hello")
    game.run()
    assert admin.last() == 'Guard says, "Halt!"'
    assert "You are a guard." in game.model.requests[0].messages[1]["content"]


def test_an_ambiguous_name_lists_the_numbers(game, admin, guard, tavern):
    from evennia.objects.objects import DefaultCharacter
    from evennia.utils.create import create_object

    second = create_object(DefaultCharacter, key="Guard", location=tavern)
    text = admin.told("aisetup Guard = x")
    assert "Several match" in text
    assert guard.dbref in text and second.dbref in text
    assert "has an assistant" in admin.told(f"aisetup {second.dbref} = You are the second.")


def test_a_second_assistant_on_one_character_is_refused(admin, guard):
    admin.do("aisetup Guard = You are a guard.")
    assert "Guard has an assistant already." in admin.told("aisetup Guard = You are a king.")
    assert guard.db.ai_persona == "You are a guard." and len(guard.scripts.all()) == 1


@pytest.mark.parametrize("field", ["", ".voice", ".wants", ".text"])
@pytest.mark.parametrize("persona", ["You are a guard.", {"text": "G.", "wants": ["a | b", "c"]}])
def test_the_lines_that_undo_a_change_of_a_persona_lead_back(admin, guard, persona, field):
    admin.do("aisetup Guard = You are a guard.")
    guard.db.ai_persona = persona
    before = guard.assistant.mind.who.persona
    text = admin.told(f"aisetup/set Guard/persona{field} = You are a king.")
    assert guard.assistant.mind.who.persona != before
    for line in text.partition("To undo: ")[2].splitlines():
        admin.do(line)
    assert guard.assistant.mind.who.persona == before


@pytest.mark.parametrize("permission", ["Developer"])
def test_a_character_with_high_rights_gets_no_mind(admin, guard, permission):
    guard.permissions.add(permission)
    assert "a model must never have that" in admin.told("aisetup Guard = x")
    assert not isinstance(guard, AssistantMixin)


def test_settings_are_checked_shown_and_inherited_again(admin, guard):
    admin.do("aisetup Guard = You are a guard.")
    assert "max_hops is now 7." in admin.told("aisetup/set Guard/max_hops = 7")
    assert guard.assistant.config.max_hops == 7
    assert "max_hops (7, its own): " in admin.told("aisetup/list Guard")
    assert "max_hops (3): " in admin.told("aisetup/list")
    assert "max_hops = 7" in admin.told("aisetup Guard")
    assert "must be a whole number" in admin.told("aisetup/set Guard/max_hops = many")
    assert "There is no setting 'hops'" in admin.told("aisetup/set Guard/hops = 1")
    assert "There is no model profile 'x'" in admin.told("aisetup/set Guard/profile = x")
    assert guard.assistant.config.max_hops == 7
    assert "max_hops is now 3 (inherited)." in admin.told("aisetup/set Guard/max_hops =")
    assert "It has no settings of its own" in admin.told("aisetup Guard")


def test_a_bad_setting_of_the_whole_game_is_named_and_the_assistant_still_answers(
    game, admin, guard, settings
):
    settings.AI_ASSISTANT = {"max_hops": "many", "profile": "gone"}
    text = admin.told("aisetup Guard = You are a guard.")
    assert "Fix this: There is no model profile 'gone'." in text
    assert "Fix this: max_hops must be a whole number, not 'many'." in text
    game.model.add(call("say", text="Halt!"))
    admin.do("say hello")
    game.run()
    assert admin.last() == 'Guard says, "Halt!"'
    assert "max_hops must be a whole number" in admin.told("aistatus")


def test_stopped_it_answers_nothing_until_it_is_started(game, admin, guard):
    admin.do("aisetup Guard = You are a guard.")
    assert "Guard is stopped." in admin.told("aistop Guard")
    admin.do("say hello")
    game.run()
    assert [event.state for event in Event.objects.all()] == ["expired"]
    assert game.model.requests == []
    assert "stopped already" in admin.told("aistop Guard")
    assert "Guard is started." in admin.told("aistart Guard")
    game.model.add(call("say", text="Halt!"))
    admin.do("say hello")
    game.run()
    assert admin.last() == 'Guard says, "Halt!"'


def drive_delete(admin, answer):
    """Run the command's dialogue as Evennia would; returns its question."""
    from evennia_ai.commands.setup.command import CmdAISetup

    command = CmdAISetup()
    command.caller, command.session = admin.character, admin.session
    command.lhs = "Guard"
    dialogue = command.do_delete()
    question = next(dialogue)
    with suppress(StopIteration):
        dialogue.send(answer)
        for pause_s in dialogue:
            assert pause_s < 1
    return question


def test_delete_asks_first(game, admin, guard):
    admin.do("aisetup Guard = You are a guard.")
    admin.do("aisetup/delete Guard")
    assert "Delete it? yes/[no]" in admin.last()
    drive_delete(admin, "no")
    assert admin.last() == "Nothing was deleted."
    assert guard.assistant


def test_delete_leaves_the_character_and_nothing_else(game, admin, guard):
    admin.do("aisetup Guard = You are a guard.")
    game.model.add(call("say", text="Halt!"))
    admin.do("say hello")
    game.run()
    assert "with its 3 messages" in drive_delete(admin, "yes")
    assert not Message.objects.exists()
    assert not Event.objects.exists()
    assert guard.pk
    assert not isinstance(guard, AssistantMixin)
    assert not guard.scripts.all()


def test_status_shows_every_assistant(game, admin, guard, tavern):
    game.assistant("Mira", tavern)
    admin.do("aisetup Guard = You are a guard.")
    game.model.add(call("say", text="Halt!"))
    admin.do("say Guard, hello")
    game.run()
    text = admin.told("aistatus")
    row = next(line for line in text.splitlines() if "Guard" in line)
    assert row.split()[:6] == ["Guard", "Tavern", "awake", "default:offline", "1%", "0"]
    assert row.split()[6] == "1"
    assert "Mira" in text


def test_history_shows_the_talk_with_speakers_audience_and_tokens(game, admin, guard):
    admin.do("aisetup Guard = You are a guard.")
    game.model.add(call("say", text="Halt |rnow|n!"), call("whisper", text="Aye."))
    admin.do("say hello")
    game.run()
    admin.do("whisper Guard = psst")
    game.run()
    text = admin.told("aihistory Guard")
    assert "Ada says: hello" in text
    assert "Ada > Guard, " in text and "tokens" in text
    assert "Halt |rnow|n!" in text
    assert "(private)" in text
    assert "Page 1 of 1" in text


def test_history_is_paged_from_the_newest(game, admin, guard):
    admin.do("aisetup Guard = You are a guard.")
    for number in range(15):
        game.model.add(call("noop"))
        admin.do(f"say line number {number}.")
        game.run()
    first, last = admin.told("aihistory Guard"), admin.told("aihistory Guard = 99")
    assert "line number 14." in first and "line number 0." not in first
    assert "Page 1 of 3" in first and "Older: aihistory Guard = 2" in first
    assert "line number 0." in last and "Page 3 of 3" in last
    assert "'x' is no number" in admin.told("aihistory Guard = x")
    assert "is no number" in admin.told("aihistory Guard = " + "9" * 30)


def test_turns_tell_what_set_each_off_and_how_it_ended(game, admin, guard):
    admin.do("aisetup Guard = You are a guard.")
    game.model.add(call("look"), call("say", text="Nothing here."))
    admin.do("say what do you see?")
    game.run()
    text = admin.told("aihistory/turns Guard")
    assert "heard (say, alone with the speaker) Ada: what do you see?" in text
    assert text.count("  model default:") == 2
    assert "done: Tavern: A warm room." in text
    assert "say: Nothing here." in text
    assert ": answered after" in text


@pytest.mark.parametrize("key", sorted({command.key for command in COMMANDS} - FOR_PLAYERS))
def test_staff_commands_refuse_players_and_those_of_admins_builders(game, tavern, key):
    ann, bea = game.player("Ann", tavern), game.player("Bea", tavern, permissions=["Builder"])
    assert f"Command '{key}' is not available" in ann.told(key)
    assert ("is not available" in bea.told(key)) == (key in FOR_ADMINS)


def test_a_players_own_character_may_not(game, admin, tavern):
    ann = game.player("Ann", tavern)
    ann.account.characters.add(ann.character)
    ann.account.unpuppet_object(ann.session)
    ann.character.location = tavern
    assert "Ann belongs to a player" in admin.told("aisetup Ann = You are Ann.")


def test_builders_change_only_what_they_may_edit(game, tavern, guard):
    builder = game.player("Bea", tavern, permissions=["Builder"])
    assert "You may not change Guard" in builder.told("aisetup Guard = x")
    assert "has an assistant" in builder.told("aisetup/new Otto = You are Otto.")
    assert "Otto is stopped." in builder.told("aistop Otto")


def test_help_shows_the_five_commands_and_groups_the_others_apart(game, admin, tavern):
    shown = admin.told("help ai staff")
    for name in ("aisetup", "aiwhy", "aihistory", "aistatus", "aistop", "nobody answers"):
        assert name in shown
    (memory,) = re.findall(r"aimemory\s+what a character remembers: (.*)", shown)
    assert set(memory.split(", ")) <= set(CmdAIMemory.switch_options)
    groups = {command.key: command.help_category for command in COMMANDS}
    core = {name for name, group in groups.items() if group.endswith(", staff")}
    assert core == {"aisetup", "aiwhy", "aihistory", "aistatus", "aistop"}
    assert {name for name, group in groups.items() if group == HELP_CATEGORY.lower()} == FOR_PLAYERS
    ann = game.player("Ann", tavern)
    listed = ann.told("help")
    assert "forgetme" in listed and "aboutme" in listed
    assert "aiforget" not in listed and "aistatus" not in listed and "ai staff" not in listed
    assert "aistatus" not in ann.told("help ai staff")


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.key)
def test_other_names_of_a_command_are_its_switches(admin, command):
    for name, switch in command.second_names.items():
        assert switch in command.switch_options
        assert command.key in admin.told(f"help {name}")


def test_nothing_is_said_twice_in_what_is_wrong(game, admin, guard):
    admin.do("aisetup Guard = You are a guard.")
    game.model.add(*[ProviderMisconfigured("The key is refused.")] * 3)
    admin.do("say Guard, hello")
    game.run(10)
    text = admin.told("aistatus")
    assert ".." not in text.replace("...", "") and text.count("The key is refused") == 1
    assert "No model is connected" in text

"""What builders and admins type, and what they are told."""

from contextlib import suppress

import pytest

from evennia_ai.assistant_character import AssistantMixin
from evennia_ai.commands.cmdset import COMMANDS
from evennia_ai.game.setup import setting_line
from evennia_ai.models import Event, Message
from tests.scripted import call

FOR_PLAYERS = {"forgetme", "aboutme", "mute", "dismiss"}
FOR_ADMINS = {"aicompact"}


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
    assert "'default' (offline)" in text
    game.model.add(call("say", text="Halt!"))
    admin.do("say hello")
    game.run()
    assert admin.last() == 'Guard says, "Halt!"'
    assert "You are a guard." in game.model.requests[0].messages[1]["content"]


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
    assert ("was empty before. To undo" in text) == text.strip().endswith("=")
    for line in text.partition("To undo: ")[2].splitlines():
        admin.do(line)
    assert guard.assistant.mind.who.persona == before


def test_a_new_rule_of_a_persona_tells_how_to_keep_the_old_ones(admin, guard):
    admin.do("aisetup Guard = You are a guard.")
    admin.do("aisetup/set Guard/persona.never = opens the gate")
    text = admin.told("aisetup/set Guard/persona.never = talks about the mayor")
    assert "Before, it was: opens the gate. To have both: " in text
    admin.do(text.partition("To have both: ")[2].splitlines()[0])
    assert guard.assistant.mind.who.persona.never == ("opens the gate", "talks about the mayor")
    text = admin.told("aisetup/set Guard/persona.never = talks about the mayor")
    assert "To have both" not in text and "\n To undo" not in text
    assert "is now none (inherited)" in admin.told("aisetup/set Guard/tools_off =")
    line = setting_line("tools_off", None)
    assert line.endswith("(none): Families of tools that the character does not have")


def test_a_new_text_of_a_persona_keeps_its_rules_and_says_so(admin, guard):
    admin.do("aisetup Guard = You are a guard.")
    rules = {"voice": "gruff", "never": ["opens the gate"]}
    guard.db.ai_persona = {"text": "You are a guard.", **rules}
    text = admin.told("aisetup/set Guard/persona = You dream of the sea.")
    assert guard.db.ai_persona == {"text": "You dream of the sea.", **rules}
    assert "Kept: voice, never (to remove one: aisetup/set Guard/persona.voice =)." in text
    admin.do("aisetup/set Guard/persona.voice =")
    assert guard.db.ai_persona == {"text": "You dream of the sea.", "never": rules["never"]}
    guard.db.ai_persona_authors = ["stranger"]
    admin.do("aisetup/set Guard/persona = You dream.")
    assert "stranger" in guard.db.ai_persona_authors  # the rule is theirs
    admin.do("aisetup/set Guard/persona.never =")
    admin.do("aisetup/set Guard/persona = You watch.")
    assert guard.db.ai_persona_authors == [admin.character.dbref]


@pytest.mark.parametrize("permission", ["Developer"])
def test_a_character_with_high_rights_gets_no_mind(admin, guard, permission):
    guard.permissions.add(permission)
    assert "a model must never have that" in admin.told("aisetup Guard = x")
    assert not isinstance(guard, AssistantMixin)


def test_settings_are_checked_shown_and_inherited_again(admin, guard):
    admin.do("aisetup Guard = You are a guard.")
    assert "max_bot_replies is now 7." in admin.told("aisetup/set Guard/max_bot_replies = 7")
    assert guard.assistant.config.max_bot_replies == 7
    assert "max_bot_replies (7, its own): " in admin.told("aisetup/list Guard")
    assert "max_bot_replies (3): " in admin.told("aisetup/list")
    text = admin.told("aisetup/list max_bot_replies")
    assert text.endswith("0 lets them answer players only.")
    assert all(len(line) <= 78 for line in admin.told("aisetup/list").splitlines())
    assert "max_bot_replies = 7" in admin.told("aisetup Guard")
    hours = admin.told("aisetup/set Guard/sleep_schedule = 23:00-06:30")
    assert "Sleep hours go by the server's clock (UTC, now " in hours
    assert "Sleep hours go by the server's clock" in admin.told("aisetup Guard")
    hours = admin.told("aisetup/set Guard/sleep_clock = game")
    assert "Sleep hours go by Evennia's game time (now " in hours
    status = admin.told("aistatus")
    assert "Guard: sleep hours 23:00-06:30" in status and "by Evennia's game time" in status
    admin.do("aisetup/set Guard/sleep_schedule =")
    admin.do("aisetup/set Guard/sleep_clock =")
    assert "must be a whole number" in admin.told("aisetup/set Guard/max_bot_replies = many")
    assert "There is no setting 'hops'" in admin.told("aisetup/set Guard/hops = 1")
    assert "There is no model profile 'x'" in admin.told("aisetup/set Guard/profile = x")
    assert guard.assistant.config.max_bot_replies == 7
    assert "max_bot_replies is 7." in admin.told("aisetup/set Guard/max_bot_replies")
    assert guard.assistant.mind.settings.config.max_bot_replies == 7
    assert "max_bot_replies is now 3 (inherited)." in admin.told(
        "aisetup/set Guard/max_bot_replies ="
    )
    assert "persona is You are" in admin.told("aisetup/set Guard/persona")
    assert "It has no settings of its own" in admin.told("aisetup Guard")


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
    from evennia_ai.commands.setup import CmdAISetup

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


def test_delete_leaves_the_character_and_nothing_else(game, admin, guard):
    admin.do("aisetup Guard = You are a guard.")
    game.model.add(call("say", text="Halt!"))
    admin.do("say hello")
    game.run()
    drive_delete(admin, "no")
    assert guard.assistant and Message.objects.exists()
    assert "with its 3 messages" in drive_delete(admin, "yes")
    assert not Message.objects.exists()
    assert not Event.objects.exists()
    assert guard.pk
    assert not isinstance(guard, AssistantMixin)
    assert not guard.scripts.all()


def test_another_command_than_a_yes_or_no_is_carried_out(game, admin, guard):
    admin.do("aisetup Guard = You are a guard.")
    for answer in ("no", "n", "look"):
        assert "Delete it? yes/[no]" in admin.told("aisetup/delete Guard")
        admin.do(answer)
        game.service.evennias_clock.advance(0)
        told = "\n".join(admin.heard())
        assert "Nothing was deleted." in told
        assert ("A warm room." in told) is (answer == "look"), answer
    assert guard.assistant


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


def test_aisetup_says_what_a_character_is_doing(admin, guard):
    admin.do("aisetup guard = You are a guard.")
    assert "(awake)" in admin.told("aisetup guard")
    admin.do("aisleep guard")
    assert "(asleep)" in admin.told("aisetup guard")


def test_a_complaint_is_told_once_and_names_where_the_bad_value_stands(
    game, admin, tavern, settings
):
    game.assistant("Nan", tavern)
    settings.AI_ASSISTANT = {"max_bot_replies": "many"}
    assert "In settings.py, AI_ASSISTANT: max_bot_replies must be" in admin.told("aisetup Nan")
    assert "Fix this" not in admin.told("aisetup/set Nan/max_iterations = 3")
    assert "Fix this" not in admin.told("aisetup/set Nan/max_iterations = 4")

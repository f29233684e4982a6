"""The menu that ``aisetup`` opens, driven as a builder types."""

import pytest
from twisted.internet.defer import Deferred

from evennia_ai import models
from evennia_ai.assistant_character import AssistantMixin
from evennia_ai.commands.setup.archetypes import archetypes
from evennia_ai.commands.setup.draft import read_draft
from evennia_ai.config import FIELDS
from evennia_ai.policy.conversation.persona import read_persona
from evennia_ai.store.attributes import MENU_DRAFT
from tests.game.screens import on_telnet
from tests.scripted import call

STEPS = ("character", "persona", "model", "tools", "habits", "trial", "finish")


@pytest.fixture
def builder(game, tavern):
    return game.player("Bea", tavern, permissions=["Builder"])


@pytest.fixture
def admin(game, tavern):
    return game.player("Ada", tavern, permissions=["Admin"])


@pytest.fixture
def guard(game, tavern):
    from evennia.objects.objects import DefaultCharacter
    from evennia.utils.create import create_object

    found = create_object(DefaultCharacter, key="Guard", location=tavern)
    found.locks.add("edit:perm(Builder)")
    return found


def typed(player, *lines):
    """Type lines and return what the last one shows."""
    for line in lines:
        told = player.told(line)
        assert "Traceback" not in told and "Error in menu" not in told, told
    return told


def is_open(player):
    return bool(player.character.ndb._evmenu)


def restart(player):
    """Forget what a server that is started again does not have in memory."""
    player.character.ndb._evmenu = player.character.ndb._menutree = None


def walked_to(player, step):
    """Open the menu with a new character and go to a step."""
    typed(player, "aisetup", "new Otto", "You are Otto, a fiddler.")
    return typed(player, *["next"] * (STEPS.index(step) - 1))


# --- from the first step to the last ---


def test_a_builder_creates_a_character_from_an_archetype(game, builder, tavern):
    text = typed(builder, "aisetup")
    assert "Step 1 of 7, character" in text
    text = typed(builder, "new Otto")
    assert "Step 2 of 7, persona" in text and "1. Innkeeper: " in text
    assert "What is the house called?" in typed(builder, "1")
    assert "What is it known for?" in typed(builder, "the Blue Boar")
    text = typed(builder, "next")
    assert "You are Otto, who keeps the Blue Boar." in text
    assert "the Blue Boar is known for brown ale" in text
    assert "voice (how it sounds): low and dry" in typed(builder, "voice = low and dry")
    assert "Step 3 of 7, model" in typed(builder, "next")
    assert "Step 4 of 7, tools" in typed(builder, "next")
    assert "Step 5 of 7, habits" in typed(builder, "next")
    assert "Step 6 of 7, trial" in typed(builder, "next")
    text = typed(builder, "next")
    assert "Otto is created in this room with an assistant" in text
    assert not models.Message.objects.exists()
    assert not any(obj.key == "Otto" for obj in tavern.contents)
    text = typed(builder, "live")
    assert "Otto has an assistant now." in text
    assert not is_open(builder) and not builder.character.attributes.has(MENU_DRAFT)
    (otto,) = [obj for obj in tavern.contents if obj.key == "Otto"]
    assert otto.assistant.is_on and otto.assistant.persona.voice == "low and dry"
    assert otto.assistant.persona.never == (
        "tells a guest's secret",
        "lets anybody drink without paying",
    )
    assert otto.assistant.config.sleep_schedule == "02:00-08:00"
    assert otto.access(builder.character, "edit")
    game.model.add(call("say", text="Evening."))
    builder.do("say Otto, hello")
    game.run()
    assert builder.last() == 'Otto says, "Evening."'


def test_a_character_of_the_room_gets_an_assistant(builder, guard):
    text = typed(builder, "aisetup")
    assert f"1. Guard ({guard.dbref})" in text
    typed(builder, "1", "You are a guard.", "next", "next", "next", "next", "next", "live")
    assert guard.assistant.persona.text == "You are a guard."
    assert guard.db.ai_persona_authors == [builder.dbref]


def test_a_character_elsewhere_is_chosen_by_name(game, builder, guard):
    guard.location = game.room("Tower")
    assert "Guard" not in typed(builder, "aisetup")
    assert "Who is Guard?" in typed(builder, "guard")


def test_an_assistant_that_exists_is_changed_and_keeps_the_rest(game, builder, guard):
    typed(builder, "aisetup Guard = You are a guard.", "aisetup/set Guard/max_hops = 7")
    typed(builder, "aisetup/set Guard/tick_rate = 9")
    script = guard.assistant
    assert "has an assistant: change it" in typed(builder, "aisetup")
    assert "Now: You are a guard." in typed(builder, "1")
    typed(builder, "7", "wants = a quiet night", "next", "next", "next", "tick_rate", "reset")
    text = typed(builder, "back", "next", "next")
    assert "1. Guard is changed" in text and "tick_rate 5 s" in text
    assert script.config.tick_rate == 9 and script.persona.wants == ()
    assert "Guard is changed. Its memories stay." in typed(builder, "live")
    assert guard.assistant is script
    assert (script.config.tick_rate, script.config.max_hops) == (5, 7)
    assert script.persona.wants == ("a quiet night",)
    assert script.persona.text == "You are a guard."


def test_the_last_step_leads_back_to_any_part(builder):
    walked_to(builder, "finish")
    for number, step in enumerate(STEPS[:5], 1):
        assert f"Step {number} of 7, {step}" in typed(builder, str(number))
        typed(builder, *["next"] * (7 - number))
    assert "Step 6 of 7" in typed(builder, "back")


def test_a_new_character_may_have_aliases_and_a_typeclass(builder, tavern):
    typed(builder, "aisetup", "new Bruno;doorman:world.characters.Character", "You are Bruno.")
    typed(builder, *["next"] * 5, "live")
    (bruno,) = [obj for obj in tavern.contents if obj.key == "Bruno"]
    assert bruno.aliases.all() == ["doorman"]
    assert bruno.db_typeclass_path == "world.characters.Character"


def test_a_shared_persona_is_taken_by_its_name(builder, guard):
    builder.do("aisetup/persona watch = You are of the watch.")
    assert "Step 3 of 7, model" in typed(builder, "aisetup", "Guard", "@watch")
    assert "Now: You are of the watch." in typed(builder, "back")
    assert "field by field" not in typed(builder, "look")
    typed(builder, *["next"] * 5, "live")
    assert guard.db.ai_persona == "@watch"


def test_a_shared_persona_that_is_gone_is_named(builder, guard):
    builder.do("aisetup Guard = You are a guard.")
    guard.db.ai_persona = "@gone"
    assert "Now: There is no shared persona" in typed(builder, "aisetup", "1")
    assert "Now: You are a king." in typed(builder, "You are a king.", "back")


def test_a_room_full_of_characters_is_listed_in_part(game, builder, tavern):
    from evennia.objects.objects import DefaultCharacter
    from evennia.utils.create import create_object

    for number in range(20):
        one = create_object(DefaultCharacter, key=f"Guest {number}", location=tavern)
        one.locks.add("edit:perm(Builder)")
    text = typed(builder, "aisetup")
    assert "12. Guest 11" in text and "Guest 12" not in text
    assert "Who is Guest 15?" in typed(builder, "guest 15")


# --- every page ---


def test_every_page_fits_a_telnet_client_and_names_the_ways_out(builder, guard, settings):
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "PROFILES": {"x" * 70: {"client": "offline"}}}
    pages = [typed(builder, "aisetup"), typed(builder, "1")]
    for number, one in enumerate(archetypes().values(), 1):
        pages.append(typed(builder, str(number)))
        pages += [typed(builder, "next") for _ in one["blanks"]]
        pages.append(typed(builder, "back"))
    pages += [typed(builder, "You are a guard. " + "Very strict. " * 60), typed(builder, "next")]
    pages += [typed(builder, "next"), typed(builder, "next")]
    while "More settings" in pages[-1]:
        pages.append(typed(builder, last_number(pages[-1])))
    pages += [typed(builder, "next"), typed(builder, "next"), typed(builder, "help")]
    assert len(pages) > 30
    for shown in pages:
        assert max(map(len, shown.splitlines())) <= 78, shown
        assert "____" not in shown and "|" not in shown
    for shown in pages[:-1]:
        assert shown.endswith("\nAlways: back, next, look, help, quit.")


def last_number(shown):
    return [line.split(".")[0] for line in shown.splitlines() if line[:1].isdigit()][-1]


def test_help_says_what_can_be_typed(builder):
    text = typed(builder, "aisetup", "help")
    assert "Nothing changes before you type live" in text and "back:" in text


def test_markup_in_names_and_personas_is_shown_and_not_obeyed(builder, guard):
    guard.key = "Gu|rard"
    typed(builder, "aisetup", guard.dbref, "You are |lcquit|ltone|le guard.")
    builder.forget()
    builder.do("back")
    told = on_telnet(builder.session.sent[-1])
    assert "You are |lcquit|ltone|le guard." in told.replace("\u200c", "")
    assert "Who is Gu|rard?" in told.replace("\u200c", "")


@pytest.mark.parametrize("key", archetypes())
def test_every_archetype_is_filled_in_and_its_settings_are_valid(builder, guard, key):
    number = list(archetypes()).index(key) + 1
    typed(builder, "aisetup", "1", str(number))
    typed(builder, *["next"] * len(archetypes()[key]["blanks"]), *["next"] * 4)
    assert "Fix this" not in typed(builder, "next")
    typed(builder, "live")
    assert not guard.assistant.complaints
    assert guard.assistant.own_settings() == archetypes()[key]["settings"]
    persona = read_persona(guard.db.ai_persona.deserialize())
    assert "Guard" in persona.text and "{" not in repr(persona)


def test_another_archetype_takes_the_first_ones_habits_with_it(builder, guard):
    typed(builder, "aisetup", "1", "2", "next", "next", "next", "next", "next", "max_hops", "7")
    assert read_draft(builder.character).settings["tools_off"] == "company, goals"
    typed(builder, "back", "back", "back", "back", "4", "next")
    assert read_draft(builder.character).settings == {
        "max_hops": 7, **archetypes()["sage"]["settings"],
    }  # fmt: skip


# --- the model, the tools and the settings ---


def test_the_model_step_says_what_is_known_of_each_profile(builder):
    text = walked_to(builder, "model")
    assert "default: the offline brain, built in" in text
    words = "ollama: local; no model named yet; form tools, not tested; window unknown"
    assert words in " ".join(text.split())
    assert "openrouter: remote; " in text
    assert "Now: profile: default (the default)." in text
    (number,) = [line.split(".")[0] for line in text.splitlines() if ". ollama: " in line]
    text = typed(builder, number)
    assert "Step 4 of 7, tools" in text
    assert "Now: profile: ollama (chosen here)." in typed(builder, "back")


def test_a_family_of_tools_is_turned_off_and_on(game, builder, tavern):
    text = walked_to(builder, "tools")
    assert "Always on: speech. Tools to speak, whisper and emote." in text
    assert "1. on: world. Tools to look, move, get, drop and give" in " ".join(text.split("\n"))
    assert "1. off: world" in typed(builder, "1")
    assert "1. on: world" in typed(builder, "1")
    typed(builder, "1", "next", "next", "next", "live")
    (otto,) = [obj for obj in tavern.contents if obj.key == "Otto"]
    assert otto.assistant.config.tools_off == "world"
    game.model.add(call("look"), call("say", text="Evening."))
    builder.do("say Otto, hello")
    game.run()
    first, second = game.model.requests
    offered = {tool["function"]["name"] for tool in first.tools}
    assert "say" in offered and not offered & {"look", "move", "get", "give"}
    assert "There is no tool 'look'" in repr(second.messages)
    assert builder.last() == 'Otto says, "Evening."'


def test_a_family_that_the_game_turns_off_can_be_turned_on(builder, settings, tavern):
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "tools_off": "goals"}
    assert "6. off: goals" in walked_to(builder, "tools")
    assert "6. on: goals" in typed(builder, "6")
    typed(builder, "next", "next", "next", "live")
    (otto,) = [obj for obj in tavern.contents if obj.key == "Otto"]
    assert otto.assistant.config.tools_off == ""


def test_speech_cannot_be_turned_off(builder, guard):
    builder.do("aisetup Guard = You are a guard.")
    text = typed(builder, "aisetup/set Guard/tools_off = goals, speech")
    assert text == "tools_off: a character always has the tools of speech."


def test_a_family_of_tools_that_does_not_exist_is_refused_and_one_of_the_game_reported(
    builder, guard, settings
):
    builder.do("aisetup Guard = You are a guard.")
    text = typed(builder, "aisetup/set Guard/tools_off = goals, nonsense")
    assert text.startswith("tools_off: there are no tools of 'nonsense'. Use company, entity,")
    assert "tools_off is now None" in typed(builder, "aisetup/set Guard/tools_off = none")
    assert guard.assistant.config.tools_off is None
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "tools_off": "nonsense"}
    assert "there are no tools of 'nonsense'" in " ".join(typed(builder, "aistatus").split())


def test_every_setting_can_be_reached_changed_and_reset(builder):
    walked_to(builder, "habits")
    for name, item in FIELDS.items():
        text = typed(builder, name)
        assert " ".join(item.metadata["help"].split()) in " ".join(text.split())
        assert "Allowed: " in text and "Default: " in text and "Now: " in text
        assert item.metadata["unit"] in text
        typed(builder, "back")
    assert "Now: tick_rate: 9 s (chosen here)." in typed(builder, "tick_rate", "9")
    assert "Now: tick_rate: 5 s (the default)." in typed(builder, "reset")
    assert "Step 5 of 7, habits\n" in typed(builder, "back")


def test_a_value_says_where_it_comes_from(builder, guard, settings, service):
    service.profiles["slow"] = {"client": "offline", "turn_deadline": 90.0}
    builder.do("aisetup Guard = You are a guard.")
    builder.do("aisetup/set Guard/profile = slow")
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "max_hops": 5}
    typed(builder, "aisetup", "1", "next", "next", "next")
    assert "profile: slow (its own)" in typed(builder, "profile")
    assert "turn_deadline: 90 s (the model profile)" in typed(builder, "back", "turn_deadline")
    assert "max_hops: 5 (the game)" in typed(builder, "back", "max_hops")
    assert "tick_rate: 5 s (the default)" in typed(builder, "back", "tick_rate")


def test_only_admins_change_the_discretion(builder, admin):
    walked_to(builder, "habits")
    assert "Only admins may change discretion" in typed(builder, "discretion", "trusting")
    assert read_draft(builder.character).settings == {}
    walked_to(admin, "habits")
    assert "discretion: trusting (chosen here)" in typed(admin, "discretion", "trusting")


# --- wrong inputs ---


@pytest.mark.parametrize(
    ("step", "line", "answer"),
    [
        ("character", "back", "This is the first step."),
        ("character", "Nobody", "There is no character called 'Nobody'."),
        ("character", "99", "There is no character called '99'."),
        ("character", "new", "Which name?"),
        ("character", "new ;", "Which name?"),
        ("character", "new Bob:no.such.Class", "There is no typeclass 'no.such.Class'."),
        ("character", "rock", "rock is no character."),
        ("character", "Bea", "You may not change Bea"),
        ("persona", "@nobody", "There is no shared persona"),
        ("persona", "", "Type some text"),
        ("persona", "hello", "'hello' is no choice. Type 1 to 6, back"),
        ("fields", "hello", "Type a field, = and its text."),
        ("fields", "text =", "Type a field, = and its text."),
        ("fields", "colour = red", "The fields are text, voice, "),
        ("model", "gpt", "'gpt' is no choice. Type 1 to"),
        ("model", "", "'' is no choice."),
        ("tools", "7", "'7' is no choice. Type 1 to 6, back, next"),
        ("habits", "hops", "There is no setting 'hops'."),
        ("tick_rate", "fast", "tick_rate must be a number, not 'fast'."),
        ("tick_rate", "0", "tick_rate must be at least 0.5 s, not 0."),
        ("tick_rate", "", "Type some text"),
        ("trial", "", "Which line?"),
        ("finish", "next", "This is the last step. Type live"),
        ("finish", "yes", "This is the last step. Type live"),
    ],
)
def test_a_wrong_input_gets_one_line_and_the_step_stays(game, builder, tavern, step, line, answer):
    game.thing("rock", tavern)
    if step == "character":
        typed(builder, "aisetup")
    elif step == "persona":
        typed(builder, "aisetup", "new Otto")
    elif step == "fields":
        typed(builder, "aisetup", "new Otto", "You are Otto.")
    elif step == "tick_rate":
        walked_to(builder, "habits")
        typed(builder, "tick_rate")
    else:
        walked_to(builder, step)
    before = typed(builder, "look")
    text = typed(builder, line)
    assert answer in text and "\n" not in text and "Traceback" not in text
    assert typed(builder, "look") == before


def test_next_needs_a_character_and_a_persona(builder):
    assert "Choose a character first" in typed(builder, "aisetup", "next")
    assert "Say first who the character is" in typed(builder, "new Otto", "next")


# --- quit, and everything that may happen meanwhile ---


@pytest.mark.parametrize("step", STEPS[1:])
def test_quit_leaves_no_trace(builder, guard, tavern, step):
    before = set(tavern.contents)
    typed(builder, "aisetup", "1", "You are a guard.", *["next"] * (STEPS.index(step) - 1))
    assert "Nothing was changed. To begin again: aisetup" in typed(builder, "quit")
    assert set(tavern.contents) == before
    assert not guard.scripts.all() and not isinstance(guard, AssistantMixin)
    assert not guard.attributes.has("ai_persona")
    assert not builder.character.attributes.has(MENU_DRAFT)
    assert not builder.character.attributes.has("_menutree_saved")
    assert "Tavern" in typed(builder, "look")


def test_after_a_restart_the_step_and_the_choices_are_still_there(builder):
    walked_to(builder, "habits")
    typed(builder, "tick_rate", "9")
    restart(builder)
    text = typed(builder, "next")
    assert "The server was restarted. Your choices are kept." in text
    assert "Now: tick_rate: 9 s (chosen here)." in text
    assert "Otto is created" in typed(builder, "next", "next", "next")
    assert "tick_rate 9 s" in typed(builder, "look")
    assert "Otto has an assistant now." in typed(builder, "live")
    assert "Tavern" in typed(builder, "look")


def test_after_restarts_quit_leaves_the_menu_for_good(builder):
    walked_to(builder, "tools")
    for _ in range(3):
        restart(builder)
        typed(builder, "look")
    assert "Nothing was changed" in typed(builder, "quit")
    assert "Tavern" in typed(builder, "look")


def test_a_character_that_is_deleted_meanwhile_is_named(builder, guard):
    typed(builder, "aisetup", "1", "You are a guard.")
    guard.delete()
    text = typed(builder, "next")
    assert "Step 1 of 7, character" in text
    assert text.endswith("Guard was deleted meanwhile. Choose another one.")
    assert "Choose a character first" in typed(builder, "next")


def test_a_builder_who_may_not_change_a_character_any_more_is_told(builder, admin, guard):
    typed(builder, "aisetup", "1", "You are a guard.", *["next"] * 5)
    guard.locks.add("edit:perm(Admin);control:perm(Admin)")
    assert "You may not change Guard" in typed(builder, "live")
    assert not guard.scripts.all()


def test_a_character_without_edit_rights_is_neither_listed_nor_taken(builder, guard):
    guard.locks.add("edit:perm(Admin);control:perm(Admin)")
    assert "Guard" not in typed(builder, "aisetup")
    assert "You may not change Guard" in typed(builder, "Guard")


def test_an_assistant_attached_meanwhile_is_changed_and_not_doubled(builder, admin, guard):
    typed(builder, "aisetup", "1", "You are a guard.", *["next"] * 5)
    admin.do("aisetup Guard = You are a king.")
    assert "Guard is changed." in typed(builder, "live")
    assert len(guard.scripts.all()) == 1


def test_another_menu_takes_the_place_of_this_one(builder, guard):
    from evennia.utils.evmenu import EvMenu

    typed(builder, "aisetup", "1")
    EvMenu(builder.character, {"start": lambda caller: ("Another menu.", {"goto": "start"})})
    assert any("You left the setup." in line for line in builder.heard())
    assert not builder.character.attributes.has(MENU_DRAFT)


def test_inside_another_menu_the_command_says_so(builder):
    from evennia.utils.evmenu import EvMenu

    menu = {"start": lambda caller: ("Another menu.", {"goto": "start"})}
    EvMenu(builder.character, menu, cmdset_mergetype="Union", cmdset_priority=-10)
    assert "You are in a menu already. Leave it first." in typed(builder, "aisetup")


def test_players_have_no_such_command(game, tavern):
    ann = game.player("Ann", tavern)
    assert "Step 1" not in typed(ann, "aisetup")


def test_an_answer_goes_to_the_session_that_typed(game, builder):
    walked_to(builder, "model")
    first = builder.session
    builder.session = None
    builder.character.execute_cmd("next", session=first)
    assert "Step 4 of 7" in first.sent[-1]


# --- the trial talk ---


def test_the_trial_shows_what_it_would_say_and_leaves_nothing(game, builder, tavern):
    ann = game.player("Ann", tavern)
    before = set(tavern.contents)
    walked_to(builder, "trial")
    game.model.add(call("say", text="A fine |revening|n!"))
    text = typed(builder, "Otto, good evening")
    assert "Asking default:offline ..." in text
    assert "If Bea says to Otto: Otto, good evening" in text
    assert "would say: A fine |revening|n!" in text
    (request,) = game.model.requests
    assert "You are Otto, a fiddler." in request.messages[1]["content"]
    assert request.messages[-1]["content"] == "Bea says: Otto, good evening"
    assert set(tavern.contents) == before and ann.heard() == []
    assert not models.Message.objects.exists() and not models.ModelCall.objects.exists()
    assert read_draft(builder.character).trial == ""
    assert is_open(builder)


def test_the_trial_uses_what_was_chosen_and_not_what_is_stored(game, builder, guard):
    builder.do("aisetup Guard = You are a guard.")
    typed(builder, "aisetup", "1", "You are a king.", "next", "next", "1", "next", "next")
    game.model.add(call("say", text="Kneel."))
    assert "would say: Kneel." in typed(builder, "Guard, hello")
    (request,) = game.model.requests
    assert "You are a king." in request.messages[1]["content"]
    assert "look" not in {tool["function"]["name"] for tool in request.tools}
    assert guard.assistant.is_on and guard.assistant.persona.text == "You are a guard."


def test_the_offline_brain_answers_in_the_trial(offline_game):
    tavern = offline_game.room()
    builder = offline_game.player("Bea", tavern, permissions=["Builder"])
    walked_to(builder, "trial")
    builder.do("Otto, who are you?")
    offline_game.run(5)
    assert any("would say: " in line for line in builder.heard())
    assert not models.Message.objects.exists()
    assert [obj.key for obj in tavern.contents] == ["Bea"]


def late_reply(game):
    reply = Deferred()
    game.model.add(reply)
    return reply


@pytest.mark.parametrize("who", ["new Otto", "Guard"])
def test_quit_during_a_trial_leaves_nothing_and_says_nothing_later(
    game, builder, guard, tavern, who
):
    before = set(tavern.contents)
    typed(builder, "aisetup", who, "You are a guard.", *["next"] * 4)
    reply = late_reply(game)
    typed(builder, "hello")
    assert "Nothing was changed." in typed(builder, "quit")
    assert set(tavern.contents) == before and not guard.scripts.all()
    builder.forget()
    reply.callback(call("say", text="Late."))
    game.run()
    assert builder.heard() == []
    assert not models.ModelCall.objects.exists()


@pytest.mark.parametrize("who", ["new Otto", "Guard"])
def test_the_late_end_of_a_trial_leaves_the_next_one_alone(game, builder, guard, who):
    replies = []
    for _ in range(2):
        typed(builder, "aisetup", who, "You are a guard.", *["next"] * 4)
        replies.append(late_reply(game))
        typed(builder, "hello", "quit" if len(replies) == 1 else "look")
    replies[0].callback(call("say", text="Late."))
    builder.forget()
    replies[1].callback(call("say", text="In time."))
    assert any("would say: In time." in line for line in builder.heard())
    assert read_draft(builder.character).trial == "" and not guard.scripts.all()


def test_one_trial_at_a_time_and_nothing_goes_live_meanwhile(game, builder):
    walked_to(builder, "trial")
    reply = late_reply(game)
    typed(builder, "hello")
    assert "A trial is in progress." in typed(builder, "hello again")
    assert "Step 7 of 7" in typed(builder, "next")
    assert "A trial is in progress." in typed(builder, "live")
    reply.callback(call("say", text="Late."))
    assert any("would say: Late." in line for line in builder.heard())
    assert "Otto has an assistant now." in typed(builder, "live")


def test_nobody_sees_the_character_of_a_trial(game, builder, tavern):
    ann = game.player("Ann", tavern)
    walked_to(builder, "trial")
    late_reply(game)
    typed(builder, "hello")
    assert "Otto" not in typed(ann, "look")
    assert "Otto" not in typed(ann, "say Otto, hello").replace("Otto, hello", "")
    typed(builder, "quit")


def test_a_crash_in_a_trial_is_cleared_away(game, builder, guard, tavern):
    for who in ("new Otto", "Guard"):
        before = set(tavern.contents)
        typed(builder, "aisetup", who, "You are a guard.", *["next"] * 4)
        late_reply(game)
        typed(builder, "hello")
        restart(builder)
        assert "Your choices are kept" in typed(builder, "look")
        assert set(tavern.contents) == before and not guard.scripts.all()
        typed(builder, "quit")


def test_a_trial_needs_the_right_to_dry_runs(builder, service):
    service.who_may_read["dry_runs"] = "Admin"
    walked_to(builder, "trial")
    assert "Only Admins may read that." in typed(builder, "hello")
    assert read_draft(builder.character).trial == ""


def test_without_a_room_there_is_no_trial_and_no_new_character(builder):
    walked_to(builder, "trial")
    builder.character.location = None
    assert "You are in no room." in typed(builder, "hello")
    assert "You are in no room." in typed(builder, "next", "live")
    assert is_open(builder)


def test_a_draft_that_a_builder_wrote_deletes_nothing_and_sets_no_discretion(builder, guard):
    builder.do("aisetup Guard = You are a guard.")
    forged = {"trial": guard.dbref, "name": "Guard", "dbref": guard.dbref, "persona": "You."}
    forged["settings"] = {"discretion": "trusting", "stopped": True, "max_hops": "many"}
    builder.character.attributes.add(MENU_DRAFT, forged)
    typed(builder, "aisetup", *["next"] * 6)
    assert guard.pk and guard.assistant
    assert "Only admins may change discretion" in typed(builder, "live")
    assert guard.assistant.is_on and guard.assistant.own_settings() == {}


def test_a_broken_draft_counts_as_not_chosen(builder):
    builder.character.attributes.add(
        MENU_DRAFT, {"name": 3, "settings": "x", "persona": 4, "odd": 1}
    )
    assert "Step 1 of 7" in typed(builder, "aisetup")
    assert read_draft(builder.character).name == ""

"""The menu that ``aisetup`` opens, driven as a builder types."""

import pytest

from evennia_ai import models
from evennia_ai.commands.setup.draft import archetypes, read_draft
from evennia_ai.config import FIELDS
from evennia_ai.policy.conversation.character import read_persona
from evennia_ai.store.attributes import MENU_DRAFT
from tests.game import setup_menu_scene as scene
from tests.game.screens import on_telnet
from tests.game.setup_menu_scene import is_open, typed, walked_to
from tests.scripted import call

builder, admin, guard = scene.builder, scene.admin, scene.guard


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
    assert otto.assistant.is_on and otto.assistant.mind.who.persona.voice == "low and dry"
    assert otto.assistant.mind.who.persona.never == (
        "tells a guest's secret",
        "lets anybody drink without paying",
    )
    assert otto.assistant.config.sleep_schedule == "02:00-08:00"
    assert otto.access(builder.character, "edit")
    game.model.add(call("say", text="Evening."))
    builder.do("say Otto, hello")
    game.run()
    assert builder.last() == 'Otto says, "Evening."'


def test_an_assistant_that_exists_is_changed_and_keeps_the_rest(game, builder, guard):
    typed(builder, "aisetup Guard = You are a guard.", "aisetup/set Guard/max_hops = 7")
    typed(builder, "aisetup/set Guard/tick_rate = 9")
    script = guard.assistant
    assert "has an assistant: change it" in typed(builder, "aisetup")
    assert "Now: You are a guard." in typed(builder, "1")
    typed(builder, "7", "wants = a quiet night", "next", "next", "next", "tick_rate", "reset")
    text = typed(builder, "back", "next", "next")
    assert "1. Guard is changed" in text and "tick_rate 5 s" in text
    assert script.config.tick_rate == 9 and script.mind.who.persona.wants == ()
    assert "Guard is changed. Its memories stay." in typed(builder, "live")
    assert guard.assistant is script
    assert (script.config.tick_rate, script.config.max_hops) == (5, 7)
    assert script.mind.who.persona.wants == ("a quiet night",)
    assert script.mind.who.persona.text == "You are a guard."


def test_a_shared_persona_is_taken_by_its_name(builder, guard):
    builder.do("aisetup/persona watch = You are of the watch.")
    assert "Step 3 of 7, model" in typed(builder, "aisetup", "Guard", "@watch")
    assert "Now: You are of the watch." in typed(builder, "back")
    assert "field by field" not in typed(builder, "look")
    typed(builder, *["next"] * 5, "live")
    assert guard.db.ai_persona == "@watch"


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


def test_markup_in_personas_is_shown_and_in_names_left_out(builder, guard):
    guard.key = "Gu|rard"
    typed(builder, "aisetup", guard.dbref, "You are |lcquit|ltone|le guard.")
    builder.forget()
    builder.do("back")
    told = on_telnet(builder.session.sent[-1])
    assert "You are |lcquit|ltone|le guard." in told.replace("\u200c", "")
    assert "Who is Guard?" in told.replace("\u200c", "")


@pytest.mark.parametrize("key", archetypes())
def test_every_archetype_is_filled_in_and_its_settings_are_valid(builder, guard, key):
    number = list(archetypes()).index(key) + 1
    typed(builder, "aisetup", "1", str(number))
    typed(builder, *["next"] * len(archetypes()[key]["blanks"]), *["next"] * 4)
    assert "Fix this" not in typed(builder, "next")
    typed(builder, "live")
    assert not guard.assistant.mind.settings.complaints
    assert guard.assistant.mind.settings.own() == archetypes()[key]["settings"]
    persona = read_persona(guard.db.ai_persona.deserialize())
    assert "Guard" in persona.text and "{" not in repr(persona)


# --- the model, the tools and the settings ---


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


def test_a_family_of_tools_that_does_not_exist_is_refused(builder, guard):
    builder.do("aisetup Guard = You are a guard.")
    text = typed(builder, "aisetup/set Guard/tools_off = goals, nonsense")
    assert text.startswith("tools_off: there are no tools of 'nonsense'. Use company, entity,")
    assert guard.assistant.config.tools_off is None


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
        ("character", "new ;", "Which name?"),
        ("character", "new Bob:no.such.Class", "There is no typeclass 'no.such.Class'."),
        ("character", "Bea", "You may not change Bea"),
        ("persona", "@nobody", "There is no shared persona"),
        ("persona", "hello", "'hello' is no choice. Type 1 to 6, back"),
        ("fields", "hello", "Type a field, = and its text."),
        ("model", "gpt", "'gpt' is no choice. Type 1 to"),
        ("tools", "7", "'7' is no choice. Type 1 to 6, back, next"),
        ("habits", "hops", "There is no setting 'hops'."),
        ("tick_rate", "fast", "tick_rate must be a number, not 'fast'."),
        ("finish", "next", "This is the last step. Type live"),
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

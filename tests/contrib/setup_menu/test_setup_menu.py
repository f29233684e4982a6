"""The menu that ``aisetup`` opens, driven as a builder types."""

import pytest
from twisted.internet.defer import Deferred

from evennia_ai import models
from evennia_ai.assistant_character import AssistantMixin
from evennia_ai.contrib.setup_menu.draft import TRIAL, archetypes
from evennia_ai.errors import StoreUnavailable
from evennia_ai.game.minds import GameSettings
from evennia_ai.policy.conversation.persona_and_lore import read_persona
from tests.contrib.setup_menu import setup_menu_scene as scene
from tests.contrib.setup_menu.setup_menu_scene import menu_of
from tests.scripted import call

builder, admin, guard = scene.builder, scene.admin, scene.guard
pytestmark = pytest.mark.game
OTTO = ("new Otto", "You are Otto, a fiddler.")


# --- from the first step to the last ---


def test_a_builder_creates_a_character_from_an_archetype(game, builder, tavern):
    menu = menu_of(builder)
    assert "Step 1 of 3, character" in menu.type("look")
    text = menu.type("new Otto")
    assert "Step 2 of 3, persona" in text and "1. Innkeeper: " in text
    assert "What is the house called?" in menu.type("1")
    assert "What is it known for?" in menu.type("the Blue Boar")
    text = " ".join(menu.type("1").split())
    assert "Step 3 of 3, Otto is created in this room with one" in text
    assert "text (who the character is): You are Otto, who keeps the Blue Boar." in text
    assert "the Blue Boar is known for brown ale" in text
    assert "voice (how it sounds): low and dry" in menu.type("voice = low and dry")
    assert not any(obj.key == "Otto" for obj in tavern.contents)
    assert "Otto has an assistant now." in menu.type("live")
    assert not menu.is_open
    (otto,) = [obj for obj in tavern.contents if obj.key == "Otto"]
    assert otto.assistant.is_on and otto.assistant.mind.who.persona.voice == "low and dry"
    assert otto.assistant.mind.who.persona.never == (
        "tell a guest's secret",
        "let anybody drink without paying",
    )
    assert otto.assistant.config.sleep_schedule == "02:00-08:00"
    assert otto.access(builder.character, "edit")
    game.model.add(call("say", text="Evening."))
    builder.do("say Otto, hello")
    game.run()
    assert builder.last() == 'Otto says, "Evening."'


def test_an_assistant_that_exists_is_changed_and_keeps_the_rest(game, builder, guard):
    builder.do("aisetup Guard = You are a guard.")
    builder.do("aisetup/set Guard/max_bot_replies = 7")
    builder.do("aisetup/set Guard/tick_rate = 9")
    script = guard.assistant
    menu = menu_of(builder)
    assert "has an assistant: change it" in menu.type("look")
    assert "Step 3 of 3, Guard is changed" in menu.type("1")
    text = menu.type("wants = a quiet night", "tick_rate", "reset")
    assert "Now: tick_rate: 5 s (the default)." in text
    assert script.config.tick_rate == 9 and script.mind.who.persona.wants == ()
    assert "Guard is changed. Its memories stay." in menu.type("back", "live")
    assert guard.assistant is script
    assert (script.config.tick_rate, script.config.max_bot_replies) == (5, 7)
    assert script.mind.who.persona.wants == ("a quiet night",)
    assert script.mind.who.persona.text == "You are a guard."


def test_a_shared_persona_is_taken_by_its_name(builder, guard):
    builder.do("aisetup/persona watch = You are of the watch.")
    menu = menu_of(builder, "Guard", "@watch")
    assert "1. persona: @watch" in menu.type("look")
    menu.type("live")
    assert guard.db.ai_persona == "@watch"


def test_every_page_fits_a_telnet_client_and_names_the_ways_out(builder, guard, service):
    service.profiles["x" * 70] = {"client": "offline"}
    menu = menu_of(builder)
    pages = [menu.type("look"), menu.type("1")]
    for number, one in enumerate(archetypes().values(), 1):
        pages.append(menu.type(str(number)))
        pages += [menu.type("1") for _ in one["blanks"]]
        pages.append(menu.type("back"))
    pages.append(menu.type("You are a guard. " + "Very strict. " * 60))
    pages += [menu.type("profile"), menu.type("back", "tools_off"), menu.type("back")]
    while "More settings" in pages[-1]:
        numbers = [line.split(".")[0] for line in pages[-1].splitlines() if line[:1].isdigit()]
        pages.append(menu.type(numbers[-1]))
    assert len(pages) > 25
    for shown in pages:
        assert max(map(len, shown.splitlines())) <= 78, shown
        assert "____" not in shown and "|" not in shown
        assert shown.endswith("\nAlways: back, look, help, quit.")


@pytest.mark.parametrize("key", archetypes())
def test_every_archetype_is_filled_in_and_its_settings_are_valid(builder, guard, key):
    number = list(archetypes()).index(key) + 1
    menu = menu_of(builder, "1", str(number), *["1"] * len(archetypes()[key]["blanks"]))
    assert "Fix this" not in menu.type("look")
    menu.type("live")
    assert not guard.assistant.mind.settings.complaints
    assert guard.assistant.mind.settings.own() == archetypes()[key]["settings"]
    persona = read_persona(guard.db.ai_persona.deserialize())
    assert "Guard" in persona.text and "{" not in repr(persona)


# --- the fields ---


def test_a_family_of_tools_is_turned_off_and_on(game, builder, tavern):
    menu = menu_of(builder, *OTTO)
    text = menu.type("tools_off")
    assert "Always on: speech. Tools to speak, whisper and emote." in text
    assert "1. on: world. Tools to look, move, get, drop and give" in " ".join(text.split("\n"))
    assert "1. off: world" in menu.type("1")
    assert "1. on: world" in menu.type("1")
    menu.type("1", "back", "live")
    (otto,) = [obj for obj in tavern.contents if obj.key == "Otto"]
    assert otto.assistant.config.tools_off == "world"
    game.model.add(call("look"), call("say", text="Evening."))
    builder.do("say Otto, hello")
    game.run()
    first, second = game.model.requests
    offered = {tool["function"]["name"] for tool in first.tools}
    assert "say" in offered and not offered & {"look", "move", "get", "give"}
    assert "There is no tool 'look'" in repr(second.messages)


def test_only_admins_change_the_discretion(builder, admin):
    menu = menu_of(builder, *OTTO)
    assert "Only admins may change whisper_policy" in menu.type("whisper_policy = trusting")
    assert menu.draft().settings == {}
    assert "trusting (chosen here)" in menu_of(admin, *OTTO).type("whisper_policy", "trusting")


@pytest.mark.parametrize(
    ("before", "line", "answer"),
    [
        ((), "Nobody", "There is no character called 'Nobody'."),
        ((), "new ;", "Which name?"),
        ((), "new Bob:no.such.Class", "There is no typeclass 'no.such.Class'."),
        ((), "Bea", "You may not change Bea"),
        (("new Otto",), "@nobody", "There is no shared persona"),
        (("new Otto",), "hello", "'hello' is no choice. Type a number"),
        (OTTO, "hops = 3", "There is no setting 'hops'."),
        (OTTO, "text =", "A persona cannot be empty."),
        ((*OTTO, "tick_rate"), "fast", "tick_rate must be a number, not 'fast'."),
    ],
)
def test_a_wrong_input_gets_one_line_and_the_step_stays(builder, before, line, answer):
    menu = menu_of(builder, *before)
    shown = menu.type("look")
    text = menu.type(line)
    assert answer in text and "\n" not in text
    assert menu.type("look") == shown


# --- quit, and a game that changes meanwhile ---


@pytest.mark.parametrize("before", [(), ("1",), ("1", "You are a guard."), ("1", "1")])
def test_quit_leaves_no_trace(builder, guard, tavern, before):
    there = set(tavern.contents)
    menu = menu_of(builder, *before)
    assert "Nothing was changed. To begin again: aisetup" in menu.type("quit")
    assert set(tavern.contents) == there and not menu.is_open
    assert not guard.scripts.all() and not isinstance(guard, AssistantMixin)
    assert not guard.attributes.has("ai_persona")


def test_a_character_that_is_deleted_meanwhile_is_named(builder, guard):
    menu = menu_of(builder, "1", "You are a guard.")
    guard.delete()
    assert "Guard was deleted meanwhile." in menu.type("live")


def test_who_may_not_edit_a_character_neither_sees_nor_takes_nor_changes_it(builder, guard):
    menu = menu_of(builder, "1", "You are a guard.")
    guard.locks.add("edit:perm(Admin);control:perm(Admin)")
    assert "You may not change Guard" in menu.type("live")
    assert not guard.scripts.all()
    menu = menu_of(builder)
    assert "Guard" not in menu.type("look")
    assert "You may not change Guard" in menu.type("Guard")


def test_an_assistant_attached_meanwhile_is_changed_and_not_doubled(builder, admin, guard):
    menu = menu_of(builder, "1", "You are a guard.")
    admin.do("aisetup Guard = You are a king.")
    assert "Guard is changed." in menu.type("live")
    assert len(guard.scripts.all()) == 1


def test_a_character_is_created_once_though_its_settings_cannot_be_stored_at_first(
    builder, tavern, monkeypatch
):
    def busy(*args, **kwargs):
        raise StoreUnavailable("The database cannot be written now.")

    menu = menu_of(builder, *OTTO, "tick_rate = 9")
    with monkeypatch.context() as patch:
        patch.setattr(GameSettings, "write", busy)
        assert "cannot be written now" in menu.type("live")
    menu.type("live")
    (otto,) = [one for one in tavern.contents if one.key == "Otto"]
    assert otto.assistant.mind.settings.own() == {"tick_rate": 9}


# --- the trial ---


def test_the_trial_shows_what_it_would_say_and_leaves_nothing(game, builder, tavern):
    ann = game.player("Ann", tavern)
    before = set(tavern.contents)
    menu = menu_of(builder, *OTTO)
    game.model.add(call("say", text="A fine |revening|n!"))
    text = menu.type("Otto, good evening")
    assert "Asking the stand-in (profile default) ..." in text
    assert "If Bea says to Otto: Otto, good evening" in text
    assert "would say: A fine |revening|n!" in text
    (request,) = game.model.requests
    assert "You are Otto, a fiddler." in request.messages[1]["content"]
    assert request.messages[-1]["content"] == "Bea says: Otto, good evening"
    assert set(tavern.contents) == before and ann.heard() == []
    assert not models.Message.objects.exists() and not models.ModelCall.objects.exists()
    assert menu.is_open and not menu.command.is_trying


def late_reply(game):
    reply = Deferred()
    game.model.add(reply)
    return reply


@pytest.mark.parametrize("who", ["new Otto", "Guard"])
def test_quit_during_a_trial_leaves_nothing_and_says_nothing_later(
    game, builder, guard, tavern, who
):
    before = set(tavern.contents)
    menu = menu_of(builder, who, "You are a guard.")
    reply = late_reply(game)
    menu.type("hello")
    assert "Nothing was changed." in menu.type("quit")
    assert set(tavern.contents) == before and not guard.scripts.all()
    builder.forget()
    reply.callback(call("say", text="Late."))
    game.run()
    assert builder.heard() == []
    assert not models.ModelCall.objects.exists()


def test_one_trial_at_a_time_and_nobody_sees_it_or_goes_live_meanwhile(game, builder, tavern):
    ann = game.player("Ann", tavern)
    menu = menu_of(builder, *OTTO)
    reply = late_reply(game)
    menu.type("hello")
    assert "Otto" not in ann.told("look")
    assert "A trial is in progress." in menu.type("hello again")
    assert "A trial is in progress." in menu.type("live")
    builder.forget()
    reply.callback(call("say", text="Late."))
    assert any("would say: Late." in line for line in builder.heard())
    assert "Otto has an assistant now." in menu.type("live")


@pytest.mark.parametrize("lines", [OTTO, ("1", "You are a guard.")])
def test_a_trial_that_cannot_be_marked_leaves_nothing(builder, guard, tavern, lines, monkeypatch):
    from evennia_ai.contrib.setup_menu import staging

    def busy(*args, **kwargs):
        raise StoreUnavailable("The database cannot be written now.")

    before = set(tavern.contents)
    menu = menu_of(builder, *lines)
    monkeypatch.setattr(staging, "write_attributes", busy)
    assert "cannot be written now" in menu.type("hello")
    assert set(tavern.contents) == before
    assert not guard.scripts.all() and not isinstance(guard, AssistantMixin)


def test_a_trial_needs_the_permission_for_dry_runs(game, builder, service):
    service.who_may_read["dry_runs"] = "Admin"
    menu = menu_of(builder, *OTTO)
    assert "Only Admins may read that." in menu.type("hello")
    assert game.model.requests == [] and not menu.command.is_trying


def test_an_assistant_that_a_trial_marked_and_somebody_started_stays(builder, guard):
    builder.do("aisetup Guard = You are a guard.")
    guard.assistant.attributes.add(TRIAL, "assistant")
    menu_of(builder)
    assert guard.assistant.is_on


def test_the_menu_takes_lines_as_evennia_hands_them_over(builder, tavern, service):
    def typed(line):
        told = builder.told(line)
        service.evennias_clock.advance(0)  # Evennia goes on with a dialogue in the next turn
        return "\n".join([told, *builder.heard()])

    assert "Step 1 of 3" in typed("aisetup")
    assert "Step 2 of 3" in typed("new Otto")
    assert "Step 3 of 3" in typed("You are Otto.")
    assert "Otto has an assistant now." in typed("live")
    assert "Tavern" in typed("look")


def test_the_help_is_that_of_the_plain_command_and_names_the_menu(builder):
    text = builder.told("help aisetup")
    assert "aisetup/new" in text and "(a menu: ready characters, and" in text

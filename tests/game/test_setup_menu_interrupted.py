"""The menu of ``aisetup`` at quit, after a restart, and when the game changes meanwhile."""

import pytest

from evennia_ai.assistant_character import AssistantMixin
from evennia_ai.store.attributes import MENU_DRAFT
from tests.game import setup_menu_scene as scene
from tests.game.setup_menu_scene import STEPS, restart, typed, walked_to

builder, admin, guard = scene.builder, scene.admin, scene.guard


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


def test_a_character_that_is_deleted_meanwhile_is_named(builder, guard):
    typed(builder, "aisetup", "1", "You are a guard.")
    guard.delete()
    text = typed(builder, "next")
    assert "Step 1 of 7, character" in text
    assert text.endswith("Guard was deleted meanwhile. Choose another one.")
    assert "Choose a character first" in typed(builder, "next")


def test_a_builder_who_may_not_edit_a_character_any_more_is_refused_at_live(builder, guard):
    typed(builder, "aisetup", "1", "You are a guard.", *["next"] * 5)
    guard.locks.add("edit:perm(Admin);control:perm(Admin)")
    assert "You may not change Guard" in typed(builder, "live")
    assert not guard.scripts.all()


def test_a_character_that_one_may_not_edit_is_neither_listed_nor_taken(builder, guard):
    guard.locks.add("edit:perm(Admin);control:perm(Admin)")
    assert "Guard" not in typed(builder, "aisetup")
    assert "You may not change Guard" in typed(builder, "Guard")
    assert "Choose a character first" in typed(builder, "next")


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

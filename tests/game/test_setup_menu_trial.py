"""The trial talk in the menu of ``aisetup``."""

import pytest
from twisted.internet.defer import Deferred

from evennia_ai import models
from evennia_ai.commands.setup.draft import read_draft
from evennia_ai.store.attributes import MENU_DRAFT
from tests.game import setup_menu_scene as scene
from tests.game.setup_menu_scene import is_open, restart, typed, walked_to
from tests.scripted import call

builder, guard = scene.builder, scene.guard


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
    assert guard.assistant.is_on and guard.assistant.mind.who.persona.text == "You are a guard."


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


def test_a_trial_needs_the_permission_for_dry_runs(game, builder, service):
    service.who_may_read["dry_runs"] = "Admin"
    walked_to(builder, "trial")
    assert "Only Admins may read that." in typed(builder, "hello")
    assert game.model.requests == [] and read_draft(builder.character).trial == ""


def test_a_draft_that_a_builder_wrote_deletes_nothing_and_sets_no_discretion(builder, guard):
    builder.do("aisetup Guard = You are a guard.")
    forged = {"trial": guard.dbref, "name": "Guard", "dbref": guard.dbref, "persona": "You."}
    forged["settings"] = {"discretion": "trusting", "stopped": True, "max_hops": "many"}
    builder.character.attributes.add(MENU_DRAFT, forged)
    typed(builder, "aisetup", *["next"] * 6)
    assert guard.pk and guard.assistant
    assert "Only admins may change discretion" in typed(builder, "live")
    assert guard.assistant.is_on and guard.assistant.mind.settings.own() == {}

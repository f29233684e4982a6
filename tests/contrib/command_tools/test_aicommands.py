"""``aicommands``: a builder allows, tries and removes commands of the game."""

import pytest

from evennia_ai.contrib.command_tools.game_commands import allowed_commands, tried_commands
from evennia_ai.store.attributes import read_attribute
from tests.contrib.command_tools import smithy_scene
from tests.game.conftest import flat

pytestmark = pytest.mark.game

asked_for, smithy = smithy_scene.asked_for, smithy_scene.smithy
allow = smithy_scene.allow


def test_a_command_is_allowed_tried_shown_and_removed(game, builder, smithy):
    assert "may use no commands" in builder.told("aicommands Mira")
    told = builder.told("aicommands/allow Mira = forge <thing>, 3 per hour, for perm(Builder)")
    assert "Allowed for Mira: forge <thing>, 3 per hour, for perm(Builder)" in told
    assert "may have been written by a player" in told and "aicommands/try Mira = forge ..." in told
    assert "forge <thing>, 3 per hour, for perm(Builder) (not tried yet)" in builder.told(
        "aicommands Mira"
    )
    told = builder.told("aicommands/try Mira = forge sword")
    assert "This runs forge, with the lock all()." in told and "Run it now" in told
    assert "a lock refuses you" not in told
    assert not smithy.ndb.forged
    builder.do("yes")
    game.service.evennias_clock.advance(0)
    assert "Mira is shown: You forge a sword." in flat("\n".join(builder.heard()))
    assert smithy.ndb.forged == ["sword"] and not tried_commands(smithy)
    builder.do("yes")
    game.service.evennias_clock.advance(0)
    assert [item.form for item in tried_commands(smithy)] == ["forge <thing>"]
    assert "Mira may use it from now on." in flat("\n".join(builder.heard()))
    assert "not tried" not in builder.told("aicommands Mira")
    builder.told("aicommands/remove Mira = forge <thing>")
    assert allowed_commands(smithy) == ()


def test_a_builder_tries_what_a_lock_keeps_for_others(game, builder, smithy):
    builder.told("aicommands/allow Mira = forge <thing>, for perm(Smith)")
    assert "a lock refuses you" in builder.told("aicommands/try Mira = forge sword")
    builder.do("no")
    game.service.evennias_clock.advance(0)
    for answer, is_tried in (("no", False), ("yes", True)):
        smithy.ndb.forged = None
        builder.told("aicommands/try Mira = forge sword")
        for typed in ("yes", answer):
            builder.do(typed)
            game.service.evennias_clock.advance(0)
        assert smithy.ndb.forged == ["sword"] and bool(tried_commands(smithy)) is is_tried, answer


@pytest.mark.parametrize(
    ("line", "told"), [("break", "It failed: RuntimeError"), ("smelt", "It is still under way")]
)
def test_what_fails_in_a_trial_or_outlasts_it_stays_untried(game, builder, smithy, line, told):
    builder.told(f"aicommands/allow Mira = {line}")
    builder.told(f"aicommands/try Mira = {line}")
    builder.do("yes")
    game.service.evennias_clock.advance(0)
    assert told in builder.last() and not tried_commands(smithy)


def test_without_a_yes_nothing_runs_and_it_stays_untried(game, builder, smithy):
    builder.told("aicommands/allow Mira = forge <thing>")
    builder.told("aicommands/try Mira = forge sword")
    builder.do("no")
    game.service.evennias_clock.advance(0)
    assert "Nothing was run." in builder.last()
    assert not smithy.ndb.forged and not tried_commands(smithy)


def test_a_command_that_is_allowed_anew_is_tried_anew(builder, smithy, allow):
    allow("forge <thing>", "sing")
    builder.told("aicommands/allow Mira = forge <thing>, for all")
    assert [item.form for item in tried_commands(smithy)] == ["sing"]


def test_it_is_a_setting_that_is_exported_and_deleted_as_others_are(builder, smithy):
    builder.told("aicommands/allow Mira = forge <thing>")
    assert read_attribute(smithy.assistant, "allowed_commands") == "forge <thing>"
    assert smithy.assistant.mind.settings.own() == {"allowed_commands": "forge <thing>"}
    assert "is no form" in flat(builder.told("aisetup/set Mira/allowed_commands = <any>"))


WRONG = """\
aicommands | Which character?
aicommands/allow Mira | Which command?
aicommands/allow Mira = <verb> | is no form of a command
aicommands/allow Mira = dig <room> | dig is a command of the staff, and never a tool
aicommands/allow Mira = @tel <place> | staff, and never a tool
aicommands/try Mira = forge sword | It refuses: You have no such command
aicommands/remove Mira = forge <thing> | has no such command
aicommands/fly Mira = x | no switch
""".splitlines()


@pytest.mark.parametrize("line", WRONG)
def test_what_cannot_be_done_is_told_in_a_sentence(admin, smithy, builder, line):
    builder.account.permissions.add("Developer")
    smithy.permissions.add("Builder")
    typed, _, answer = line.partition(" | ")
    assert answer in flat(builder.told(typed))
    assert allowed_commands(smithy) == ()


def test_what_can_never_be_a_tool_is_refused_at_once_with_its_reason(game, builder, smithy):
    for form in ("teleport", "@tel <place>", "teleport/quiet <place>", "open <exit>", "py <code>"):
        told = builder.told(f"aicommands/allow Mira = {form}")
        assert "is a command of the staff, and never a tool" in told, form
    for form in ("page <who>=<words>", "ooc", "quit"):
        told = builder.told(f"aicommands/allow Mira = {form}")
        assert "is a command of accounts, and never a tool" in told, form
    assert allowed_commands(smithy) == ()
    builder.told("aicommands Mira = heal <Ann|Bea>, 1 per 30 minutes")
    builder.do("yes")
    game.service.evennias_clock.advance(0)
    assert "heal <Ann|Bea>, 1 per 30 minutes" in builder.told("aicommands Mira")


def test_a_command_that_is_not_there_is_allowed_after_a_yes(game, builder, smithy):
    told = builder.told("aicommands/allow Mira = time")
    assert "the lock or the set of time keeps it from this character." in flat(told)
    builder.do("no")
    game.service.evennias_clock.advance(0)
    for answer, forms in (("no", []), ("yes", ["ring bell"])):
        assert "There is no such command here" in builder.told("aicommands Mira = ring bell")
        builder.do(answer)
        game.service.evennias_clock.advance(0)
        assert [item.form for item in allowed_commands(smithy)] == forms, answer


def test_only_who_may_edit_the_character_allows_it_commands(game, tavern, smithy):
    smithy.locks.add("edit:false()")
    other = game.player("Bo", tavern, permissions=["Builder"])
    other.character.cmdset.add(smithy_scene.BuilderSet)
    assert "You may not change Mira" in other.told("aicommands/allow Mira = forge <thing>")

"""`use_command`: what runs, as whom, for whom, how often, and what the character reads of it."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from evennia_ai.contrib.command_tools.game_commands import TRIED, USES, has_commands
from evennia_ai.extension import Extension
from evennia_ai.policy.audience import GAME, STRANGER
from evennia_ai.store.attributes import write_attribute
from tests.contrib.command_tools import smithy_scene
from tests.game import conftest as game_scene
from tests.scripted import call

pytestmark = [pytest.mark.game, pytest.mark.engine]

asked_for, smithy = smithy_scene.asked_for, smithy_scene.smithy
allow, uses, log = smithy_scene.allow, smithy_scene.uses, game_scene.log


def test_a_command_runs_as_the_character_and_she_reads_what_it_showed(mira, ann, allow, uses):
    allow("forge <thing>")
    ann.forget()
    result = uses("forge iron sword")
    assert (result.state, result.text) == ("done", 'The game showed you: "You forge a iron sword."')
    assert mira.ndb.forged == ["iron sword"]
    assert ann.last() == "Sparks fly."
    assert "msg" not in vars(mira)


def test_nothing_runs_without_a_builders_leave_and_trial(mira, allow, uses):
    assert "You have no such command" in uses("forge sword").text
    allow("forge <thing>", "open gate")
    assert "Your commands: forge <thing>; open gate." in uses("heal Ann").text
    write_attribute(mira.assistant, TRIED, [])
    assert "the staff has not tried it" in uses("forge sword").text
    assert not mira.ndb.forged


# Each runs nothing where only `forge <thing>` is allowed.
TRICKS = (
    *("forge sword\nforge axe", "forge sword\r\nquit", "forge a\u2028quit"),
    *("forge sword;forge axe", "forge sword && quit", "forge |lcquit|ltx|le", "forge $You()"),
    *("forge {x}", "forge/all sword", "forge #1", "forge *Bob", "forge a=b", "forge a\\quit"),
    *("forge \u200bx", "forge " + "x" * 400, "say forge sword", "2-forge sword x", "forge", ""),
    *("forge a\vquit", "forge a\x85quit", "forge a\0quit", "forge a\x1b[2J", "forge a|/quit"),
    *(
        "forge /all sword",
        "forge/\u200ball sword",
        "forge a | quit",
        "forge a\rquit",
        "forge a < b",
    ),
)


def test_tricks_in_a_line_run_nothing(mira, allow, uses):
    allow("forge <thing>")
    for line in TRICKS:
        assert uses(line).state == "failed" and not mira.ndb.forged, line
    assert uses("forge sword").state == "done"


def test_a_slot_cannot_choose_another_command(mira, allow, uses):
    allow("forge <thing>")
    assert "no such command here" in uses("forge secret door").text
    assert not mira.ndb.forged


def test_nicks_count_for_nothing(mira, allow, uses):
    allow("forge <thing>")
    mira.nicks.add("forge $1", "heal $1", category="inputline")
    assert "You forge a sword." in uses("forge sword").text


def test_a_strict_form_is_not_got_round_by_a_loose_one(mira, ann, allow, uses):
    allow("forge <thing>", "forge royal <thing>, for tag(knight)")
    assert uses("forge royal seal").state == "refused"
    assert uses("forge seal").state == "done"
    ann.character.tags.add("knight")
    assert uses("forge royal seal").state == "done"


def test_the_builders_lock_is_asked_of_everybody_whose_words_are_in_the_prompt(
    game, tavern, mira, ann, bob, builder, allow
):
    allow("forge <thing>, for tag(smith), game text")
    ann.character.tags.add("smith")
    for player in (bob, builder):  # whose looks are in her prompts while they are here
        player.character.location = game.room("Yard")

    def order(player):
        game.model.add(call("use_command", line="forge sword"), call("noop"))
        player.do("say Mira, forge a sword")
        game.run(1)
        game.model.script.clear()
        return len(mira.ndb.forged or ())

    assert order(ann) == 1
    assert order(ann) == 2  # what the command showed is vouched for
    bob.character.location = tavern
    assert order(bob) == 2
    bob.character.location = None
    assert order(ann) == 2  # his words are in her prompt now


def test_what_a_command_shows_counts_as_a_strangers_words_unless_a_builder_vouches(allow, uses):
    allow("forge <thing>", "sing, game text")
    assert uses("forge sword").authors == {STRANGER}
    assert uses("sing").authors == {GAME}


@pytest.mark.parametrize(
    ("vouched", "forged"), [("", ["sword"]), (", game text", ["sword", "seal"])]
)
def test_what_a_command_showed_causes_nothing_that_has_a_lock(
    game, mira, ann, builder, allow, vouched, forged
):
    allow(f"forge sword{vouched}", "forge seal, for tag(smith)")
    builder.character.location = None
    ann.character.tags.add("smith")
    lines = ("forge sword", "forge seal")
    game.model.add(*(call("use_command", line=line) for line in lines), call("noop"))
    ann.do("say Mira, forge a sword and a seal")
    game.run(1)
    assert mira.ndb.forged == forged  # what it showed could have been a letter with an order


def test_the_commands_own_lock_holds_for_the_character_and_for_whoever_asks(mira, ann, allow, uses):
    allow("heal <person>")
    ann.character.tags.add("healer")
    assert "no such command here" in uses("heal Bob").text
    mira.tags.add("healer")
    assert uses("heal Bob").state == "done"
    ann.character.tags.remove("healer")
    assert uses("heal Bob").state == "refused"
    assert mira.ndb.forged == ["Bob"]


def test_a_limit_holds_over_a_reload(game, mira, allow, uses):
    allow("forge <thing>, 2 per hour")
    assert [uses("forge x").state for _ in range(3)] == ["done", "done", "failed"]
    assert len(mira.assistant.attributes.get(USES)["forge <thing>"]) == 2
    game.next_process(mira.assistant)
    mira.assistant.attributes.reset_cache()
    assert "Again in 60 min." in uses("forge x").text
    game.clock.advance(3_601)
    assert uses("forge x").state == "done"
    assert len(mira.ndb.forged) == 3


def test_a_question_of_a_command_is_ended_and_stops_nothing(mira, allow, uses):
    allow("sing", "forge <thing>")
    text = uses("sing").text
    assert "You take a breath. Which song? (It asked you to choose" in text
    assert "You forge" in uses("forge song").text
    assert mira.ndb.forged == ["song"]


def test_a_command_that_fails_shows_no_traceback(mira, allow, uses, log):
    allow("break", "forge <thing>")
    result = uses("break")
    assert result.state == "unknown" and "secret" not in result.text
    assert any("secret path" in line for line in log)
    assert "You forge" in uses("forge x").text


def test_in_a_private_talk_a_slot_names_only_what_is_here(game, mira, ann, bob, allow):
    allow("forge <thing>", "say <words>")
    game.thing("anvil", mira.location)

    def order(line):
        bob.forget()
        game.model.add(call("use_command", line=line), call("noop"))
        ann.do("whisper Mira = my secret is the ring")
        game.run(1)
        game.model.script.clear()
        return "\n".join(bob.heard())

    assert "ring" not in order("say my secret is the ring")
    assert "Sparks fly." not in order("forge ring")
    assert "Sparks fly." in order("forge anvil")


def test_words_that_the_game_refuses_are_in_no_command(game, mira, allow, uses):
    class Rule(Extension):
        name = "rule"

        def before_speech(self, words, by_staff):
            return "no" * ("curse" in words)

    allow("say <words>")
    game.service.extensions.append(Rule())
    assert "does not allow these words" in uses("say a curse").text
    assert uses("say a blessing").state == "done"


@pytest.mark.parametrize(
    ("client", "form", "rows"),
    [
        ("openai", "tools", ["forge <thing>; sing"]),
        ("openai", "plain", []),
        ("offline", "auto", []),
    ],
)
def test_only_a_model_that_calls_tools_is_told_of_tried_commands(
    game, mira, allow, client, form, rows
):
    (extension,) = [item for item in game.service.extensions if item.name == "command_tools"]
    allow("forge <thing>", "sing")
    profile = replace(mira.assistant.mind.settings.profile, client=client, form=form)
    around = SimpleNamespace(profile=profile, character=mira)
    assert [line.text for _, line in extension.prompt_rows(around, frozenset())] == rows


def test_the_tool_is_shown_to_who_has_a_tried_command(mira, ann, allow):
    context = SimpleNamespace(character=mira)
    assert not has_commands(context)
    allow("forge <thing>")
    assert has_commands(context)


def test_others_are_still_heard_while_a_command_runs(mira, ann, allow, uses, monkeypatch):
    heard = []
    monkeypatch.setattr(mira.ai_mind.hearing, "hear", lambda kind, *rest: heard.append(kind))

    def interrupt(*_args, **_kwargs):
        ann.do("say Careful!")

    monkeypatch.setattr(mira.location, "msg_contents", interrupt)
    allow("forge <thing>")
    monkeypatch.setattr(type(ann.character), "at_say", lambda self, words, **_k: mira.msg(
        (f'Ann says, "{words}"', {"type": "say"}), from_obj=self))  # fmt: skip
    assert uses("forge x").text == 'The game showed you: "You forge a x."'
    assert heard == ["say"]

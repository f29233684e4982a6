"""What `aiwhy` shows to whom: locks, names, whispers, and wrong uses."""

import pytest

from tests.game.conftest import flat
from tests.game.test_disclosure import CANARY, confided, sec_log, typed
from tests.game.vault import Vault
from tests.scripted import call

__all__ = ["confided", "sec_log", "typed"]
pytestmark = pytest.mark.game


def test_aiwhy_shows_the_answers(game, mira, ann, admin):
    Vault(game)
    reply = {"staff_vault": {"door": "north"}, "say": {"text": "It stays shut."}}
    game.model.add(reply, {"say": {"text": "It stays shut, I fear."}})
    ann.do("say Mira, open the vault.")
    game.run(2)
    told = " ".join(admin.told("aiwhy Mira = shut").split())
    assert "who may cause staff_vault: " in told and f"Ann ({ann.dbref}) may not" in told
    assert "who may cause say: everybody" in told


def test_a_builder_reads_no_answers_of_locks_of_a_whispered_turn(game, mira, ann):
    builder = game.player("Bea", mira.location, permissions=["Builder"])
    Vault(game)
    reply = {"staff_vault": {"door": "north"}, "whisper": {"text": "No.", "target": "Ann"}}
    game.model.add(reply, {"whisper": {"text": "No, not ever.", "target": "Ann"}})
    ann.do("whisper Mira = open the vault")
    game.run(2)
    assert "who may" not in builder.told("aiwhy Mira")


def test_it_tells_that_the_mind_did_not_say_a_puppeted_line(game, ann, admin, mira):
    admin.do("force Mira = say The vault is open.")
    game.model.add(call("say", text="Aye."))
    ann.do("say Mira, is it so?")
    game.run(1)
    why = admin.told("aiwhy Mira = vault")
    assert "Its mind did not say this" in why and "The prompt" not in why
    assert '"Aye."' in admin.told("aiwhy Mira") and "The prompt" in admin.told("aiwhy Mira = Aye")


def test_names_are_shown_without_codes(game, tavern, admin):
    game.assistant("Quill |rRed|n", tavern)
    eve = game.player("|gEve|n", tavern)
    game.model.add(call("say", text="Good evening."))
    eve.do("say Quill, good evening.")
    game.run()
    told = admin.told("aiwhy Quill Red")
    assert "Quill Red" in told and "Eve" in told and "|r" not in told and "|g" not in told


def test_a_search_does_not_tell_a_builder_whether_a_whisper_holds_a_word(confided, builder, typed):
    found, not_found = (typed(builder, f"aiwhy Mira = {word}") for word in (CANARY, "giraffe"))
    assert found.replace(CANARY, "giraffe") == not_found


def test_reading_why_a_whisper_was_answered_is_logged(confided, admin, builder, typed, sec_log):
    typed(builder, f"aiwhy Mira = {CANARY}")
    assert sec_log == []
    for line in (f"aiwhy Mira = {CANARY}", "aiwhy/prompt Mira", "aiprompt/whisper Mira = hello"):
        typed(admin, line)
    assert [line.split(":")[0] for line in sec_log][:2] == ["aiwhy", "aiwhy/prompt"]
    assert all(f"private items of Mira ({confided.dbref})" in line for line in sec_log)


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("aiwhy Mira", "Mira has said nothing yet."),
        ("aiwhy Mira = 99", "Mira has not said 99 lines."),
        ("aiwhy Mira = dragons", "Mira said no line with 'dragons'."),
        ("aiwhy/call Mira = dreams", "Mira has made no call for 'dreams'."),
        ("aiwhy/call Mira = summary first", "'first' is no number."),
        ("aiwhy/prompt/next Mira", "Use one switch"),
        ("aireplay Mira", "Which turn?"),
        ("aireplay Mira = 5", "The stand-in reads no prompt"),
        ("aireplay Mira = 5, nowhere", "There is no model profile 'nowhere'."),
    ],
)
def test_a_wrong_use_is_answered(admin, mira, line, answer):
    assert answer in flat(admin.told(line))

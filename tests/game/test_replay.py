"""`aireplay` sends a recorded prompt again; nothing is said, done or stored."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from django.core.management import CommandError, call_command

from evennia_ai import models
from evennia_ai.errors import ConfigError, ProviderUnavailable
from evennia_ai.testing.replaying import read_calls, save_calls
from tests.postgresql import URL
from tests.provider.stub_process import ROOT, StubProvider
from tests.scripted import call

pytestmark = [pytest.mark.game, pytest.mark.django_db]

HOME = {"client": "openai", "base_url": "http://127.0.0.1:1/v1", "model": "home"}


@pytest.fixture
def turn(game, service, mira, ann, admin):
    """Return a turn in which Mira looked around and then spoke."""
    service.profiles["home"] = HOME
    mira.assistant.db.profile = "home"
    game.model.add({"look": {"target": "Ann"}}, {"say": {"text": "You look tired, Ann."}})
    ann.do("say Mira, how do I look?")
    game.run(2)
    return models.Turn.objects.latest("id").id


def test_the_same_prompts_are_sent_and_both_replies_are_shown(game, turn, admin, mira):
    before = [request.messages for request in game.model.requests]
    rows = models.Message.objects.count(), models.ToolCall.objects.count()
    game.model.add({"noop": {}}, {"say": {"text": "Like a rose."}})
    text = admin.told(f"aireplay Mira = {turn}, home")
    game.run(2)
    text += "\n".join(admin.heard())
    assert [request.messages for request in game.model.requests[2:]] == before
    assert "then say: You look tired, Ann." in text and "now  say: Like a rose." in text
    assert rows == (models.Message.objects.count(), models.ToolCall.objects.count())


def test_a_builder_replays_no_whispered_turn_of_a_trusting_character(game, turn, mira, ann):
    mira.assistant.db.discretion = "trusting"
    game.model.add({"whisper": {"text": "It is sold.", "target": "Ann"}})
    ann.do("whisper Mira = who owns the mill?")
    game.run(2)
    builder = game.player("Bea", mira.location, permissions=["Builder"])
    last = models.Turn.objects.latest("id").id
    assert "Only Admins may read that." in builder.told(f"aireplay Mira = {last}")


def test_a_builder_replays_no_turn_in_which_somebody_was_whispered_to(game, turn, mira, ann, bob):
    builder = game.player("Bea", mira.location, permissions=["Builder"])
    assert "Asking" in builder.told(f"aireplay Mira = {turn}")
    game.model.add(
        (call("say", text="All is well."), call("whisper", text="It is xyzzy.", target="Ann"))
    )
    ann.do("say Mira, and now?")
    game.run(2)
    last = models.Turn.objects.latest("id").id
    assert "Only Admins may read that." in builder.told(f"aireplay Mira = {last}")


def test_another_persona_is_tried_in_the_same_prompt(game, turn, admin, mira):
    mira.db.ai_persona = "You are a grim ferryman."
    game.model.add("Hm.", "Hm.")
    admin.do(f"aireplay/persona Mira = {turn}")
    game.run(2)
    then, now = game.model.requests[0].messages, game.model.requests[2].messages
    assert "grim ferryman" in str(now[:2]) and "grim ferryman" not in str(then[:2])
    assert now[2:] == then[2:]


def test_a_model_that_fails_is_told(game, turn, admin):
    game.model.add(ProviderUnavailable("down"), ProviderUnavailable("down"))
    admin.do(f"aireplay Mira = {turn}")
    game.run(2)
    assert "no reply: down" in "\n".join(admin.heard())


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("aireplay Mira", "Which turn?"),
        ("aireplay Mira = 99999", "No prompt of turn 99999 is kept."),
        ("aireplay Mira = soon", "is no number"),
        ("aireplay Mira = {turn}, offline", "The offline brain reads no prompt"),
        ("aireplay Mira = {turn}, nowhere", "nowhere"),
    ],
)
def test_a_wrong_use_is_answered_with_a_hint(turn, admin, typed, answer):
    assert answer in admin.told(typed.format(turn=turn))


def test_a_builder_replays_no_whispered_turn(game, turn, mira, ann):
    builder = game.player("Bea", mira.location, permissions=["Builder"])
    game.model.add({"whisper": {"text": "I will tell nobody.", "target": "Ann"}})
    ann.do("whisper Mira = the code is xyzzy")
    game.run(2)
    asked = len(game.model.requests)
    whispered = models.Turn.objects.latest("id").id
    assert "Only Admins may read that" in builder.told(f"aireplay Mira = {whispered}")
    assert len(game.model.requests) == asked


def a_saved_talk(tmp_path, turn, capsys):
    """Save the calls of a turn, and return the file."""
    file = tmp_path / "talk.jsonl"
    call_command("ai_replay", "--record", "Mira", "--turns", str(turn), "--out", str(file))
    assert "talk.jsonl written." in capsys.readouterr().out
    return file


def test_calls_are_saved_in_a_file_as_they_were_sent(game, turn, tmp_path, capsys):
    calls = read_calls(str(a_saved_talk(tmp_path, turn, capsys)))
    assert [call.messages for call in calls] == [one.messages for one in game.model.requests]
    assert calls[0].reply["calls"] == [["look", '{"target": "Ann"}']]


def test_whispers_are_saved_only_if_asked_for(game, turn, mira, ann, tmp_path):
    game.model.add({"whisper": {"text": "I will tell nobody.", "target": "Ann"}})
    ann.do("whisper Mira = the code is xyzzy")
    game.run(2)
    number = str(models.Turn.objects.latest("id").id)
    with pytest.raises(ConfigError, match="Whispers are left out"):
        save_calls("Mira", number, False)
    assert "xyzzy" in save_calls("Mira", number, True)


def test_a_file_is_asked_again_of_another_model(game, turn, tmp_path, capsys):
    file = a_saved_talk(tmp_path, turn, capsys)
    with StubProvider(tmp_path / "requests.jsonl") as stub:
        stub.say("Like a rose.", "Like a lily.")
        code, told = replay_in_a_process(file, stub.base_url)
        sent = [request["body"]["messages"] for request in stub.requests()]
    assert code == 0, told
    assert "Call 1 of 2, Mira" in told and 'then look({"target": "Ann"})' in told
    assert 'now  say({"text": "Like a rose."})' in told
    assert len(sent) == 2 and "how do I look?" in str(sent[1])


def replay_in_a_process(file, base_url):
    """Run the command without a game's database, as somebody without it would."""
    environ = {
        **{name: value for name, value in os.environ.items() if name != URL},
        "PYTHONPATH": str(ROOT),
        "DJANGO_SETTINGS_MODULE": "server.conf.settings",
        "OPENAI_BASE_URL": base_url,
        "OPENAI_API_KEY": "none",
        "EVENNIA_AI_MODEL": "stub",
    }
    command = [sys.executable, "-m", "django", "ai_replay", str(file), "--profile", "default"]
    done = subprocess.run(
        command, cwd=ROOT, env=environ, text=True, capture_output=True, timeout=120, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "Give either a file or --record <character>."),
        (("talk.jsonl",), "Which model? Give --profile <name>."),
        (("nothing.jsonl", "--profile", "default"), "nothing.jsonl cannot be read:"),
        (("pyproject.toml", "--profile", "default"), "line 1: this is no saved call"),
        (("--record", "Mira", "--turns", "x"), "names no turns"),
        (("--record", "Nobody", "--turns", "1"), "The game has 0 characters 'Nobody'"),
    ],
)
def test_wrong_uses_of_the_command_are_told_with_exit_code_2(db, capsys, arguments, told):
    try:
        call_command("ai_replay", *arguments)
    except CommandError as error:
        code, output = error.returncode, str(error)
    except SystemExit as ended:
        code, output = ended.code, capsys.readouterr().out
    assert code == 2 and told in output

"""`aireplay` sends a recorded prompt again; nothing is said, done or stored."""

from dataclasses import replace

import pytest

from evennia_ai import models
from evennia_ai.errors import ProviderUnavailable
from evennia_ai.policy import call_record
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


def test_a_call_of_a_former_form_is_asked_for_in_plain_words(game, turn, admin, monkeypatch):
    read = call_record.read_record

    def of_schema(packed, shared):
        kept = read(packed, shared)
        return replace(kept, sent=replace(kept.sent, form="schema"))

    monkeypatch.setattr(call_record, "read_record", of_schema)
    game.model.add("Like a rose.", "Like a rose.")
    admin.do(f"aireplay Mira = {turn}, home")
    game.run(2)
    assert "Like a rose." in "\n".join(admin.heard())
    assert {request.form for request in game.model.requests[2:]} == {"plain"}


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


def test_a_builder_replays_no_whispered_turn(game, turn, mira, ann):
    builder = game.player("Bea", mira.location, permissions=["Builder"])
    game.model.add({"whisper": {"text": "I will tell nobody.", "target": "Ann"}})
    ann.do("whisper Mira = the code is xyzzy")
    game.run(2)
    asked = len(game.model.requests)
    whispered = models.Turn.objects.latest("id").id
    assert "Only Admins may read that" in builder.told(f"aireplay Mira = {whispered}")
    assert len(game.model.requests) == asked


def test_a_builder_replays_no_whispered_turn_of_a_trusting_character(game, turn, mira, ann):
    mira.assistant.db.whisper_policy = "trusting"
    game.model.add({"whisper": {"text": "It is sold.", "target": "Ann"}})
    ann.do("whisper Mira = who owns the mill?")
    game.run(2)
    builder = game.player("Bea", mira.location, permissions=["Builder"])
    last = models.Turn.objects.latest("id").id
    assert "Only Admins may read that." in builder.told(f"aireplay Mira = {last}")


def test_a_model_that_fails_is_told(game, turn, admin):
    game.model.add(ProviderUnavailable("down"), ProviderUnavailable("down"))
    admin.do(f"aireplay Mira = {turn}")
    game.run(2)
    assert "no reply: down" in "\n".join(admin.heard())

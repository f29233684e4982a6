"""Summaries after a player was forgotten: written anew from what is left, on their budget."""

from __future__ import annotations

import pytest

from evennia_ai import models
from tests.game import forgetting_scene as scene
from tests.game.forgetting_scene import forget, found
from tests.scripted import call

bruno, planted = scene.bruno, scene.planted


def test_a_summary_is_rewritten_from_the_lines_that_are_left(planted, ann, mira):
    planted.ben.do("say Mira, I owe you nine coins until Friday")
    planted.said("Ben is a liar and I saw the purple griffin")
    ben, last = planted.ben.dbref, models.Message.objects.order_by("-id")[0].id
    made = planted.compaction(
        {"public": "Ben owes nine coins. Ann saw the griffin.", ben: "Ben fears geese."},
        last, {"public": [ann.dbref, ben], ben: [ben]},
    )  # fmt: skip
    planted.script.conversation.forget_view()
    forget(ann)
    row = models.Compaction.objects.get(id=made.id)
    assert "nine coins" in row.summary["public"]
    assert "griffin" not in row.summary["public"]
    assert row.summary[ben] == "Ben fears geese."
    assert (row.speakers["public"], row.rung, row.owed_by) == ([ben], "digest", ann.dbref)
    planted.ben.do("say Mira, what do I owe you?")
    planted.reply(call("noop"))
    planted.game.run(1)
    assert "nine coins" in str(planted.game.model.requests[-1].messages)
    for _ in range(6):
        planted.game.run(1)  # without a model nothing is rewritten later
    left = models.Compaction.objects.get(id=made.id)
    assert (left.summary, left.owed_by) == (row.summary, "")


def rewritten(planted, ann, names=("one",)):
    """Let Ann be forgotten, with a summary for each name; returns the requests for summaries."""
    for name in names:
        planted.ben.do(f"say Mira, the {name} harbour was " + "cold and wet and windy " * 30)
        planted.said()
        last = models.Message.objects.order_by("-id")[0].id
        planted.compaction({"public": f"{name} harbour"}, last, {"public": [ann.dbref]})
    planted.script.conversation.forget_view()
    del planted.game.model.requests[:]
    forget(ann)
    planted.reply("Ben told of the weather in the harbour.", "Again the weather.")
    for _ in range(8):
        planted.game.run(1)
    return [r for r in planted.game.model.requests if r.caller.background]


def test_a_model_rewrites_a_summary_later_on_the_budget_of_who_was_forgotten(
    planted, ann, mira, openai_profile
):
    (request,) = rewritten(planted, ann)
    assert request.caller.speakers == {ann.dbref}
    row = models.Compaction.objects.get()
    assert row.summary["public"] == "Ben told of the weather in the harbour."
    assert (row.owed_by, row.rung) == ("", "summary")
    entries = [entry["content"] for entry in mira.journal.all()]
    assert "[CONTEXT SYNTHESIS]\nBen told of the weather in the harbour." in entries
    assert not found(planted.words, {0: str(request.messages)})


@pytest.fixture
def openai_profile(mira, settings):
    """Let Mira think with a model that is no offline brain."""
    profile = {"client": "openai", "base_url": "https://models.example/v1", "model": "m"}
    mira.assistant.services.profiles["test"] = profile
    mira.assistant.attributes.add("profile", "test")


def test_a_model_rewrites_one_summary_an_hour_for_each_player(planted, ann, mira, openai_profile):
    assert len(rewritten(planted, ann)) == 1
    planted.game.run(60)
    assert rewritten(planted, ann, ["two"]) == []
    planted.reply("The weather was fine.")
    planted.game.run(3700)
    planted.game.run(2)
    asked = [r for r in planted.game.model.requests if r.caller.background]
    assert len(asked) == 1


def test_one_players_hour_delays_nobody_else(planted, ann, mira, openai_profile):
    assert len(rewritten(planted, ann)) == 1
    assert len(rewritten(planted, planted.ben, ["two"])) == 1

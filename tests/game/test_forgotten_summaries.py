"""Summaries after a player was forgotten: written anew from what is left."""

from evennia_ai import models
from tests.game import forgetting_scene as scene
from tests.game.forgetting_scene import forget
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
    assert (row.speakers["public"], row.rung) == ([ben], "digest")
    planted.ben.do("say Mira, what do I owe you?")
    planted.reply(call("noop"))
    planted.game.run(1)
    assert "nine coins" in str(planted.game.model.requests[-1].messages)
    planted.game.run(6)
    entries = [entry["content"] for entry in mira.journal.all()]
    assert "griffin" not in str(entries)

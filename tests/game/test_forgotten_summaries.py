"""Summaries after a player was forgotten: written anew from what is left."""

from evennia_ai import models
from evennia_ai.messages import make_message
from tests.game import forgetting_scene as scene
from tests.game.compaction_records import record
from tests.game.forgetting_scene import forget
from tests.scripted import call

bruno, planted = scene.bruno, scene.planted


def test_a_summary_of_others_is_found_by_its_words(planted, ann):
    phrase, ben = planted.said(), planted.ben.dbref
    planted.turn_of_ben("Mira, I owe you nine coins until Friday")
    last = models.Message.objects.order_by("-id")[0].id
    made = planted.compaction({"public": f"Somebody said {phrase}."}, last, {"public": [ben]})
    forget(ann)
    row = models.Compaction.objects.get(id=made.id)
    assert planted.words[0] not in row.summary["public"]
    assert "nine coins" in row.summary["public"]


def test_a_summary_is_found_by_whose_words_it_tells(planted, ann):
    planted.said()
    planted.turn_of_ben("Mira, I owe you nine coins until Friday")
    told = {"public": "Somebody fears a curse."}
    made = planted.compaction(told, planted.last(), {"public": [ann.dbref, planted.ben.dbref]})
    rows = models.Compaction.objects.filter(id=made.id)
    rows.update(archived=True, prefix_hash="of what was there")
    forget(ann)
    row = rows.get()
    assert "curse" not in row.summary["public"] and "nine coins" in row.summary["public"]
    assert (row.prefix_hash, row.archived) == ("", False)


def test_a_summary_of_nobody_goes_if_she_was_heard(planted, ann):
    planted.said()
    empty = planted.compaction({}, planted.last() - 1, {})
    mine = planted.compaction({"public": "They met."}, planted.last(), {})
    far = planted.game.assistant("Otto", planted.game.room("Far away")).assistant.conversation
    (line,) = far.append([make_message("user", "Hm.", audience=[planted.ben.dbref])])
    theirs = far.compactions.commit(record(line["metadata"]["seq"]))
    forget(ann)
    left = models.Compaction.objects.order_by("id").values_list("id", flat=True)
    assert list(left) == [empty.id, theirs.id] and mine.id not in left


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

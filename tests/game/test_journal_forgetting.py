"""Forgetting a player reaches the journal, and whoever watches it is told."""

from evennia_ai.policy.records.record import SIZE
from evennia_ai.store.forget import erase_chunk
from evennia_ai.store.personal_data import assistants_who_know
from tests.forgetting import forget_chunk
from tests.game import journal_scene as scene
from tests.game.journal_scene import LONG, cold, contents, rows, spoil

journal, full = scene.journal, scene.full


def test_forgetting_somebody_takes_what_he_said_and_what_was_confided_to_him(mira, full, ann):
    who = ann.dbref
    gone = [
        full.add("Told by Ann.", source_entity=who),
        full.add("Told by Ann and Bob.", speakers=[who, "#99"]),
        full.add("Between Ann and Bob.", audience=[who, "#99"]),
    ]
    kept = full.add("Told by Bob.", source_entity="#99", speakers=["#99"])
    assert assistants_who_know(who) == [mira.assistant.id]
    while forget_chunk(who):
        pass
    for journal in (full, cold(mira)):
        assert all(journal.get(entry) is None for entry in gone)
        assert journal.get(kept)
        assert len(journal.all()) == LONG + 1
    assert assistants_who_know(who) == []
    assert "Told by Ann" not in str(rows())


def test_forgetting_reaches_journals_that_were_not_loaded_and_what_was_set_aside(mira, full, ann):
    full.add("Told by Ann.", source_entity=ann.dbref)
    spoil("000003", "nonsense of Ann")
    assert len(cold(mira).all()) == 3 * SIZE
    full = cold(mira)
    while forget_chunk(ann.dbref):
        pass
    assert "broken_000003" not in rows()
    assert len(full.all()) == 3 * SIZE


def test_forgetting_one_is_not_forgetting_another_whose_number_begins_alike(journal):
    journal.add("Told by him.", source_entity="#555")
    assert forget_chunk("#55") == 0
    assert forget_chunk("#555") == 1
    assert forget_chunk("#555") == 0


def test_with_the_mind_goes_what_it_knew(mira, full):
    while erase_chunk(mira.assistant.id):
        pass
    assert not rows()
    assert mira.journal.all() == []


def test_who_watches_is_told_of_what_is_there_and_of_each_change(full):
    seen = {}
    full.watch(lambda old, new: seen.update({(new or old)["id"]: new and new["content"]}))
    assert list(seen.values()) == contents(full)
    full.update("j2", content="Guest 2 left.")
    full.remove("j3")
    added = full.add("Guest 999 came.")
    assert (seen["j2"], seen["j3"], seen[added]) == ("Guest 2 left.", None, "Guest 999 came.")

"""``aimemory``: a character's memory, changed by hand."""

import pytest

from evennia_ai.errors import StoreUnavailable
from evennia_ai.policy.audience import visible
from evennia_ai.sleep.consolidation import (
    consolidate_memories_to_semantic,
    prune_orphaned_memory_links,
)
from evennia_ai.store.memory_editor import MemoryEditor
from evennia_ai.store.personal_data import assistants_who_know
from evennia_ai.store.server_settings import deletion_marks
from tests.forgetting import forget_chunk
from tests.game import memory_command_scene as scene
from tests.game.memory_command_scene import RING, TOLL, contents, restarted

pytestmark = pytest.mark.engine

told, ask, builder, ring = scene.told, scene.ask, scene.builder, scene.ring


def test_what_is_added_is_a_builders_word_for_those_it_is_for(mira, ann, bob, ask):
    assert "Added, known to all: j1" in ask(f"aimemory/add Mira = {TOLL}")
    assert "private to Ann: j2" in ask(f"aimemory/add Mira for Ann = {RING}")
    public, private = mira.journal.all()
    assert (public["source_type"], public["trust"], public["audience"]) == ("builder", 1.0, None)
    assert private["audience"] == [ann.dbref]
    assert not visible(frozenset(private["audience"]), frozenset({bob.dbref}))
    assert "has this entry already" in ask(f"aimemory/add Mira = {TOLL.upper()}")
    assert len(mira.journal.all()) == 2


@pytest.mark.parametrize("cold", [False, True], ids=["at once", "after a restart"])
def test_what_was_deleted_comes_back(game, mira, ann, ask, cold):
    mira.journal.add(TOLL, source_entity=ann.dbref, speakers=[ann.dbref], tags=["money"])
    game.result(consolidate_memories_to_semantic(mira.assistant, mira))
    (before,) = mira.journal.all()
    assert "To bring it back: aimemory/restore Mira = j1" in ask("aimemory/delete Mira = j1")
    game.result(prune_orphaned_memory_links(mira.assistant, mira))
    assert mira.journal.all() == []
    if cold:
        restarted(mira)
    ask("aimemory/restore Mira = j1")
    (back,) = restarted(mira).all()
    changed = {"importance_by", "links", "consolidated"}
    assert {k: v for k, v in back.items() if before[k] != v}.keys() <= changed
    game.result(consolidate_memories_to_semantic(mira.assistant, mira))
    memory = game.service.semantic.stored[f"npc_{mira.id}"]
    assert [row.entry for row, _ in memory.values()] == ["j1"]


def test_a_line_of_the_log_is_hidden_by_another_command(mira, ask):
    for act in ("delete", "pin"):
        assert "aihistory/hide Mira = 999" in ask(f"aimemory/{act} Mira = line:999")


def test_an_edit_is_a_builders_word_and_keeps_who_may_know_and_who_may_have_it_forgotten(
    mira, ann, ring, ask
):
    mira.journal.update(ring, source_entity=ann.dbref)
    text = ask(f"aimemory/edit Mira/{ring} = The ring is in the mill.")
    assert "Now: The ring is in the mill." in text and f"Before: {ring} {RING}" in text
    (entry,) = mira.journal.all()
    assert (entry["source_type"], entry["source_entity"], entry["trust"]) == ("builder", "", 1.0)
    assert (entry["audience"], entry["speakers"]) == ([ann.dbref], [ann.dbref])
    assert "from Ann" not in ask("aimemory/search Mira as Ann = ring")


@pytest.mark.parametrize("line", ["edit Mira/j1 = Six pennies.", "delete Mira = j1"])
def test_old_words_are_found_nowhere_and_leave_long_term_memory(game, mira, ask, line):
    memory, agent = game.service.semantic, f"npc_{mira.id}"
    mira.journal.add(TOLL)
    game.result(consolidate_memories_to_semantic(mira.assistant, mira))
    assert [text for _, text in memory.stored[agent].values()] == [TOLL]
    ask(f"aimemory/{line}")
    assert "bridge" not in ask("aimemory/search Mira = toll").replace("words: bridge", "")
    assert mira.id in deletion_marks()
    game.result(prune_orphaned_memory_links(mira.assistant, mira))
    left = [text for _, text in memory.stored[agent].values()]
    assert left == ([] if "delete" in line else ["Six pennies."])


def test_a_builder_cannot_bring_back_what_is_private(mira, ring, ask, told, builder):
    ask(f"aimemory/delete Mira = {ring}")
    assert "has no entry" in told(builder, f"aimemory/restore Mira = {ring}")
    ask(f"aimemory/restore Mira = {ring}")
    assert mira.journal.get(ring)


def test_a_summary_of_old_talk_may_be_deleted_but_not_put_in_other_words(mira, ask):
    kept = mira.journal.add("[CONTEXT SYNTHESIS]\nAnn came.", id="compact_X_1",
                            source_type="compaction")  # fmt: skip
    for line in (f"edit Mira/{kept} = No.", f"pin Mira = {kept}"):
        assert "summary of a compaction" in ask(f"aimemory/{line}")
    ask(f"aimemory/delete Mira = {kept}")
    assert contents(mira) == []
    ask(f"aimemory/restore Mira = {kept}")
    assert mira.journal.get(kept)["content"] == "[CONTEXT SYNTHESIS]\nAnn came."


def test_forget_me_reaches_what_could_be_brought_back(mira, ann, ring, ask):
    other = mira.journal.add("Bob came.")
    ask(f"aimemory/delete Mira = {ring}")
    ask(f"aimemory/pin Mira = {other}")
    ask("aimemory/add Mira for Ann = She is a spy.")
    assert mira.assistant.id in assistants_who_know(ann.dbref)
    while forget_chunk(ann.dbref):
        pass
    restarted(mira)
    assert mira.journal.archive.all() == []
    assert contents(mira) == ["Bob came."]
    assert mira.assistant.id not in assistants_who_know(ann.dbref)


@pytest.mark.parametrize("broken", ["archive", "journal"])
def test_a_change_is_whole_or_not_at_all(mira, busy, broken):
    mira.journal.add(TOLL)
    mira.journal.add("Bob came.")
    editor = MemoryEditor(mira)
    editor.delete("j2")
    shelf = mira.journal.archive if broken == "archive" else mira.journal
    busy(shelf.segments, "write")
    for change in (lambda: editor.delete("j1"), lambda: editor.restore("j2")):
        with pytest.raises(StoreUnavailable):
            change()
        assert contents(mira) == [TOLL]
        assert [entry["id"] for entry in mira.journal.archive.all()] == ["j2"]

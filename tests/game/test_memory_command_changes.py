"""``aimemory``: a character's memory, changed by hand, and each change undone."""

import random

import pytest

from evennia_ai.errors import StoreUnavailable
from evennia_ai.models import Message
from evennia_ai.policy.audience import visible
from evennia_ai.policy.disclosure import DEFAULTS, Reader
from evennia_ai.sleep.consolidation import (
    consolidate_memories_to_semantic,
    prune_orphaned_memory_links,
)
from evennia_ai.store.memory_editor import MOST_STEPS, MemoryEditor, UndoSteps
from evennia_ai.store.server_settings import deletion_marks
from evennia_ai.store.who_knows import assistants_who_know
from tests.forgetting import forget_chunk
from tests.game import memory_command_scene as scene
from tests.game.memory_command_scene import RING, TOLL, contents, restarted, run
from tests.scripted import call

pytestmark = pytest.mark.engine

EVERYTHING = Reader(DEFAULTS, lambda permission: True)

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
@pytest.mark.parametrize(
    ("line", "changed", "undone"),
    [
        ("aimemory/add Mira = Bob owns a goat.", None, "j2 is not in its journal any more"),
        ("aimemory/edit Mira/j1 = The toll is six.", None, "j1 has its old words again"),
        ("aimemory/pin Mira = j1", None, "j1 is not pinned any more"),
        ("aimemory/unpin Mira = j1", {"pinned": True}, "j1 is pinned again"),
        ("aimemory/delete Mira = j1", None, "j1 is in its journal again"),
    ],
)
def test_every_change_can_be_taken_back(mira, ann, ask, line, changed, undone, cold):
    mira.journal.add(TOLL, source_entity=ann.dbref, speakers=[ann.dbref], tags=["money"])
    mira.journal.update("j1", **(changed or {}))
    before = mira.journal.all()
    assert "To undo it: aimemory/undo Mira" in ask(line)
    assert mira.journal.all() != before
    if cold:
        restarted(mira)
    assert f"Undone: {undone}. (0 more to undo.)" in ask("aimemory/undo Mira")
    assert restarted(mira).all() == before
    assert "no change of Mira's journal to undo" in ask("aimemory/undo Mira")


def test_what_somebody_told_too_is_not_taken_back(mira, ann, ask):
    ask(f"aimemory/add Mira = {TOLL}")
    mira.journal.add(TOLL, speakers=[ann.dbref])
    assert "j1 stays: somebody told the character the same" in ask("aimemory/undo Mira")
    assert contents(mira) == [TOLL]


def test_what_was_deleted_and_brought_back_goes_into_long_term_memory_again(game, mira, ask):
    mira.journal.add(TOLL)
    run(game, consolidate_memories_to_semantic(mira.assistant, mira))
    ask("aimemory/delete Mira = j1")
    run(game, prune_orphaned_memory_links(mira.assistant, mira))
    ask("aimemory/undo Mira")
    run(game, consolidate_memories_to_semantic(mira.assistant, mira))
    memory = game.service.semantic.stored[f"npc_{mira.id}"]
    assert [row.entry for row, _ in memory.values()] == ["j1"]


def test_a_line_of_the_log_is_hidden_with_the_lines_that_repeat_it(game, mira, ann, told, builder):
    game.model.add(
        call("say", text="The Petrel sinks on Tuesdays? Oh dear."), call("say", text="I sell ale.")
    )
    for line in ("say Mira, the Petrel sinks every Tuesday.", "say Mira, what do you sell?"):
        ann.do(line)
        game.run(1)
    false, repeated = [
        row.id
        for row in Message.objects.order_by("id")
        if "Petrel" in f"{row.content}{row.tool_calls}"
    ]
    text = told(builder, f"aimemory/delete Mira = line:{false}")
    assert f"To keep it from prompts: aihistory/hide Mira = {false}. " in text
    assert f"Mira may have repeated it: hide {repeated} as well." in text
    Message.objects.filter(id=false).update(private=True)
    assert "repeated" not in told(builder, f"aimemory/delete Mira = line:{false}")
    assert "aihistory/hide Mira = 999" in told(builder, "aimemory/pin Mira = line:999")


@pytest.mark.parametrize("seed", range(4))
def test_whatever_was_done_is_taken_back_to_where_it_began(mira, ann, seed):
    choose = random.Random(seed)
    for number in range(4):
        mira.journal.add(f"Guest {number} came in.", speakers=[ann.dbref])
    mira.journal.update("j2", pinned=True)

    def told_to(journal):
        return {e["id"]: {**e, "links": [], "consolidated": False} for e in journal.all()}

    before = [told_to(mira.journal)]
    for number in range(MOST_STEPS):
        editor, ids = MemoryEditor(mira), mira.journal.ids()
        act = choose.choice(["add", "edit", "pin", "delete"]) if ids else "add"
        if act == "add":
            editor.add(f"Note {number}.", choose.choice([None, frozenset({ann.dbref})]))
        elif act == "edit":
            editor.edit(choose.choice(ids), f"Words {number}.")
        elif act == "pin":
            chosen = mira.journal.get(choose.choice(ids))
            editor.pin(chosen["id"], not chosen["pinned"])
        else:
            editor.delete(choose.choice(ids))
        before.append(told_to(mira.journal))
        if choose.random() < 0.2:
            restarted(mira)
    for expected in reversed(before[:-1]):
        assert "Undone: " in MemoryEditor(mira).undo(EVERYTHING)[1]
        assert told_to(restarted(mira)) == expected


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
    run(game, consolidate_memories_to_semantic(mira.assistant, mira))
    assert [text for _, text in memory.stored[agent].values()] == [TOLL]
    ask(f"aimemory/{line}")
    assert "bridge" not in ask("aimemory/search Mira = toll").replace("words: bridge", "")
    assert mira.id in deletion_marks()
    run(game, prune_orphaned_memory_links(mira.assistant, mira))
    left = [text for _, text in memory.stored[agent].values()]
    assert left == ([] if "delete" in line else ["Six pennies."])


def test_a_builder_cannot_take_back_what_concerns_something_private(mira, ring, ask, told, builder):
    ask(f"aimemory/delete Mira = {ring}")
    text = told(builder, "aimemory/undo Mira")
    assert "an admin can undo it" in text and ring not in text and "ring" not in text
    assert f"{ring} is in its journal again" in ask("aimemory/undo Mira")


def test_a_summary_of_old_talk_may_be_deleted_but_not_put_in_other_words(mira, ask):
    kept = mira.journal.add("[CONTEXT SYNTHESIS]\nAnn came.", id="compact_X_1",
                            source_type="compaction")  # fmt: skip
    for line in (f"edit Mira/{kept} = No.", f"pin Mira = {kept}"):
        assert "summary of a compaction" in ask(f"aimemory/{line}")
    ask(f"aimemory/delete Mira = {kept}")
    assert contents(mira) == []
    ask("aimemory/undo Mira")
    assert mira.journal.get(kept)["content"] == "[CONTEXT SYNTHESIS]\nAnn came."


def test_forget_me_reaches_what_could_be_taken_back(mira, ann, ring, ask):
    other = mira.journal.add("Bob came.")
    ask(f"aimemory/delete Mira = {ring}")
    ask(f"aimemory/pin Mira = {other}")
    ask("aimemory/add Mira for Ann = She is a spy.")
    assert mira.assistant.id in assistants_who_know(ann.dbref)
    while forget_chunk(ann.dbref):
        pass
    restarted(mira)
    assert [step["content"] for step in UndoSteps.of(mira).all()] == ["Bob came."]
    assert contents(mira) == ["Bob came."]
    assert mira.assistant.id not in assistants_who_know(ann.dbref)


@pytest.mark.parametrize("broken", ["steps", "journal"])
def test_a_change_is_whole_or_not_at_all(mira, admin, monkeypatch, broken):
    mira.journal.add(TOLL)
    editor = MemoryEditor(mira)
    editor.add("Bob came.")
    shelf = editor.steps if broken == "steps" else mira.journal
    with monkeypatch.context() as patched:

        def fails(*args, **kwargs):
            raise StoreUnavailable("locked")

        patched.setattr(shelf.segments, "write", fails)
        for change in (
            lambda: editor.edit("j1", "Six."),
            lambda: editor.pin("j1", True),
            lambda: editor.delete("j1"),
            lambda: editor.undo(EVERYTHING),
        ):
            with pytest.raises(StoreUnavailable):
                change()
            assert contents(mira) == [TOLL, "Bob came."]
            assert len(editor.steps.all()) == 1
    assert [entry["pinned"] for entry in restarted(mira).all()] == [False, False]
    assert [step["act"] for step in UndoSteps.of(mira).all()] == ["add"]

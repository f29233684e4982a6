"""A compaction's summary goes into the journal, too, whatever happens in between."""

import pytest

from evennia_ai.errors import BadRecord, ProviderUnavailable, StoreUnavailable
from evennia_ai.policy.audience import visible
from evennia_ai.policy.compaction.plan import OVERFLOW, CompactionOrder
from tests.test_context_compaction import ANN, BOB, SUMMARY, make_script, outcome, sleep, talk


def entries(script):
    return [entry for entry in script.journal.all() if entry["source_type"] == "compaction"]


@pytest.fixture
def compacted():
    """An assistant after a compaction of public talk and a whisper of Ann's."""
    script = make_script([SUMMARY, "Ann has a secret: she is a spy for the count of Dunmore."])
    talk(script, 5, private_to=ANN)
    talk(script, 50)
    assert sleep(script)["success"]
    return script


def test_each_part_is_written_down_for_its_own_ears(compacted):
    public, private = entries(compacted)
    assert (public["audience"], private["audience"]) == (None, [ANN])
    assert public["content"].startswith(f"[CONTEXT SYNTHESIS]\n{SUMMARY}")
    assert "spy" in private["content"]
    assert "spy" not in public["content"]
    assert not visible(frozenset(private["audience"]), frozenset({ANN, BOB}))


def test_doing_it_again_writes_nothing_twice(compacted):
    before = entries(compacted)
    assert outcome(compacted.mind.compactor.archive.archive()) == 0
    compacted.conversation.note_archived(1, False)
    assert outcome(compacted.mind.compactor.archive.archive()) == 1
    assert entries(compacted) == before


def test_an_undo_takes_the_entries_back_and_no_others(compacted):
    compacted.journal.add("Ann is tall.")
    compacted.mind.compactor.archive.undo()
    assert [entry["content"] for entry in compacted.journal.all()] == ["Ann is tall."]
    assert compacted.mind.compactor.archive.undo() is None
    assert outcome(compacted.mind.compactor.archive.archive()) == 0


def test_an_undo_takes_back_what_a_crash_left_half_written(compacted):
    compacted.conversation.note_archived(1, False)
    compacted.mind.compactor.archive.undo()
    assert entries(compacted) == []
    assert compacted.conversation.to_archive() == []


def test_what_was_left_undone_is_made_good_before_the_next_compaction(compacted):
    before = entries(compacted)
    compacted.journal.remove(*[entry["id"] for entry in before])  # as after a crash
    compacted.conversation.note_archived(1, False)
    compact_again(compacted)
    public, private = entries(compacted)
    assert public["content"].endswith(LATER)
    assert private == before[1]


LATER = "Ann went home to Dunmore and paid Bob Tanner of Rook Lane forty crowns."


def compact_again(script, reply=LATER):
    script.services.clock.advance(60)
    script.services.gateway.add(reply)
    talk(script, 50)
    assert sleep(script)["success"]


def test_one_talk_is_one_memory_and_an_undo_brings_its_earlier_text_back(compacted):
    before = entries(compacted)
    compact_again(compacted)
    assert [entry["id"] for entry in entries(compacted)] == [entry["id"] for entry in before]
    assert entries(compacted)[0]["content"].endswith(LATER)
    compacted.mind.compactor.archive.undo()
    assert [e["content"] for e in entries(compacted)] == [e["content"] for e in before]
    assert [e["links"] for e in entries(compacted)] == [e["links"] for e in before]


def test_a_digest_leaves_the_memory_as_it_was(compacted):
    before = entries(compacted)
    talk(compacted, 50)
    result = outcome(compacted.mind.compactor.compact(CompactionOrder(OVERFLOW, force=True)))
    assert result["rung"] == "digest"
    assert entries(compacted) == before
    compact_again(compacted)
    assert len(entries(compacted)) == len(before)


def test_it_is_made_good_also_where_no_summary_comes_of_the_next_one(compacted):
    before = entries(compacted)
    compacted.journal.remove(*compacted.journal.ids())
    compacted.conversation.note_archived(1, False)
    compacted.services.gateway.add(ProviderUnavailable("gone"))
    talk(compacted, 50)
    assert not sleep(compacted)["success"]
    assert entries(compacted) == before


def test_a_busy_database_leaves_the_compaction_done_and_the_entries_for_later(compacted):
    compacted.conversation.note_archived(1, False)
    compacted.journal.remove(*[entry["id"] for entry in entries(compacted)])
    add = compacted.journal.add

    def locked(*_args, **_fields):
        raise StoreUnavailable("locked")

    compacted.journal.add = locked
    running = compacted.mind.compactor.archive.archive()
    compacted.services.clock.pump([2.0] * 8)
    assert outcome(running) == 0
    compacted.journal.add = add
    assert outcome(compacted.mind.compactor.archive.archive()) == 1
    assert len(entries(compacted)) == 2


def test_an_entry_that_can_be_none_does_not_hold_up_the_others(compacted):
    compacted.conversation.note_archived(1, False)
    compacted.journal.remove(*compacted.journal.ids())
    add = compacted.journal.add

    def picky(content, **fields):
        if "smith" in content:
            raise BadRecord("no smiths")
        return add(content, **fields)

    compacted.journal.add = picky
    assert outcome(compacted.mind.compactor.archive.archive()) == 1
    assert len(entries(compacted)) == 1
    assert outcome(compacted.mind.compactor.archive.archive()) == 0

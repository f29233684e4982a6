"""The journal: entries with stable ids, stored in segments of 32."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evennia_ai.errors import BadRecord
from evennia_ai.policy.records.record import SIZE
from evennia_ai.ports import records as record_store
from tests.game import journal_scene as scene
from tests.game.journal_scene import LONG, cold, contents, rows

journal, full = scene.journal, scene.full


def test_32_entries_go_into_one_attribute_and_an_entry_writes_one(mira, full):
    assert len(rows()) == 4
    full.all()
    with CaptureQueriesContext(connection) as queries:
        full.add("One more guest.")
    written = [q["sql"] for q in queries if q["sql"].startswith(("UPDATE", "INSERT"))]
    assert len(written) == 1
    assert contents(cold(mira)) == contents(full)


def test_it_is_loaded_a_segment_a_step_and_works_meanwhile(mira, full):
    journal = cold(mira)
    steps = journal.load_steps()
    with CaptureQueriesContext(connection) as queries:
        next(steps)
    assert len(queries) == 2  # which segments there are, and one of them
    journal.update("j40", pinned=True)
    journal.remove("j2", f"j{LONG}")
    added = journal.add("Meanwhile.")
    for _ in steps:
        pass
    with CaptureQueriesContext(connection) as queries:
        found = journal.all()
    assert not queries.captured_queries
    assert len(found) == LONG - 1
    assert journal.get("j40")["pinned"] and added == f"j{LONG + 1}"
    assert contents(cold(mira)) == [entry["content"] for entry in found]


@pytest.fixture
def slowly(mira, full, monkeypatch):
    """A long journal, cold; what it puts off; and what came of loading it, a segment at once."""
    monkeypatch.setattr(record_store, "STEPS_AT_ONCE", 1)
    journal, put_off, fired = cold(mira), [], []
    journal.load(put_off.append).addBoth(fired.append)
    return journal, put_off, fired


def test_what_is_long_is_loaded_in_turns_with_other_work(slowly):
    journal, put_off, fired = slowly
    for _ in range(3):
        assert not fired
        put_off.pop()()
    assert fired == [None] and not put_off
    journal.load(put_off.append).addCallback(fired.append)
    assert fired == [None, None]


def test_ids_are_stable_and_never_given_again(mira, journal):
    first, second = journal.add("One."), journal.add("Two.")
    assert journal.remove(second) == 1
    assert journal.add("Three.") not in (first, second)
    for entry in journal.all():
        journal.remove(entry["id"])
    assert cold(mira).add("Four.") == "j4"
    assert cold(mira).get("j4")["content"] == "Four."


def test_a_segment_that_is_emptied_goes_but_for_the_last(mira, full):
    full.remove(*(f"j{number}" for number in range(1, SIZE + 1)))
    assert sorted(rows()) == ["000001", "000002", "000003"]
    full.remove(*(entry["id"] for entry in full.all()))
    assert sorted(rows()) == ["000003"]
    assert cold(mira).add("Anew.") == f"j{LONG + 1}"


def test_the_same_words_for_the_same_ears_are_written_once(mira, journal):
    made = journal.add("Ann owes me 5 silver.", source_seqs=[3])
    assert cold(mira).add(" ann owes me 5 SILVER", source_seqs=[9], tags=["debt"]) == made
    journal = cold(mira)
    assert len(journal.all()) == 1
    assert journal.get(made)["source_seqs"] == [3, 9]
    assert journal.get(made)["tags"] == ["debt"]
    assert journal.add("Ann owes me 5 silver.", audience=["#5"]) != made
    assert journal.has("Ann owes me 5 silver!") and not journal.has("Ann owes me 6 silver.")
    assert journal.has("ann owes me 5 silver", frozenset({"#5"}))
    assert not journal.has("ann owes me 5 silver", frozenset({"#7"}))


def test_an_id_of_ones_own_is_taken_once(mira, journal):
    made = journal.add("[CONTEXT SYNTHESIS]\nAim: none", id="compact_1", source_type="compaction")
    assert made == "compact_1"
    assert cold(mira).add("Something else.", id="compact_1") == "compact_1"
    assert contents(mira.journal) == ["[CONTEXT SYNTHESIS]\nAim: none"]
    assert cold(mira).get("compact_1")["source_type"] == "compaction"
    assert mira.journal.add("The next.") == "j2"


def test_changes_are_checked(journal):
    made = journal.add("One.")
    with pytest.raises(BadRecord, match="importance"):
        journal.update(made, importance=11)
    with pytest.raises(BadRecord, match="There is no field 'mood'"):
        journal.add("Two.", mood="good")
    with pytest.raises(KeyError):
        journal.update("j99", pinned=True)
    assert journal.remove("j99") == 0
    assert journal.get("j99") is None
    assert len(journal.all()) == 1


def test_a_search_ranks_by_words_and_shows_what_the_audience_may_know(journal):
    journal.add("The cellar key hangs behind the clock.", audience=["#5"])
    journal.add("The cellar is damp.")
    journal.add("The weather is fine.")
    journal.add("It stands open.", tags=["gate"])

    def found(audience, **options):
        return [e["content"][:14] for e in journal.search("cellar key", audience, **options)]

    assert found(frozenset({"#5"})) == ["The cellar key", "The cellar is "]
    assert found(frozenset({"#5"}), limit=1) == ["The cellar key"]
    for audience in (frozenset({"#7"}), frozenset({"#5", "#7"}), frozenset(), None):
        assert found(audience) == ["The cellar is "]
    assert len(journal.search("gate")) == 1
    assert journal.search("dragon") == journal.search("") == []

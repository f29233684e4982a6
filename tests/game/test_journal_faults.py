"""A journal with segments that cannot be read or written."""

import pytest
from django.db import OperationalError, connection
from evennia.typeclasses.attributes import Attribute

from evennia_ai.errors import StoreUnavailable
from evennia_ai.policy.records.entity_consolidation import InferredAttribute
from evennia_ai.policy.records.record import SIZE
from evennia_ai.ports.goal_records import DayPlan
from evennia_ai.ports.journal import Journal
from evennia_ai.ports.profiles import EntityProfiles
from tests.faults.own_database import Full
from tests.game import journal_scene as scene
from tests.game.journal_scene import LONG, cold, contents, rows, spoil

journal, full = scene.journal, scene.full


@pytest.mark.parametrize("value", [None, {"used": 32, "records": [1]}])
def test_a_segment_that_cannot_be_read_is_set_aside_and_the_rest_works(mira, full, value):
    spoil("000001", value)
    journal = cold(mira)
    assert len(journal.all()) == LONG - SIZE
    assert rows()["broken_000001"][1] == value
    assert cold(mira).add("The next.") == f"j{LONG + 1}"
    assert len(cold(mira).all()) == LONG - SIZE + 1


def test_the_entries_of_a_segment_that_can_be_read_are_kept(mira, full):
    records = rows()["000001"][1]["records"]
    spoil("000001", {"used": SIZE, "records": {**records, 40: "nonsense", "x": records[41]}})
    assert len(cold(mira).all()) == LONG - 1
    assert mira.journal.get("j40") is None
    mira.journal.update("j41", pinned=True)
    assert cold(mira).get("j41")["pinned"]
    assert rows()["broken_000001"][1]["records"][40] == "nonsense"


def test_numbers_of_a_last_segment_that_cannot_be_read_are_not_given_again(mira, full):
    spoil("000003", "nonsense")
    assert cold(mira).add("The next.") == f"j{4 * SIZE + 1}"
    assert cold(mira).add("And one.") == f"j{4 * SIZE + 2}"


def test_where_a_write_fails_memory_is_what_is_stored(mira, full):
    before, disk = full.all(), Full()
    disk.begin()
    for change in (
        lambda: full.add("Lost?"),
        lambda: full.update("j1", pinned=True),
        lambda: full.remove("j2", "j70"),
        lambda: full.add("Guest 3 paid.", tags=["again"]),
        lambda: full.remove(*(entry["id"] for entry in before)),
    ):
        with pytest.raises(StoreUnavailable):
            change()
    disk.end()
    assert full.all() == before == cold(mira).all()
    assert full.search("lost") == []
    assert mira.journal.add("Lost?") == f"j{LONG + 1}"


def test_a_change_of_several_segments_is_made_whole_or_not_at_all(mira, full):
    def refuse_the_second(execute, sql, params, many, context):
        if sql.startswith("UPDATE"):
            updates.append(sql)
            if len(updates) == 2:
                raise OperationalError("database or disk is full")
        return execute(sql, params, many, context)

    before, updates = full.all(), []
    with connection.execute_wrapper(refuse_the_second), pytest.raises(StoreUnavailable):
        full.remove("j2", "j40", "j70")
    assert len(updates) == 2
    assert full.all() == before == cold(mira).all()


def test_where_it_was_taken_away_meanwhile_nothing_comes_back(mira, full):
    full.all()
    Attribute.objects.filter(db_attrtype=Journal.kind).delete()
    assert full.add("One more.") == "j1"
    assert contents(full) == ["One more."]


def other_process(mira, kind=Journal):
    """Return records as another process reads them, and let this one keep its own."""
    own = mira.nattributes.get(kind.kind)
    kind.drop(mira)
    other = kind.of(mira)
    other.all()
    mira.nattributes.add(kind.kind, own)
    return other


@pytest.mark.parametrize(
    "change",
    [
        lambda journal: journal.add("Two."),
        lambda journal: journal.update("j1", pinned=True),
        lambda journal: journal.add("One.", tags=["again"]),
        lambda journal: journal.remove("j1"),
        lambda journal: journal.archive.put_away(journal, "j1"),
    ],
)
def test_nothing_is_written_over_what_was_not_read(mira, journal, change):
    journal.add("One.")
    other = other_process(mira)
    theirs = other.add("Theirs.")
    change(journal)
    assert theirs in journal.ids()
    assert journal.all() == cold(mira).all()
    assert len(set(journal.ids())) == len(contents(journal))


def test_a_plan_that_another_process_changed_is_replaced_whole(mira):
    def planned(content):  # each plan begins in the segment of the one before
        return [{"begin": n, "end": n + 1, "content": content, "where": ""} for n in range(20)]

    mira.ai_plan.replace(planned("Mend nets."), [])
    other_process(mira, DayPlan).replace(planned("Sell fish."), [])
    mira.ai_plan.replace(planned("Sing."), [])
    assert contents(mira.ai_plan) == ["Sing."] * 20


def test_what_another_process_observed_meanwhile_costs_no_finding(mira):
    known = mira.ai_profiles
    seen = known.observe("#1005", "She limps.")
    other_process(mira, EntityProfiles).observe("#1007", "He whistles.")
    assert known.consolidate([seen], [InferredAttribute("gait", "limping", (seen,))]) == 1
    assert [one["value"] for one in known.attributes("#1005")] == ["limping"]
    assert known.count_new() == 1


def test_a_change_that_is_overtaken_again_and_again_is_refused(mira, journal):
    journal.add("One.")
    real, tried = journal.segments.write, []

    def overtaken(*changed):
        tried.append(other_process(mira).update("j1", importance=len(tried) + 1))
        real(*changed)

    journal.segments.write = overtaken
    with pytest.raises(StoreUnavailable):
        journal.update("j1", pinned=True)
    assert len(tried) == 2
    assert not cold(mira).get("j1")["pinned"]


def test_a_commit_that_nobody_heard_is_seen_at_the_next_try(mira, journal):
    def unheard(*changed):
        real(*changed)
        journal.segments.write = real
        raise StoreUnavailable("the connection was lost")

    real, journal.segments.write = journal.segments.write, unheard
    with pytest.raises(StoreUnavailable):
        journal.add("Only once.")
    assert journal.add("Only once.") == "j1"
    assert contents(cold(mira)) == ["Only once."]

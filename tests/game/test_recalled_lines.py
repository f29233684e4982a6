"""The log is the memory: each line is recalled for those who may know it."""

import pytest

from evennia_ai.memory import logged_lines
from evennia_ai.models import LineVector, Message
from evennia_ai.policy.recallable_lines import EDITED
from evennia_ai.store.lines import TableAmendments
from tests.game import recalled_lines_scene as scene
from tests.game.recalled_lines_scene import ANN, BOB, BOTH, heard

pytestmark = pytest.mark.engine

MANY = 60  # more than are read at a time

mind = scene.mind


def test_a_whisper_is_recalled_for_those_alone_who_heard_it(mind):
    mind.log(heard("it is"), heard("below the willow", audience={ANN}, private=True), heard("hm"))
    assert mind.found("willow", frozenset({ANN}))[0] == "Ann whispers to you: below the willow"
    for others in (frozenset({BOB}), BOTH, frozenset(), None):
        assert "willow" not in str(mind.search("willow", others))
    assert "willow" in str(mind.search("willow", BOTH, everything=True))


def test_lines_in_the_view_are_left_out_before_anything_is_ranked(mind):
    one, two, three = mind.log(heard("a red goose"), heard("a grey goose"), heard("a goose?"))
    assert mind.found("goose", upto=two) == mind.search("goose", upto=two)
    assert sorted(mind.search("goose", upto=two)) == [
        "Ann says: a grey goose",
        "Ann says: a red goose",
    ]
    assert three > one


def test_new_lines_are_read_in_one_query_and_without_new_ones_nothing_is(
    mind, django_assert_num_queries
):
    mind.log(heard("goose"))
    mind.prepare()
    mind.log(heard("a second goose"), heard("a third goose"))
    with django_assert_num_queries(1):
        mind.prepare()
    assert len(mind.index) == 3
    with django_assert_num_queries(0):
        mind.prepare()


def test_no_line_is_missed_whatever_was_in_memory(mind):
    mind.log(heard("goose"))
    mind.prepare()
    mind.log(*(heard(f"goose {n}") for n in range(MANY + 5)))
    mind.prepare()
    assert len(mind.index) == MANY + 6
    mind.log(heard("another goose"))
    mind.script.conversation.forget_view()
    mind.log(heard("a last goose"))
    mind.prepare()
    assert len(mind.index) == MANY + 8


def test_a_search_of_a_long_log_waits_for_its_newest_lines_only(mind, monkeypatch):
    monkeypatch.setattr(logged_lines, "NEWEST", 20)
    mind.log(*(heard(f"goose {n}") for n in range(130)))
    sizes = []

    def note(_result):
        sizes.append(len(mind.index))
        mind.log(heard("the last goose"))
        assert "Ann says: goose 129" in mind.search("goose 129")

    mind.index.prepare(mind.script.services, whole=False).addCallback(note)
    mind.game.run(1)
    mind.prepare(whole=False)
    assert sizes == [20] and len(mind.index) == 131
    assert mind.search("goose 3")[0] == "Ann says: goose 3"
    mind.restart()
    mind.prepare()
    assert len(mind.index) == 131


def test_a_line_that_is_gone_is_found_no_more(mind):
    seqs = mind.log(heard("a red goose"), heard("a grey goose"))
    assert len(mind.found("goose")) == 2
    LineVector.objects.all().delete()
    Message.objects.filter(id=seqs[0]).delete()  # behind the index's back
    assert mind.found("goose") == ["Ann says: a grey goose"]
    assert len(mind.index) == 1


def test_a_line_that_another_process_edited_is_not_kept_once_the_log_is_read_anew(mind):
    _first, second = mind.log(heard("goose one"), heard("goose two"))
    assert "Ann says: goose two" in mind.found("goose")
    here, script = mind.script.conversation, mind.script
    there = TableAmendments(script.id, script.services.now)
    there.add(EDITED, [second], "#1", "goose three", [ANN])
    here.forget_view()
    assert "goose two" not in str(mind.found("goose"))
    assert "Ann says: goose three" in mind.found("goose")
    there.undo("#1", seq=second)
    here.forget_view()
    assert "goose three" not in str(mind.found("goose"))

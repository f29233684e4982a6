"""A write is tried again though its commit succeeded: nothing is stored, counted or done twice."""

import pytest
from django.db.models import Count

from evennia_ai.errors import StoreUnavailable
from evennia_ai.game.hearing import once
from evennia_ai.messages import Heard
from evennia_ai.models import (
    CallRecord,
    Compaction,
    DailyUse,
    Event,
    Message,
    ModelCall,
    PendingAct,
    SleepPass,
    ToolCall,
    Turn,
)
from evennia_ai.policy.context.projection import CompactionRecord
from evennia_ai.store.turns import begin_pass
from tests.faults import storage_scene as scene
from tests.faults.own_database import Unheard
from tests.faults.storage_scene import SHORT_S, WRITES, a_moment_changes_nothing, pass_time
from tests.scripted import call

pytestmark = pytest.mark.game

db, patience = scene.db, scene.patience


@pytest.fixture
def unheard(db):
    """Return the fault, which is not there yet."""
    found = Unheard()
    yield found
    found.end()


def tried_twice(unheard, write):
    """Call a write whose commit nobody hears of, and again; return what the second one returns."""
    unheard.begin()
    with pytest.raises(StoreUnavailable):
        write()
    unheard.end()
    return write()


@pytest.mark.parametrize("method", WRITES)
def test_a_turn_is_stored_once_whichever_of_its_commits_nobody_heard(
    game, ann, mira, unheard, monkeypatch, method, logged
):
    a_moment_changes_nothing(game, ann, mira, unheard, monkeypatch, method, logged)
    assert not Turn.objects.filter(ended_at=None)
    assert Turn.objects.filter(outcome="answered").count() == 1
    assert Message.objects.filter(role="user").count() == Event.objects.count() == 1
    assert Message.objects.exclude(role="user").count() == 2  # the call and its result
    assert ToolCall.objects.get().state == "done"
    assert ModelCall.objects.count() == CallRecord.objects.count() == 1
    assert DailyUse.objects.get().calls == 1


@pytest.mark.parametrize("line", ["say hi", "say to Bob = hi"])
def test_a_line_is_stored_and_answered_once(game, ann, bob, mira, unheard, line):
    game.model.add(call("say", text="Hello."))
    unheard.begin()
    ann.do(line)
    game.run(0)
    game.clock.callLater(SHORT_S, unheard.end)
    pass_time(game, 3)
    assert Event.objects.filter(speaker=ann.dbref).count() == 1
    assert len(game.model.requests) <= 1


def test_what_a_room_overhears_is_stored_once(game, ann, mira, tavern, unheard):
    other = game.assistant("Otto", tavern)
    queue, ears = game.service.overheard, frozenset({ann.dbref})
    unheard.begin()
    for mind in (mira.assistant.mind, other.assistant.mind):
        queue.put(mind.hearing, once(Heard("say", ann.dbref, "Ann", "Rain.", ears)))
    game.run(0)
    unheard.end()
    pass_time(game, 1)
    assert Event.objects.values("assistant").annotate(n=Count("id")).filter(n=1).count() == 2
    assert Event.objects.count() == 2


def test_a_compaction_is_one_record(mira, unheard):
    log = mira.assistant.conversation
    record = CompactionRecord(
        id=0, reason="sleep", from_seq=1, upto_seq=2, summary={"public": "One."}, compacted_count=2,
        compacted_at="", original_token_count=9, summary_token_count=3,
    )  # fmt: skip
    stored = tried_twice(unheard, lambda: log.compact(record))
    assert Compaction.objects.get().id == stored.id == log.current.record.id


def test_a_sleep_pass_begins_once(game, mira, unheard):
    at = game.service.now()
    number = tried_twice(unheard, lambda: begin_pass(mira.assistant.id, at, "bedtime"))
    assert SleepPass.objects.get().id == number


def test_an_agreed_act_is_taken_once_and_runs(game, mira, ann, unheard):
    acts, now = mira.assistant.mind.answering._pending_acts, game.service.now()
    PendingAct.objects.create(
        assistant_id=mira.assistant.id, at=now, expires_at=now.replace(year=now.year + 1),
        needs="approve", state="agreed", name="drop", arguments="{}",
    )  # fmt: skip
    assert tried_twice(unheard, acts.take).name == "drop"
    assert PendingAct.objects.get().state == "running"
    assert acts.take() is None  # as after a crash: nobody knows whether it was done
    assert PendingAct.objects.get().state == "unknown"

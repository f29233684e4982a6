"""A write is tried again though its commit succeeded: nothing is stored, counted or done twice."""

import pytest
from django.db import OperationalError, connection

from evennia_ai.errors import StoreUnavailable
from evennia_ai.messages import ToolCallRequest
from evennia_ai.models import (
    CallRecord,
    Compaction,
    DailyUse,
    Event,
    Message,
    ModelCall,
    PendingAct,
    ToolCall,
    Turn,
)
from tests.faults import storage_scene as scene
from tests.faults.own_database import Full, Unheard
from tests.faults.seen import ends
from tests.faults.storage_scene import (
    LONG_S,
    SHORT_S,
    WRITES,
    a_moment_changes_nothing,
    begin_at,
    memory_equals_rows,
    pass_time,
)
from tests.game.compaction_records import record
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


class Outage(Unheard):
    """An outage of the database that begins after a commit, of which nobody hears."""

    def commit(self):
        self.wrapping.enter_context(connection.execute_wrapper(Full.refuse))
        super().commit()


# After an intent nobody knows whether it was said.
@pytest.mark.parametrize("method", [one for one in WRITES if one != "intend"])
def test_after_an_outage_that_began_at_a_commit_a_line_is_answered_and_remembered(
    game, ann, mira, db, monkeypatch, method
):
    outage = Outage()
    begin_at(monkeypatch, game, outage, method, LONG_S)
    game.model.add(*[call("say", text="Hello.") for _ in range(5)])
    ann.do("say hi")
    pass_time(game, 60)
    outage.end()
    assert len([line for line in ann.heard() if "Hello." in line]) == 1
    assert ends() == {"hi": "answered"}
    assert not Turn.objects.filter(ended_at=None)
    assert memory_equals_rows(mira.assistant)


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


def test_a_compaction_is_one_record(mira, unheard):
    log = mira.assistant.conversation
    stored = tried_twice(unheard, lambda: log.compact(record(2)))
    assert Compaction.objects.get().id == stored.id == log.current.record.id


def lose_answer(execute, sql, *rest):
    """Run a statement whose success nobody hears of: by itself it is its own transaction."""
    execute(sql, *rest)
    raise OperationalError("the connection was lost")


def test_an_intent_that_nobody_heard_of_is_closed_with_its_turn(game, mira, ann, db):
    turns = mira.assistant.mind.turns
    turn = turns.begin((), frozenset({ann.dbref}), False, "tick_autonomous")
    with connection.execute_wrapper(lose_answer), pytest.raises(StoreUnavailable):
        turns.intend(turn.id, ToolCallRequest("1", "say", "{}"), True)
    assert ToolCall.objects.get().state == "intended"
    turns.finish(turn.id, "noted")
    assert ToolCall.objects.get().state == "unknown"


def put_act(game, mira, state):
    """Store an act of Mira's that a person must allow, or has allowed."""
    now = game.service.now()
    return PendingAct.objects.create(
        assistant_id=mira.assistant.id, at=now, expires_at=now.replace(year=now.year + 1),
        needs="approve", state=state, name="drop", arguments="{}",
    )  # fmt: skip


def test_an_act_taken_unheard_comes_before_a_new_one(game, mira, ann, unheard):
    acts = mira.assistant.mind.around.pending_acts
    first, second = put_act(game, mira, "waiting"), put_act(game, mira, "agreed")
    unheard.begin()
    with pytest.raises(StoreUnavailable):
        acts.take()
    unheard.end()
    PendingAct.objects.filter(id=first.id).update(state="agreed")
    assert [acts.take().id, acts.take().id] == [second.id, first.id]


def test_an_agreed_act_is_taken_once_and_runs(game, mira, ann, unheard):
    acts = mira.assistant.mind.around.pending_acts
    put_act(game, mira, "agreed")
    assert tried_twice(unheard, acts.take).name == "drop"
    assert PendingAct.objects.get().state == "running"
    assert acts.take() is None  # as after a crash: nobody knows whether it was done
    assert PendingAct.objects.get().state == "unknown"

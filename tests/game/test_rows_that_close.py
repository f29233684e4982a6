"""What a killed process left open is closed at the next start, with what is known of it."""

from datetime import timedelta

import pytest

from evennia_ai.messages import Usage
from evennia_ai.models import ModelCall, PendingAct, SleepPass
from evennia_ai.ports import ModelCallRecord
from evennia_ai.services.startup import StartupRecovery
from evennia_ai.store.turns import begin_pass

pytestmark = pytest.mark.engine


def start(game):
    StartupRecovery(game.service).begin()
    game.run(5)


@pytest.fixture
def cut_off(game, mira):
    """A pass that a kill ended in its middle, after one model call."""
    script = mira.assistant
    number = begin_pass(script.id, game.service.now(), "nap")
    game.clock.advance(40)
    call = ModelCallRecord(
        purpose="sleep", profile="main", model="m", estimated_tokens=90, usage=Usage(80, 20),
        duration_ms=5,
    )  # fmt: skip
    script.mind.turns.record_model_call(None, call)
    game.clock.advance(7_200)
    return number


def test_a_sleep_pass_that_was_cut_off_is_closed_at_its_last_model_call(game, admin, mira, cut_off):
    start(game)
    row = SleepPass.objects.get(id=cut_off)
    assert row.outcome == "interrupted"
    assert row.ended_at - row.at == timedelta(seconds=40)
    assert row.ended_at == ModelCall.objects.get().at
    assert row.cost == {"calls": 1, "prompt_tokens": 80, "completion_tokens": 20}
    told = admin.told("aihistory/sleep Mira")
    assert "interrupted by the server's stop" in told and "in progress" not in told


def test_without_a_model_call_it_ended_when_it_began(game, mira):
    number = begin_pass(mira.assistant.id, game.service.now(), "nap")
    game.clock.advance(7_200)
    start(game)
    row = SleepPass.objects.get(id=number)
    assert (row.outcome, row.ended_at) == ("interrupted", row.at)


def test_a_pass_that_runs_in_this_process_stays_open(game, mira, cut_off):
    mira.assistant.mind.sleep.pass_id = cut_off
    start(game)
    assert SleepPass.objects.get(id=cut_off).ended_at is None


def pending(game, mira, state, **age):
    now = game.service.now()
    return PendingAct.objects.create(
        assistant_id=mira.assistant.id, needs="confirm", state=state, name="sell", arguments="{}",
        at=now, expires_at=now - timedelta(**age),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("state", "age", "then"),
    [
        ("waiting", {"seconds": 1}, "expired"),
        ("waiting", {"seconds": -60}, "waiting"),
        ("agreed", {"seconds": 1}, "expired"),
        ("running", {"minutes": 6}, "unknown"),
        ("running", {"minutes": 4}, "running"),
    ],
)
def test_an_act_that_nobody_answered_in_time_waits_no_longer(game, mira, state, age, then):
    """Also if its assistant never acts again."""
    mira.assistant.mind.status.may_think = lambda: False
    act = pending(game, mira, state, **age)
    start(game)
    act.refresh_from_db()
    assert act.state == then


def test_what_an_assistant_was_doing_at_a_kill_it_does_no_more(game, mira):
    mira.assistant.mind.status.signal("pre_compaction", True)
    start(game)
    assert mira.assistant.db.context_signals["pre_compaction"] is False

"""Each pass of sleep is kept, and admins can read what came of it."""

import pytest
from django.db import OperationalError, transaction

from evennia_ai.models import ModelCall, SleepPass
from evennia_ai.sleep import STEPS
from evennia_ai.store.turns import begin_pass, end_pass
from tests.forgetting import forget_chunk
from tests.game.test_sleep_check import fill
from tests.scripted import call

pytestmark = pytest.mark.engine

GOOD = {"success": True, "stored": 2}


@pytest.fixture
def slept(game, admin, mira):
    """Mira, who has slept on a full head."""
    fill(mira.assistant, 0.75)
    game.model.add(call("noop"), "Ann told stories.")
    admin.told("aisleep Mira")
    game.run(1)
    return mira


def store_pass(script, results=None, outcome="done"):
    """A pass of the past."""
    number = begin_pass(script.id, script.services.now(), "hours")
    if results is not None:
        end_pass(number, script.services.now(), outcome, results)
    return number


def test_a_pass_is_kept_with_what_each_step_did_and_what_it_cost(slept):
    row = SleepPass.objects.get()
    assert (row.reason, row.outcome, row.errors) == ("order", "done", {})
    assert list(row.results)[: len(STEPS)] == list(STEPS)
    assert row.results["context_compaction"]["success"]
    assert row.cost["calls"] == ModelCall.objects.count() == 2


def test_a_pass_is_listed_with_what_it_did_and_shown_alone_step_by_step(slept, admin):
    listed = admin.told("aihistory/sleep Mira")
    alone = admin.told(f"aihistory/sleep Mira = {SleepPass.objects.get().id}")
    assert "model calls, " in listed and "Cost:" not in listed
    assert "\n  Cost: 2 model calls" in alone and alone.count("\n  ") > len(STEPS)


def test_a_pass_that_a_crash_cut_off_is_told_as_interrupted(mira, admin):
    number = store_pass(mira.assistant)
    assert "interrupted by the server's stop" in admin.told("aihistory/sleep Mira")
    assert "interrupted" in admin.told(f"aihistory/sleep Mira = {number}")
    mira.assistant.mind.sleep.pass_id = number
    assert "in progress" in admin.told("aihistory/sleep Mira")


def test_a_database_that_is_full_puts_a_pass_off(game, admin, mira, monkeypatch):
    def full(*args):
        raise OperationalError("disk is full")

    admin.told("aisleep Mira")
    monkeypatch.setattr(transaction, "atomic", lambda *args, **kwargs: full())
    for _ in range(8):
        game.run(1)
    assert mira.assistant.mind.sleep.pass_time is None
    assert not SleepPass.objects.exists()
    monkeypatch.undo()
    for _ in range(20):
        game.run(1)
    assert SleepPass.objects.get().outcome == "done"


def test_who_is_forgotten_is_in_no_error_any_more(game, ann, bob, mira):
    game.model.add(call("say", text="Hello."))
    ann.do("say Mira, hello")
    game.run(1)
    kept = store_pass(mira.assistant, {"memory_links": GOOD})
    game.run(1)
    store_pass(mira.assistant, {"memory_links": {"success": False, "error": "'Ann'"}})
    while forget_chunk(bob.dbref):
        pass
    assert SleepPass.objects.count() == 2
    while forget_chunk(ann.dbref):
        pass
    errors = dict(SleepPass.objects.values_list("id", "errors"))
    assert len(errors) == 2 and kept in errors
    assert "Ann" not in str(errors)

"""Whatever a log holds, a purge changes nothing that anybody reads."""

import random

import pytest
from django.db import connection

from evennia_ai.config.table_retention import TABLES, RetentionLimit
from evennia_ai.models import Compaction, Event, Message, ModelCall, ToolCall, Turn
from evennia_ai.policy.recallable_lines import LogFilter
from evennia_ai.store import purge
from evennia_ai.store.reports import message_page
from tests.game import purge_scene as scene
from tests.game.purge_scene import ANN, BOB, counts, seqs
from tests.short_form import short_form

pytestmark = pytest.mark.engine

log, purged = scene.log, scene.purged


def random_log(log, seed):
    """A log with everything in it, in any state, over some months. Most of it is summed up."""
    dice = random.Random(seed)
    turns, events, messages = [], [], []
    for age in sorted((dice.uniform(1.5, 120) for _ in range(60)), reverse=True):
        kind = dice.random()
        if kind < 0.3 or not turns:
            outcome = dice.choice(["answered", "interrupted", "unheard", "expired"])
            turns.append(log.turn(age, dice.random() < 0.1, outcome))
        turn = dice.choice([None, *turns[-3:]])
        if kind < 0.6:
            state = dice.choice(["answered"] * 6 + ["noted", "waiting", "doubtful", "overheard"])
            attempts = dice.randrange(2)
            events.append(log.event(age, turn, dice.choice([ANN, BOB, "#903"]), state))
            Event.objects.filter(id=events[-1].id).update(attempts=attempts)
        if kind < 0.8:
            event = dice.choice([None, *events[-3:]])
            words = f"Ann says: {dice.choice(['ale', 'rain', 'gold'])} {age:.0f}"
            messages.append(log.message(age, event, turn, words + " and more" * dice.randrange(60)))
        if kind > 0.7:
            log.act(age, turn, dice.choice(["done", "done", "failed", "unknown", "intended"]))
            log.call(age, turn)
        if messages and dice.random() < 0.2:
            compactions = log.script.conversation.compactions
            if dice.random() < 0.3:
                compactions.mask(1, dice.choice(messages).id, 1)
                Compaction.objects.filter(reason="mask").order_by("-id")[:1].get().save()
            else:
                last = compactions.last()
                log.compaction(age, max(last.upto_seq if last else 0, dice.choice(messages).id))
            if dice.random() < 0.2:
                compactions.undo()
    Compaction.objects.filter(reason="mask").update(at=log.at(60))
    Compaction.objects.exclude(undone_at=None).update(undone_at=log.at(5), archived=False)


def what_is_seen(script):
    """All that anything looks at: the view now and after undos, masked as it is, what is owed,
    what was done and may not be done again, and who is called by whom."""
    script.conversation.forget_view()
    owed = script.mind.inbox.open_events()
    again = [event for event in (*owed.waiting, *owed.doubtful) if event.attempts]
    turns = script.mind.turns
    first_turns = turns._first_turns(again)
    earlier = list(filter(None, first_turns.values()))
    return {
        "views": [seqs(script.conversation, undos) for undos in range(3)],
        "owed": owed,
        "overheard": script.mind.inbox.overheard(),
        "first turns": first_turns,
        "taken in": turns._overheard_in(set(first_turns.values())),
        "acts": turns._acts_since(min(earlier)) if earlier else (),
        "open turns": list(Turn.objects.filter(ended_at=None).order_by("id").values()),
        "open acts": list(ToolCall.objects.filter(ended_at=None).order_by("id").values()),
        "last call": ModelCall.objects.order_by("id").values().last(),
        "speakers": set(Event.objects.values_list("speaker", flat=True)),
        "compaction": script.conversation.current.record,
    }


def assert_whole():
    """Nothing refers to a row that is gone, and whose words are there can be found by his name."""
    connection.check_constraints()
    assert not Message.objects.filter(event=None).exclude(speaker="").exists()


@pytest.mark.parametrize("seed", short_form(range(5), 3, pytest.mark.soak))
def test_no_purge_changes_anything_that_is_looked_at(log, purged, seed):
    random_log(log, seed)
    dice = random.Random(seed + 1_000)
    limits = {
        table: RetentionLimit(dice.choice([None, 2, 20, 60]), dice.choice([None, 0, 5, 20]))
        for table in TABLES
        if dice.random() < 0.8
    }
    before, rows = what_is_seen(log.script), counts()
    planned = purged(limits, dry=True) if limits else {}
    assert counts() == rows
    report = purged(limits) if limits else {}
    assert what_is_seen(log.script) == before
    assert_whole()
    for table, tally in report.items():
        assert (tally.gone, tally.kept) == (planned[table].gone, planned[table].kept), table
        assert planned[table].rows == rows[table]
    if limits:
        assert all(tally.gone == 0 for tally in purged(limits).values()), "twice changes nothing"
    page = message_page(log.script.id, LogFilter(search="gold"), "", True, 100)
    left = {row["id"] for row in page.rows}
    assert left == set(
        Message.objects.filter(content__contains="gold").values_list("id", flat=True)
    )


@pytest.mark.parametrize("seed", short_form(range(2), 2, pytest.mark.soak))
def test_a_purge_that_ends_anywhere_leaves_a_whole_log(log, seed, monkeypatch):
    monkeypatch.setattr(purge, "CHUNK", 8)
    random_log(log, seed)
    before = what_is_seen(log.script)
    planned_twice, done = counts(), 0
    for table in TABLES:
        walk = purge.TablePurge(table, log.script.id, RetentionLimit(20), log.now)
        if table == "SpeakerUse":
            continue
        more = True
        while more:
            more, came = walk.step()
            done += came.gone
            assert what_is_seen(log.script) == before, (table, done)
            assert_whole()
    assert done == sum(planned_twice.values()) - sum(counts().values())
    assert done

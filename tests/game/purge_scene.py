"""A log of some months and a purge of it, for the tests of retention."""

from datetime import timedelta

import pytest
from django.db import transaction

from evennia_ai import models
from evennia_ai.config.table_retention import TABLES, RetentionLimit
from evennia_ai.models import Compaction, Event, Message, ModelCall, ToolCall, Turn
from evennia_ai.services.retention import LogRetention
from tests.game.compaction_records import record

ANN, BOB = "#901", "#902"


ALL = {table: RetentionLimit(days=30) for table in TABLES}


class Log:
    """Writes an assistant's log with rows of any age."""

    def __init__(self, script, now):
        self.script = script
        self.now = now

    def at(self, days):
        return self.now - timedelta(days=days)

    def row(self, model, days, **fields):
        return model.objects.create(assistant_id=self.script.id, at=self.at(days), **fields)

    def turn(self, days, open_=False, outcome="answered"):
        ended = {} if open_ else {"ended_at": self.at(days), "outcome": outcome}
        return self.row(Turn, days, context="tick_event", **ended)

    def event(self, days, turn=None, speaker=ANN, state="answered", text="Hello."):
        return self.row(
            Event, days, kind="say", speaker=speaker, speaker_name="Ann", text=text, state=state,
            audience=[speaker], turn=turn,
        )  # fmt: skip

    def message(self, days, event=None, turn=None, text="Ann says: Hello.", role="user"):
        speaker = event.speaker if event else ""
        return self.row(
            Message, days, role=role, content=text, speaker=speaker, audience=[ANN], event=event,
            turn=turn, tokens=5,
        )  # fmt: skip

    def act(self, days, turn, state="done"):
        ended = None if state == "intended" else self.at(days)
        return self.row(
            ToolCall, days, turn=turn, call_id="1", name="give", state=state, world=True,
            ended_at=ended,
        )  # fmt: skip

    def call(self, days, turn):
        return self.row(ModelCall, days, turn=turn, purpose="tick_event", profile="offline")

    def exchange(self, days, speaker=ANN):
        """Write a whole turn and return its messages."""
        turn = self.turn(days)
        event = self.event(days, turn, speaker)
        heard = self.message(days, event, turn)
        self.call(days, turn)
        self.act(days, turn)
        answer = self.message(days, turn=turn, text="Good evening.", role="assistant")
        return [heard, answer]

    def compaction(self, days, upto_seq):
        """Write a compaction of all messages up to ``upto_seq``, some days ago."""
        log = self.script.conversation
        before = log.compactions.last()
        met, previous = {"public": "They met."}, before.id if before else None
        stored = log.compactions.commit(record(upto_seq, summary=met, previous_id=previous))
        Compaction.objects.filter(id=stored.id).update(at=self.at(days), archived=True)
        log.forget_view()
        return stored

    def summed_up(self, days=50):
        """Write an exchange that two undos do not bring back, and two more; return its messages."""
        out = self.exchange(days)
        for after in range(3):
            self.compaction(days, out[-1].id if not after else self.exchange(days - after)[-1].id)
        return out


@pytest.fixture
def log(mira, service):
    return Log(mira.assistant, service.now())


@pytest.fixture
def keep(service):
    """Return a function that sets the limits, as settings do at a start."""

    def set_limits(**limits):
        service.log_retention.retention = limits
        return service.log_retention

    return set_limits


@pytest.fixture
def purged(service):
    """Return a function that purges and returns the report."""

    def run(limits, assistant_id=None, dry=False):
        keeper = LogRetention(service.clock, service.slices.put, limits)
        running = keeper.preview(assistant_id) if dry else keeper.purge(assistant_id)
        return result_of(service.clock, running)

    return run


def result_of(clock, deferred):
    """Advance the clock until the Deferred fires; return its result."""
    results = []
    deferred.addCallback(results.append)
    for _ in range(2_000):
        if results:
            return results[0]
        clock.advance(0.01)
    raise AssertionError("it does not end")


def counts():
    return {table: getattr(models, table).objects.count() for table in TABLES}


def seqs(conversation, undos):
    """Return what is in view after some undos; undo nothing."""
    with transaction.atomic():
        for _ in range(undos):
            conversation.undo()
        view = conversation.view()
        transaction.set_rollback(True)
    conversation.forget_view()
    return [(m["metadata"].get("seq"), m["content"]) for m in view if m["metadata"].get("seq")]


def settle(game, seconds):
    """Advance the clock, and then a little more for what was started."""
    game.clock.advance(seconds)
    for _ in range(40):
        game.clock.advance(0.01)

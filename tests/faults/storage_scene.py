"""A game on a database of its own, and what goes wrong there, for the fault tests of storage."""

import pytest

from evennia_ai.services import assistant_service
from evennia_ai.store import transactions
from evennia_ai.store.conversation import TableConversation
from evennia_ai.store.inbox import TableInbox
from evennia_ai.store.transactions import LOCK_WAIT_MS
from evennia_ai.store.turns import TableTurns
from tests.faults.own_database import IS_POSTGRESQL, Full, make_lock, on_own_database
from tests.faults.seen import ends, tracebacks
from tests.scripted import call

WRITES = ["begin", "record_model_call", "intend", "record_outcome", "finish"]
UNHEARD = "(Mira did not catch that. Please say it again.)"
SHORT_S, LONG_S = 0.3, 30.0


class NotedPatience(transactions.LockBackoff):
    """Notes how long each write may wait for a lock."""

    def __init__(self):
        super().__init__()
        self.waits_ms = []

    def wait_ms(self, now):
        self.waits_ms.append(super().wait_ms(now))
        return self.waits_ms[-1]


@pytest.fixture
def db(django_db_setup, django_db_blocker, tmp_path):
    with django_db_blocker.unblock(), on_own_database(tmp_path):
        yield


@pytest.fixture(params=["locked", "full"])
def trouble(request, db, tmp_path):
    """Return a trouble that prevents all writes between `begin` and `end`."""
    found = make_lock(tmp_path) if request.param == "locked" else Full()
    yield found
    found.end()


@pytest.fixture
def lock(db, tmp_path):
    found = make_lock(tmp_path)
    yield found
    found.end()


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Reset the memory of earlier locks, so that each test waits as long; note the waits."""
    found = NotedPatience()
    monkeypatch.setattr(transactions, "patience", found)
    return found


@pytest.fixture
def writes(monkeypatch, patience):
    """Collect how long each write, also a failed one, might wait for locks, in ms."""
    found = []

    def noted(real):
        def write(self, *args, **kwargs):
            before = len(patience.waits_ms)
            try:
                return real(self, *args, **kwargs)
            finally:
                found.append(patience.waits_ms[before:])

        return write

    stores = ((TableInbox, ["close"]), (TableTurns, WRITES), (assistant_service, ["store_events"]))
    for store, names in stores:
        for name in names:
            monkeypatch.setattr(store, name, noted(getattr(store, name)))
    return found


def waits_once_at_most(writes):
    """Return True if each write was limited, and waited for one lock at most."""
    return IS_POSTGRESQL or all(waits and sum(waits) <= LOCK_WAIT_MS for waits in writes)


def pass_time(game, seconds, step=0.25):
    for _ in range(round(seconds / step)):
        game.run(step)


def begin_at(monkeypatch, game, trouble, method, seconds):
    """Start a trouble right before the first write of a kind, and end it later."""
    real, begun = getattr(TableTurns, method), []

    def write(self, *args, **kwargs):
        if not begun:
            begun.append(True)
            trouble.begin()
            game.clock.callLater(seconds, trouble.end)
        return real(self, *args, **kwargs)

    monkeypatch.setattr(TableTurns, method, write)


def memory_equals_rows(script):
    """Check that memory and the database agree."""
    stored = TableConversation(script.id, script.services.now).view()
    assert list(script.conversation.view()) == list(stored)
    assert script.mind.turns.current is None
    assert not script.services.inbox_queue._waiting
    return True


def a_moment_changes_nothing(game, ann, mira, trouble, monkeypatch, method, logged):
    """Let a trouble begin at a write of a turn; check that the turn ends as if there were none."""
    begin_at(monkeypatch, game, trouble, method, SHORT_S)
    game.model.add(call("say", text="Hello."))
    ann.do("say hi")
    pass_time(game, 3)
    assert ann.heard() == ['You say, "hi"', 'Mira says, "Hello."']
    assert ends() == {"hi": "answered"}
    assert len(game.model.requests) == 1
    assert memory_equals_rows(mira.assistant)
    assert not tracebacks(logged)

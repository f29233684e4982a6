"""Faults of the database and its contents, numbered as on the list they come from.

The database is the test's own. A second connection really holds the lock.
"""

import time
from statistics import median

import pytest

from evennia_ai.models import Event
from evennia_ai.store import brief_transaction
from evennia_ai.store.conversation import TableConversation
from evennia_ai.store.inbox import TableInbox
from evennia_ai.store.overheard import OverheardQueue
from evennia_ai.store.turns import TableTurns
from tests.faults.own_database import (
    IS_POSTGRESQL,
    Full,
    limit_pages,
    make_lock,
    on_own_database,
)
from tests.faults.seen import ends, seems_sane, spoken_by, tracebacks
from tests.game import conftest as scene
from tests.scripted import call

pytestmark = pytest.mark.game

service, model, game, tavern = scene.service, scene.model, scene.game, scene.tavern
mira, ann, bob = scene.mira, scene.ann, scene.bob

WRITES = ["begin", "record_model_call", "intend", "record_outcome", "finish"]
UNHEARD = "(Mira did not catch that. Please say it again.)"
SHORT_S, LONG_S = 0.3, 30.0
HELD_S = 0.05


class NotedPatience(brief_transaction.Patience):
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
    monkeypatch.setattr(brief_transaction, "patience", found)
    return found


@pytest.fixture
def stretches(monkeypatch):
    """Collect the seconds for which each write, also a failed one, held the reactor."""
    taken = []

    def timed(real):
        def write(self, *args, **kwargs):
            began = time.perf_counter()
            try:
                return real(self, *args, **kwargs)
            finally:
                taken.append(time.perf_counter() - began)

        return write

    stores = ((TableInbox, ["put", "close"]), (TableTurns, WRITES), (OverheardQueue, ["flush"]))
    for store, names in stores:
        for name in names:
            monkeypatch.setattr(store, name, timed(getattr(store, name)))
    return taken


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
    assert script.turns.current is None
    assert not script.backlog._waiting
    return True


# --- 36, 37: hearing while nothing can be written ---


def test_36_37_what_is_said_meanwhile_is_answered_afterwards(
    game, ann, mira, trouble, stretches, logged
):
    game.model.add(call("say", text="One and two."))
    trouble.begin()
    ann.do("say Mira, one")
    ann.do("say Mira, two")
    pass_time(game, 1)
    assert not Event.objects.exists()
    trouble.end()
    pass_time(game, 3)
    assert ann.last() == 'Mira says, "One and two."'
    assert list(Event.objects.order_by("id").values_list("text", "state")) == [
        ("Mira, one", "answered"),
        ("Mira, two", "answered"),
    ]
    assert median(stretches) < HELD_S and max(stretches) < 10 * HELD_S
    assert memory_equals_rows(mira.assistant)
    assert not tracebacks(logged)
    assert seems_sane(ann)


def test_36_37_what_several_overhear_meanwhile_is_stored_afterwards(
    game, tavern, ann, mira, trouble, logged
):
    crowd = [mira, *(game.assistant(name, tavern) for name in ("Otto", "Oda"))]
    game.model.add(call("say", text="One."), call("say", text="Two."))
    trouble.begin()
    ann.do("say Mira, one")
    ann.do("say Otto, two")
    pass_time(game, 1)
    assert not Event.objects.exists()
    trouble.end()
    pass_time(game, 5)
    for character in crowd:
        heard = Event.objects.filter(assistant_id=character.assistant.id, speaker=ann.dbref)
        texts = heard.order_by("id").values_list("text", flat=True)
        assert list(texts) == ["Mira, one", "Otto, two"]
    assert not tracebacks(logged)


def test_36_37_what_cannot_be_stored_at_all_is_told_to_its_speaker(
    game, ann, mira, trouble, stretches, logged
):
    trouble.begin()
    ann.do("say Mira, one")
    pass_time(game, 20)
    assert ann.heard() == ['You say, "Mira, one"', UNHEARD]
    assert len([line for line in logged if "Mira did not hear a line" in line]) == 1
    assert median(stretches) < HELD_S and max(stretches) < 10 * HELD_S
    trouble.end()
    game.model.add(call("say", text="One."))
    ann.do("say Mira, one")
    pass_time(game, 3)
    assert ann.last() == 'Mira says, "One."'
    assert ends() == {"Mira, one": "answered"}
    assert memory_equals_rows(mira.assistant)
    assert not tracebacks(logged)


def test_36_37_the_log_says_why_a_line_was_not_heard(game, ann, mira, trouble, logged):
    trouble.begin()
    ann.do("say Mira, one")
    pass_time(game, 20)
    lines = [line for line in logged if "did not hear a line" in line]
    assert len(lines) == 1
    assert trouble.error in lines[0]


@pytest.mark.skipif(IS_POSTGRESQL, reason="the file's size is limited in SQLite's way")
def test_37_on_a_disk_that_is_really_full_every_line_is_answered_or_told_of(game, ann, mira):
    limit_pages(1)
    game.model.add(*[call("say", text="Go on.") for _ in range(40)])
    for number in range(12):
        ann.do(f"say Mira, line {number}: {'blah ' * 300}")
        pass_time(game, 20)
    told = spoken_by("Mira", ann)
    assert UNHEARD in told
    limit_pages()
    pass_time(game, 10)
    stored = set(Event.objects.values_list("state", flat=True))
    assert stored <= {"answered", "excused"}
    assert told.count(UNHEARD) + Event.objects.count() == 12
    game.model.script[:] = [call("say", text="At last.")]
    ann.do("say Mira?")
    pass_time(game, 3)
    assert ann.last() == 'Mira says, "At last."'
    assert memory_equals_rows(mira.assistant)
    assert seems_sane(ann)


def test_36_stopped_while_the_database_is_locked_it_is_not_stopped_and_staff_is_told(
    game, ann, mira, tavern, lock
):
    admin = game.player("Ada", tavern, permissions=["Admin"])
    lock.begin()
    began = time.perf_counter()
    admin.do("aistop Mira")
    assert time.perf_counter() - began < 1.0
    assert "The database cannot be written now" in admin.last()
    lock.end()
    assert mira.assistant.is_on
    admin.do("aistop Mira")
    assert not mira.assistant.is_on
    lock.begin()
    admin.do("aistart Mira")
    lock.end()
    assert not mira.assistant.is_on
    assert mira.assistant.attributes.get("stopped") is True


def test_36_a_first_meeting_while_the_database_is_locked_holds_nobody(
    game, ann, mira, lock, settings, monkeypatch, logged
):
    settings.AI_ASSISTANT = {"autonomous_calls_per_hour": 0}
    game.model.add(call("say", text="One."), call("say", text="Two."))
    tries = []
    shorten = brief_transaction.shorten_wait
    monkeypatch.setattr(
        brief_transaction, "shorten_wait", lambda: tries.append(time.perf_counter()) or shorten()
    )
    lock.begin()
    began = time.perf_counter()
    ann.do("say Mira, one")
    assert time.perf_counter() - began < 1.0
    assert len(tries) == 1
    assert seems_sane(ann)
    lock.end()
    pass_time(game, 3)
    assert ann.last() == 'Mira says, "One."'
    ann.do("say Mira, two")
    pass_time(game, 1)
    assert len([line for line in ann.heard() if "played by a computer program" in line]) == 1
    assert ann.character.attributes.get("ai_introduced") is True
    assert not tracebacks(logged)


def test_36_what_fails_with_one_stored_line_keeps_no_other_waiting(
    game, ann, mira, lock, monkeypatch
):
    real, failed = type(mira.assistant).wake, []

    def wake(self):
        if not failed:
            failed.append(True)
            raise RuntimeError("a hook of the game")
        real(self)

    game.model.add(call("say", text="Both."))
    lock.begin()
    ann.do("say Mira, one")
    ann.do("say Mira, two")
    monkeypatch.setattr(type(mira.assistant), "wake", wake)
    lock.end()
    pass_time(game, 8)
    assert failed and ann.last() == 'Mira says, "Both."'
    assert memory_equals_rows(mira.assistant)


def test_36_a_room_full_of_ears_waits_for_a_lock_once(
    game, ann, mira, tavern, lock, stretches, patience
):
    for number in range(10):
        game.assistant(f"Npc{number}", tavern)
    lock.begin()
    ann.do("say hello, all of you")
    game.run()
    assert len(stretches) == 12  # the one who answers; all others at once, then each of them
    assert sum(patience.waits_ms) < 5 * 30
    assert IS_POSTGRESQL or sum(stretches) < 5 * 0.03  # a busy machine's server answers late
    lock.end()
    game.model.add(call("say", text="Hello."))
    pass_time(game, 3)
    assert Event.objects.filter(text="hello, all of you").count() == 11
    assert 'says, "Hello."' in ann.last()


def test_36_switched_off_and_locked_at_once_the_speaker_gets_one_line(
    game, ann, mira, lock, monkeypatch, logged
):
    game.service.switch_off("All assistants were stopped by Ada.")
    real = TableInbox.close

    def close(self, *args):
        lock.begin()
        real(self, *args)

    monkeypatch.setattr(TableInbox, "close", close)
    ann.do("say Mira, one")
    lock.end()
    pass_time(game, 1)
    assert spoken_by("Mira", ann) == [
        "(Mira is silent: the staff has stopped all such characters.)"
    ]
    assert seems_sane(ann)
    assert not tracebacks(logged)


def test_36_deleted_before_its_line_could_be_stored_it_leaves_nothing(
    game, ann, mira, lock, logged
):
    lock.begin()
    ann.do("say Mira, one")
    lock.end()
    mira.delete()
    pass_time(game, 3)
    assert not Event.objects.exists()
    assert not tracebacks(logged)

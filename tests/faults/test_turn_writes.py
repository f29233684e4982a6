"""Trouble with the database at each write of a turn, numbered as in `test_storage`."""

import pytest

from evennia_ai.models import Event, Message, ToolCall, Turn
from evennia_ai.signals import turn_finished
from tests.faults import storage_scene as scene
from tests.faults.seen import ends, seems_sane, spoken_by, tracebacks
from tests.faults.storage_scene import (
    LONG_S,
    SHORT_S,
    WRITES,
    a_moment_changes_nothing,
    begin_at,
    memory_equals_rows,
    pass_time,
    waits_once_at_most,
)
from tests.reading_requests import step_of
from tests.scripted import call
from tests.short_form import short_form

pytestmark = pytest.mark.game

db, trouble, lock = scene.db, scene.trouble, scene.lock
patience, writes = scene.patience, scene.writes


@pytest.mark.parametrize("method", WRITES)
def test_36_37_a_moment_s_trouble_at_any_write_changes_nothing(
    game, ann, mira, trouble, monkeypatch, writes, method, logged
):
    a_moment_changes_nothing(game, ann, mira, trouble, monkeypatch, method, logged)
    assert waits_once_at_most(writes)


@pytest.mark.parametrize("method", WRITES)
def test_36_37_trouble_beyond_all_tries_loses_nothing_and_says_nothing_twice(
    game, ann, mira, trouble, monkeypatch, writes, method, logged
):
    begin_at(monkeypatch, game, trouble, method, LONG_S)
    game.model.add(*[call("say", text="Hello.") for _ in range(10)])
    ann.do("say hi")
    pass_time(game, 60)
    assert len([line for line in ann.heard() if "Hello." in line]) <= 1
    assert spoken_by("Mira", ann)
    assert ends()["hi"] in ("answered", "excused")
    assert not Turn.objects.filter(ended_at=None)
    assert waits_once_at_most(writes)
    assert memory_equals_rows(mira.assistant)
    assert [line for line in logged if "Mira: The database cannot be written now" in line]
    assert not tracebacks(logged)
    assert seems_sane(ann)


@pytest.fixture
def a_games_receiver():
    """Let a game's own code listen, without which Django does not look at the sender."""

    def receive(**told):
        pass

    turn_finished.connect(receive)
    yield
    turn_finished.disconnect(receive)


@pytest.mark.usefixtures("a_games_receiver")
@pytest.mark.parametrize("method", WRITES)
def test_36_deleted_while_a_write_waits_it_leaves_nothing(
    game, ann, mira, lock, monkeypatch, method, logged
):
    begin_at(monkeypatch, game, lock, method, SHORT_S)
    real_end = lock.end

    def end():
        real_end()
        if mira.pk:
            mira.delete()

    lock.end = end
    game.model.add(call("say", text="Hello."))
    ann.do("say hi")
    pass_time(game, 6)
    assert not mira.pk
    assert not Event.objects.exists()
    assert not Turn.objects.exists()
    assert not Message.objects.exists()
    assert not tracebacks(logged)


@pytest.mark.parametrize("seconds", short_form([SHORT_S, LONG_S], 2))
@pytest.mark.parametrize("method", WRITES)
def test_36_37_nothing_is_given_twice(game, ann, mira, trouble, monkeypatch, method, seconds):
    game.thing("mug", mira)
    game.thing("mug", mira)
    begin_at(monkeypatch, game, trouble, method, seconds)
    give, speak = call("give", item="mug", to="Ann"), call("say", text="There.")
    game.model.add(*[lambda request: give if step_of(request) == 1 else speak] * 12)
    ann.do("say a mug, please")
    pass_time(game, 60)
    assert len(ann.character.contents) == 1
    assert ends()["a mug, please"] in ("answered", "excused")
    assert memory_equals_rows(mira.assistant)


def test_36_a_start_while_the_database_is_locked_makes_good_later(game, ann, mira, lock, logged):
    ann.do("say hi")
    script = mira.assistant
    game.service.slices._queue.clear()
    ears = frozenset({ann.dbref})
    script.mind.turns.begin(script.mind.inbox.open_events().waiting, ears, False, "tick_event")
    script.mind.turns.current = script.mind.ticker._woken = None
    game.model.add(call("say", text="Hello again."))
    lock.begin()
    game.service.resume()
    pass_time(game, 5)
    assert ann.heard() == ['You say, "hi"']
    lock.end()
    pass_time(game, 5)
    assert ann.last() == 'Mira says, "Hello again."'
    assert ends() == {"hi": "answered"}
    assert not tracebacks(logged)
    assert Message.objects.filter(role="user").count() == 1
    assert not ToolCall.objects.exclude(state="done")

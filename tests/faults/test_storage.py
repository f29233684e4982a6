"""Faults of the database and its contents, numbered as on the list they come from.

The database is the test's own. A second connection really holds the lock.
"""

import pytest
from django.db import OperationalError, connection
from twisted.internet.defer import Deferred

from evennia_ai.errors import StoreUnavailable
from evennia_ai.models import Event
from evennia_ai.store import transactions
from evennia_ai.store.turns import TableTurns
from tests.faults import storage_scene as scene
from tests.faults.own_database import IS_POSTGRESQL, limit_pages
from tests.faults.seen import ends, seems_sane, spoken_by, tracebacks
from tests.faults.storage_scene import UNHEARD, memory_equals_rows, pass_time, waits_once_at_most
from tests.scripted import call

pytestmark = pytest.mark.game


def busy(*args, **kwargs):
    raise StoreUnavailable("The database cannot be written now.")


db, trouble, lock = scene.db, scene.trouble, scene.lock
patience, writes = scene.patience, scene.writes


# --- 36, 37: hearing while nothing can be written ---


def test_36_37_what_is_said_meanwhile_is_answered_afterwards(
    game, ann, mira, trouble, writes, logged
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
    assert waits_once_at_most(writes)
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
    game, ann, mira, trouble, writes, logged
):
    trouble.begin()
    ann.do("say Mira, one")
    pass_time(game, 20)
    assert ann.heard() == ['You say, "Mira, one"', UNHEARD]
    assert len([line for line in logged if "Mira did not hear a line" in line]) == 1
    assert waits_once_at_most(writes)
    trouble.end()
    game.model.add(call("say", text="One."))
    ann.do("say Mira, one")
    pass_time(game, 3)
    assert ann.last() == 'Mira says, "One."'
    assert ends() == {"Mira, one": "answered"}
    assert memory_equals_rows(mira.assistant)
    assert not tracebacks(logged)


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
    admin.do("aistop Mira")
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


def test_36_a_setting_stays_as_it_is_while_the_database_is_locked(game, mira, tavern, lock, logged):
    admin = game.player("Ada", tavern, permissions=["Admin"])
    admin.do("aisetup/set Mira/tick_rate = 9")
    lock.begin()
    admin.do("aisetup/set Mira/tick_rate =")
    assert "The database cannot be written now" in admin.last()
    lock.end()
    assert mira.assistant.mind.settings.own() == {"tick_rate": 9}
    admin.do("aisetup/set Mira/tick_rate =")
    assert mira.assistant.mind.settings.own() == {}
    assert not tracebacks(logged)


def test_36_all_are_stopped_whole_or_not_at_all_while_the_database_is_locked(
    game, ann, mira, tavern, lock, logged
):
    admin = game.player("Ada", tavern, permissions=["Admin"])
    for line in ("aistop all", "aistart all"):
        was_off = bool(game.service.switched_off)
        lock.begin()
        admin.do(line)
        assert "The database cannot be written now" in admin.last()
        lock.end()
        assert bool(game.service.switched_off) == was_off
        admin.do(line)
        assert bool(game.service.switched_off) != was_off
    assert not tracebacks(logged)


def test_36_whoever_cannot_be_told_of_a_stop_keeps_no_model_call_alive(
    game, ann, mira, tavern, monkeypatch, logged
):
    admin = game.player("Ada", tavern, permissions=["Admin"])
    late = Deferred()
    game.model.add(late)
    ann.do("say hi")
    game.run(1)
    with monkeypatch.context() as patch:
        patch.setattr(TableTurns, "finish", busy)
        admin.do("aistop all")
    assert "All assistants are stopped" in admin.last()
    game.run(1)
    assert not game.service.gateway.lanes.calls
    assert not spoken_by("Mira", ann) and not tracebacks(logged)


def test_36_of_several_settings_all_are_stored_or_none(mira):
    def go_down_at_the_second(execute, sql, params, many, context):
        written.append(sql.startswith(("INSERT", "UPDATE")) and "typeclasses_attribute" in sql)
        if sum(written) >= 2:
            raise OperationalError("the connection was lost")
        return execute(sql, params, many, context)

    written, settings = [], mira.assistant.mind.settings
    with connection.execute_wrapper(go_down_at_the_second), pytest.raises(StoreUnavailable):
        settings.write({"tick_rate": 9.0, "whisper_policy": "trusting", "compact_target": 0.3})
    assert settings.own() == {}


def test_36_a_first_meeting_while_the_database_is_locked_holds_nobody(
    game, ann, mira, lock, settings, monkeypatch, logged
):
    settings.AI_ASSISTANT = {"autonomous_calls_per_hour": 0}
    game.model.add(call("say", text="One."), call("say", text="Two."))
    tries = []
    shorten = transactions.shorten_wait
    monkeypatch.setattr(transactions, "shorten_wait", lambda: tries.append(1) or shorten())
    lock.begin()
    ann.do("say Mira, one")
    assert len(tries) == 1
    assert seems_sane(ann)
    lock.end()
    pass_time(game, 10)
    assert ann.last() == 'Mira says, "One."'
    ann.do("say Mira, two")
    pass_time(game, 1)
    assert len([line for line in ann.heard() if "played by a computer program" in line]) == 1
    assert ann.character.attributes.get("ai_introduced") is True
    assert not tracebacks(logged)


def test_36_a_room_full_of_ears_waits_for_a_lock_once(
    game, ann, mira, tavern, lock, writes, patience
):
    for number in range(10):
        game.assistant(f"Npc{number}", tavern)
    lock.begin()
    ann.do("say hello, all of you")
    game.run()
    assert len(writes) == 12  # the one who answers; all others at once, then each of them
    assert sum(patience.waits_ms) < 5 * 30
    lock.end()
    game.model.add(call("say", text="Hello."))
    pass_time(game, 3)
    assert Event.objects.filter(text="hello, all of you").count() == 11
    assert 'says, "Hello."' in ann.last()

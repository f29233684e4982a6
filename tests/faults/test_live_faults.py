"""What happens to a running game: too much at once, no memory, an end, a swap, a backup."""

import sqlite3
from contextlib import closing

import pytest
from django.db import connection
from twisted.internet.defer import Deferred

from evennia_ai.messages import IncomingEvent
from evennia_ai.models import Compaction, Event, Message, SleepPass, Turn
from evennia_ai.policy.compaction.plan import CompactionOrder
from evennia_ai.ports.goal_records import Goals
from evennia_ai.ports.journal import Journal
from evennia_ai.ports.profiles import EntityProfiles
from evennia_ai.services import assistant_service
from evennia_ai.store.inbox import TableInbox
from evennia_ai.store.turns import TableTurns
from evennia_ai.turn.model_call import ModelCalls
from evennia_ai.turn.prompt_building import PromptBuilder
from evennia_ai.turn.recall import Recall
from evennia_ai.turn.tool_executor import ToolExecutor
from tests.faults import storage_scene
from tests.faults.own_database import IS_POSTGRESQL
from tests.faults.process_scene import pass_time
from tests.faults.seen import ends, seems_sane, tracebacks
from tests.faults.storage_scene import UNHEARD
from tests.game.conftest import gateway_to
from tests.scripted import call
from tests.short_form import short_form

pytestmark = pytest.mark.game


def talk(game, player, *lines):
    """Say lines, one after the other; each is answered in its own words."""
    for line in lines:
        game.model.add(call("say", text=f"{line}: yes."))
        player.do(f"say Mira, {line}")
        pass_time(game, 2)


def next_process(game, mira):
    """Let a server start that finds what the last one left."""
    game.service.slices._queue.clear()
    mira.assistant.attributes.reset_cache()
    for store in (Journal, EntityProfiles, Goals):
        store.drop(mira)
    service = game.next_process(mira.assistant)
    service.gateway, service.semantic = gateway_to(game.model, game.clock), game.service.semantic
    service.late_start.cancel()
    service.resume()
    pass_time(game, 20)


@pytest.mark.parametrize("many", short_form([300, 3_000], 2))
def test_of_many_lines_at_once_each_ends_and_the_next_is_answered(game, ann, mira, many):
    ears = frozenset({ann.dbref})
    for number in range(many):
        mira.assistant.mind.inbox.put(
            IncomingEvent("say", ann.dbref, "Ann", f"Mira, what of {number}?", ears, addressed=True)
        )
    talk(game, ann, "and at last")
    pass_time(game, 60)
    assert set(ends().values()) == {"answered"} and len(ends()) == many + 1
    assert mira.assistant.mind.meter.sizes.overhead >= 0
    talk(game, ann, "and now")
    assert ann.last() == 'Mira says, "and now: yes."'


@pytest.mark.parametrize(
    ("part", "method"),
    [
        (assistant_service, "store_events"), (TableInbox, "open_events"), (TableTurns, "begin"),
        (PromptBuilder, "build"), (Recall, "prepare"), (ModelCalls, "for_turn"),
        (ToolExecutor, "perform"), (TableTurns, "record_model_call"), (TableTurns, "finish"),
    ],
)  # fmt: skip
def test_where_memory_runs_out_once_the_line_ends_and_the_next_is_answered(
    game, ann, mira, monkeypatch, part, method
):
    real, failed = getattr(part, method), []

    def fails_once(*args, **kwargs):
        if failed:
            return real(*args, **kwargs)
        failed.append(True)
        raise MemoryError

    monkeypatch.setattr(part, method, fails_once)
    talk(game, ann, "one")
    pass_time(game, 20)
    assert failed
    assert ends().get("Mira, one", "told") in {"answered", "excused", "told"}
    assert ends() or UNHEARD in ann.heard()
    talk(game, ann, "two")
    assert ends()["Mira, two"] == "answered"
    assert seems_sane(ann)
    assert not Turn.objects.filter(ended_at=None)


@pytest.mark.parametrize("work", ["compaction", "sleep"])
def test_ended_in_a_compaction_or_in_sleep_it_answers_after_the_start(
    game, ann, admin, mira, logged, work
):
    game.service.profiles["one"] = {"client": "openai", "model": "first"}
    mira.assistant.attributes.add("profile", "one")
    talk(game, ann, *(f"number {number}" for number in range(15)))
    before = list(Message.objects.values_list("id", "content"))
    game.model.add(Deferred())
    if work == "compaction":
        pending = mira.assistant.mind.compactor.compact(CompactionOrder(force=True, keep_recent=3))
        pending.addErrback(lambda failure: None)
    else:
        admin.do("aisleep Mira")
    game.run(2)
    asked = len(game.model.requests)
    ann.do("say Mira, did you hear me?")
    game.service.stopService()
    assert asked == 16
    game.model.add(*[call("say", text="I did.")] * 3)
    next_process(game, mira)
    assert ends()["Mira, did you hear me?"] == "answered"
    assert list(Message.objects.values_list("id", "content"))[: len(before)] == before
    assert not Compaction.objects.exists()
    assert work == "compaction" or SleepPass.objects.get().outcome in {"stopped", "woken"}
    assert not tracebacks(logged)


@pytest.mark.parametrize(
    "typeclass", ["world.characters.Character", "evennia.objects.objects.DefaultCharacter"]
)
def test_with_its_typeclass_swapped_in_mid_turn_it_answers_and_hears_on(
    game, ann, mira, logged, typeclass
):
    late = Deferred()
    game.model.add(late)
    ann.do("say Mira, one")
    game.run(1)
    mira.swap_typeclass(typeclass, clean_attributes=False)
    late.callback(call("say", text="One."))
    game.run(1)
    assert ann.last() == 'Mira says, "One."'
    talk(game, ann, "two")
    mira.swap_typeclass("evennia_ai.assistant_character.AssistantCharacter")
    talk(game, ann, "three")
    assert set(ends().values()) == {"answered"}
    assert not tracebacks(logged)


class TestAnOlderBackup:
    """Restored, with long-term memory beside it that is newer."""

    db = storage_scene.db

    @pytest.mark.skipif(IS_POSTGRESQL, reason="copies a file")
    @pytest.mark.parametrize("told_anew", [False, True])
    def test_talk_goes_on_from_the_backup_and_what_came_after_it_never_was(
        self, game, ann, mira, tmp_path, logged, told_anew
    ):
        talk(game, ann, "the mill stands still")
        mira.journal.add("The mill stands still.")
        game.result(mira.assistant.mind.sleep_pass.run())
        late = Deferred()
        game.model.add(late)
        ann.do("say Mira, in the middle of it")
        game.run(1)
        with connection.cursor() as cursor:
            cursor.execute("VACUUM INTO %s", [str(tmp_path / "backup.db3")])
        late.callback(call("say", text="Said later."))
        pass_time(game, 5)
        talk(game, ann, "the dragon sleeps")
        mira.journal.add("The dragon sleeps.")
        game.result(mira.assistant.mind.sleep_pass.run())
        assert "The dragon sleeps." in memories(game)
        game.service.stopService()
        with closing(sqlite3.connect(tmp_path / "backup.db3")) as backup:
            connection.ensure_connection()
            backup.backup(connection.connection)
        game.model.add(call("say", text="Said once."))
        next_process(game, mira)
        assert ends()["Mira, in the middle of it"] == "answered"
        assert len([line for line in ann.heard() if "Said once." in line]) == 1
        assert not Event.objects.filter(text__contains="dragon")
        talk(game, ann, "what sleeps under the bridge?")
        assert "dragon" not in str(game.model.requests[-1].messages)
        if told_anew:
            mira.journal.add("The bridge was built anew.")
        game.result(mira.assistant.mind.sleep_pass.run())
        anew = ["The bridge was built anew."] * told_anew
        assert sorted(memories(game)) == [*anew, "The mill stands still."]
        assert not tracebacks(logged)


def memories(game):
    """Return the texts in long-term memory."""
    return [
        text for (rows,) in [game.service.semantic.stored.values()] for _row, text in rows.values()
    ]

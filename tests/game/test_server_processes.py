"""Several server processes on one database: leases, deaths, and what holds for all of them."""

import pytest
from django.db import connection
from evennia.typeclasses.attributes import Attribute
from twisted.internet.defer import Deferred

from evennia_ai.errors import RunElsewhere, TurnAborted
from evennia_ai.llm.lanes import lane_key
from evennia_ai.messages import Heard
from evennia_ai.models import Event, Lease, ServerProcess, ToolCall, Turn
from evennia_ai.policy.liveness import BEAT_S, DEAD_S
from evennia_ai.services.server_processes import slot
from evennia_ai.store.processes import BUSY, HELD, TAKEN, SharedProcess, SingleProcess
from evennia_ai.store.server_settings import SWITCH
from tests.faults.process_scene import pass_time
from tests.game.conftest import gateway_to
from tests.scripted import call

OTHER = 4711


@pytest.fixture
def shared(game, mira, settings):
    """Return the service of a process that shares its database with `OTHER`, which lives."""
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "SHARED_DATABASE": True}
    game.service.stopService()
    ServerProcess.objects.create(epoch=OTHER, slot="elsewhere")
    service = game.next_process(mira.assistant)
    service.gateway = gateway_to(game.model, game.clock)
    service.at_start()
    game.run(1)
    return service


@pytest.fixture
def other(shared):
    """Return the other process, as this one's database sees it."""
    return SharedProcess(OTHER)


def live_on(game, seconds):
    """Let the other process count its beats while time passes."""
    for beats in range(int(seconds / BEAT_S)):
        ServerProcess.objects.filter(epoch=OTHER).update(beats=1_000 + beats)
        pass_time(game, BEAT_S)


def heard_by(epoch, mira, ann, words="hello"):
    """Store what another process heard and did not answer yet."""
    ears = frozenset({ann.dbref})
    event_id = mira.assistant.mind.inbox.put(
        Heard("say", ann.dbref, "Ann", words, ears, addressed=True)
    )
    Event.objects.filter(id=event_id).update(epoch=epoch)
    return event_id


# --- leases ----------------------------------------------------------------------------------


def test_an_assistant_is_run_by_one_process_at_a_time(shared, other, mira):
    mine, script_id = shared.process, mira.assistant.id
    assert mine.take(script_id) == TAKEN
    assert mine.take(script_id) == HELD
    assert other.take(script_id) == BUSY
    mine.release(script_id)
    assert mine.take(script_id) == BUSY  # once, since the other one waits
    assert other.take(script_id) == TAKEN
    assert mine.take(script_id) == BUSY


def test_a_lease_of_a_dead_process_is_free(shared, other, mira):
    other.take(mira.assistant.id)
    ServerProcess.objects.filter(epoch=OTHER).delete()
    assert shared.process.take(mira.assistant.id) == TAKEN


def test_while_another_process_runs_it_an_assistant_waits_and_then_answers(
    game, shared, other, mira, ann
):
    other.take(mira.assistant.id)
    game.model.add(call("say", text="here I am"))
    ann.do("say hello")
    live_on(game, 10)
    assert not game.model.requests
    other.release(mira.assistant.id)
    live_on(game, 5)
    assert ann.last() == 'Mira says, "here I am"'


def test_a_compaction_by_hand_waits_for_the_other_process(shared, other, mira):
    other.take(mira.assistant.id)
    with (
        pytest.raises(RunElsewhere, match="another server process"),
        shared.processes.lease(mira.assistant.id, "Mira", mira.ai_mind.read_again),
    ):
        pass


def test_what_another_process_wrote_is_read_again(shared, other, mira):
    shared.process.take(mira.assistant.id)
    entry_id = mira.journal.add("the well is dry")
    rows = Attribute.objects.filter(db_attrtype="ai_journal")
    stored = dict(rows.values_list("pk", "db_value"))
    mira.journal.update(entry_id, content="the well is full")
    shared.process.release(mira.assistant.id)
    other.take(mira.assistant.id)
    for pk, value in stored.items():
        rows.filter(pk=pk).update(db_value=value)
    other.release(mira.assistant.id)
    assert mira.journal.get(entry_id)["content"] == "the well is full"
    with shared.processes.lease(mira.assistant.id, "Mira", mira.ai_mind.read_again):
        assert mira.journal.get(entry_id)["content"] == "the well is dry"


def test_a_command_lets_the_process_with_the_lease_read_again(shared, other, mira, admin):
    other.take(mira.assistant.id)
    admin.do("aimemory/add Mira = the bridge is closed")
    assert Lease.objects.get().changed
    other.release(mira.assistant.id)
    assert other.take(mira.assistant.id) == TAKEN


def test_what_another_process_stores_while_a_turn_begins_waits_for_the_next(shared, mira, ann):
    ears = frozenset({ann.dbref})
    inbox, turns = mira.assistant.mind.inbox, mira.assistant.mind.turns
    stored = []

    def overhear(text):
        stored.append(inbox.put(Heard("emote", ann.dbref, "Ann", text, ears)))

    def between(execute, sql, params, *rest):
        if sql.startswith('UPDATE "evennia_ai_event"') and len(stored) == 1:
            overhear("Ann sneezes.")
        return execute(sql, params, *rest)

    overhear("Ann yawns.")
    with connection.execute_wrapper(between):
        turn = turns.begin((), ears, False, "tick_event")
    states = Event.objects.filter(id__in=stored).order_by("id").values_list("state", "turn_id")
    assert list(states) == [("noted", turn.id), ("overheard", None)]


# --- what lives and what died ----------------------------------------------------------------


def test_words_that_a_live_process_heard_are_left_to_it(game, shared, mira, ann):
    heard_by(OTHER, mira, ann)
    mira.assistant.wake()
    live_on(game, 60)
    assert not game.model.requests
    assert Event.objects.get().state == "waiting"


def test_a_start_closes_no_turn_of_a_live_process(game, shared, mira):
    at = shared.now()
    for epoch in (OTHER, 1):
        Turn.objects.create(
            assistant_id=mira.assistant.id, at=at, epoch=epoch, context="tick_event"
        )
    shared.resume()
    game.run(1)
    outcomes = dict(Turn.objects.values_list("epoch", "outcome"))
    assert outcomes == {OTHER: "", 1: "interrupted"}


def test_the_work_of_a_dead_process_is_taken_over(game, shared, mira, ann):
    event_id = heard_by(OTHER, mira, ann)
    turn = Turn.objects.create(
        assistant_id=mira.assistant.id, at=shared.now(), epoch=OTHER, context="tick_event"
    )
    Event.objects.filter(id=event_id).update(state="claimed", turn_id=turn.id, attempts=1)
    ToolCall.objects.create(
        assistant_id=mira.assistant.id, turn=turn, at=shared.now(), call_id="1", name="give",
        world=True, state="intended",
    )  # fmt: skip
    game.model.add(call("say", text="back again"))
    live_on(game, 30)
    assert Turn.objects.get(id=turn.id).ended_at is None  # it lives
    pass_time(game, DEAD_S + 2 * BEAT_S)
    assert Turn.objects.get(id=turn.id).outcome == "interrupted"
    assert ToolCall.objects.get(name="give").state == "unknown"
    assert ann.last() == 'Mira says, "back again"'
    assert list(ServerProcess.objects.values_list("epoch", flat=True)) == [shared.epoch]


def test_a_process_that_stops_leaves_its_work_at_once(game, shared, mira, ann):
    heard_by(OTHER, mira, ann)
    game.model.add(call("say", text="I take over"))
    ServerProcess.objects.filter(epoch=OTHER).delete()
    pass_time(game, 2 * BEAT_S)
    assert ann.last() == 'Mira says, "I take over"'


def test_a_new_process_of_the_same_server_replaces_the_old_one(shared, mira):
    shared.stopService()
    ServerProcess.objects.create(epoch=1, slot=slot())
    shared.processes.start()
    assert set(ServerProcess.objects.values_list("epoch", flat=True)) == {OTHER, shared.epoch}


def test_a_process_that_was_taken_for_dead_neither_acts_nor_begins(game, shared, other, mira, ann):
    late = Deferred()
    game.model.add(late)
    ann.do("say give me the ring")
    game.run(1)
    assert Turn.objects.get().ended_at is None
    # The other one takes this process for dead, and closes its turn.
    assert other.bury(shared.epoch, ServerProcess.objects.get(epoch=shared.epoch).beats)
    Turn.objects.update(ended_at=shared.now(), outcome="interrupted")
    Event.objects.update(state="waiting", turn_id=None, epoch=OTHER)
    late.callback(call("say", text="here it is"))
    game.run(1)
    assert ann.heard() == ['You say, "give me the ring"']
    assert not ToolCall.objects.exists()
    with pytest.raises(TurnAborted, match="another server process"):
        mira.assistant.mind.turns.begin((), frozenset(), False, "tick_event")


def test_a_process_that_was_taken_for_dead_shows_again_that_it_lives(game, shared, other):
    other.bury(shared.epoch, ServerProcess.objects.get(epoch=shared.epoch).beats)
    live_on(game, BEAT_S)
    assert ServerProcess.objects.filter(epoch=shared.epoch).exists()


def test_nobody_is_buried_who_counted_meanwhile(shared, other):
    beats = ServerProcess.objects.get(epoch=shared.epoch).beats
    shared.process.beat(beats + 1, {})
    assert not other.bury(shared.epoch, beats)


# --- what holds for all processes together ---------------------------------------------------


def test_lines_said_to_another_process_count_for_a_person(game, shared, mira, ann, settings):
    shared.crowd.limits = shared.crowd.limits.model_copy(update={"turns_per_minute": 3})
    ServerProcess.objects.filter(epoch=OTHER).update(shared={"lines": {ann.dbref: 3}})
    live_on(game, BEAT_S)
    ann.do("say hello")
    live_on(game, BEAT_S)
    assert Event.objects.get().reason == "too fast"


def test_an_endpoint_that_another_process_paused_is_paused_here(game, shared, mira, ann):
    game.model.add(call("say", text="one"), call("say", text="two"))
    ann.do("say hello")
    live_on(game, BEAT_S)
    key = lane_key(next(iter(shared.gateway.lanes)).profile)
    told = {"pauses": {key: [30.0, "it is down"]}}
    ServerProcess.objects.filter(epoch=OTHER).update(shared=told)
    live_on(game, BEAT_S)
    (paused_s,) = [lane.paused_s for lane in shared.gateway.lanes]
    assert 29 <= paused_s <= 30
    assert shared.gateway.lanes.pauses() == {}  # only who found it says so


def test_a_stop_of_all_assistants_reaches_every_process(game, shared, mira, admin):
    from evennia.server.models import ServerConfig

    ServerConfig.objects.create(db_key=SWITCH, db_value="a fire")
    live_on(game, BEAT_S)
    assert shared.switched_off
    ServerConfig.objects.filter(db_key=SWITCH).delete()
    live_on(game, BEAT_S)
    assert not shared.switched_off


def test_what_others_spent_is_read_again(game, shared, mira, ann):
    game.model.add(call("noop"))
    ann.do("say hello")
    live_on(game, BEAT_S)
    assert not shared.gateway.budgets._is_read


# --- alone -----------------------------------------------------------------------------------


def test_a_process_that_is_alone_makes_no_query(game, mira, django_assert_num_queries):
    assert isinstance(game.service.process, SingleProcess)
    script_id, read_again = mira.assistant.id, mira.ai_mind.read_again
    with django_assert_num_queries(0):
        game.service.processes.start()
        game.service.processes.beat()
        with game.service.processes.lease(script_id, "Mira", read_again):
            game.service.process.fence(1)
        game.service.processes.refresh(script_id, read_again)
        game.service.processes.stop()


def test_a_wrong_value_is_told_and_means_alone(game, mira, settings):
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "SHARED_DATABASE": "yes"}
    service = game.next_process(mira.assistant)
    assert type(service.process) is SingleProcess
    assert any("SHARED_DATABASE" in line for line in service.complaints)

"""Retention: what is over a limit and in use by nothing goes; all else is as it was."""

import random
from contextlib import suppress
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from twisted.internet.defer import CancelledError
from twisted.logger import capturedLogs, formatEvent

from evennia_ai import models
from evennia_ai.config.table_retention import (
    IN_VIEW,
    LAST_CALL,
    LAST_HEARD,
    REFERRED,
    TABLES,
    UNANSWERED,
    UNDER_WAY,
    UNSETTLED,
    Limit,
    read_retention,
)
from evennia_ai.errors import CannotUndo, StoreUnavailable
from evennia_ai.models import Compaction, Event, Message, ModelCall, ToolCall, Turn
from evennia_ai.policy.context.projection import CompactionRecord
from evennia_ai.services.assistant_service import AssistantService
from evennia_ai.services.retention import (
    BUSY_PAUSE_S,
    DAY_S,
    FIRST_RUN_S,
    LogRetention,
    PurgeRefused,
)
from evennia_ai.store import purge
from evennia_ai.store.forget import forget_chunk
from evennia_ai.store.search import find_messages

ANN, BOB = "#901", "#902"
ALL = {table: Limit(days=30) for table in TABLES}


class Log:
    """Writes an assistant's log as it would be some days later."""

    def __init__(self, script, now):
        self.script = script
        self.now = now

    def at(self, days):
        return self.now - timedelta(days=days)

    def row(self, model, days, **fields):
        return model.objects.create(assistant_id=self.script.id, at=self.at(days), **fields)

    def turn(self, days, open_=False, outcome="answered"):
        ended = {} if open_ else {"ended_at": self.at(days), "outcome": outcome}
        return self.row(Turn, days, epoch=1, context="tick_event", **ended)

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
        """A whole turn with all that belongs to it; its messages."""
        turn = self.turn(days)
        event = self.event(days, turn, speaker)
        heard = self.message(days, event, turn)
        self.call(days, turn)
        self.act(days, turn)
        answer = self.message(days, turn=turn, text="Good evening.", role="assistant")
        return [heard, answer]

    def compaction(self, days, upto_seq):
        """Sum everything up to a message up, some days ago."""
        log = self.script.conversation
        before = log.compactions.last()
        record = CompactionRecord(
            id=0, reason="manual", from_seq=1, upto_seq=upto_seq, summary={"public": "They met."},
            compacted_count=1, compacted_at="", original_token_count=1, summary_token_count=1,
            previous_id=before.id if before else None,
        )  # fmt: skip
        stored = log.compactions.commit(record)
        Compaction.objects.filter(id=stored.id).update(at=self.at(days), archived=True)
        log.forget_view()
        return stored

    def summed_up(self, days=50):
        """An exchange out of reach of two undos; what of it stays is in use for nothing but the
        rules of the other rows. Two more exchanges follow it."""
        out = self.exchange(days)
        for after in range(3):
            self.compaction(days, out[-1].id if not after else self.exchange(days - after)[-1].id)
        return out


@pytest.fixture
def log(mira, service):
    return Log(mira.assistant, service.now())


@pytest.fixture
def keep(service):
    """A function that sets the limits, as the game's settings do at a start."""

    def set_limits(**limits):
        service.log_retention.retention = limits
        return service.log_retention

    return set_limits


@pytest.fixture
def purged(service):
    """A function that purges and returns the report."""

    def run(limits, assistant_id=None, dry=False):
        keeper = LogRetention(service.clock, service.slices.put, limits)
        running = keeper.preview(assistant_id) if dry else keeper.purge(assistant_id)
        return result_of(service.clock, running)

    return run


def result_of(clock, deferred):
    """Let the clock go on until there is a result."""
    results = []
    deferred.addCallback(results.append)
    for _ in range(2_000):
        if results:
            return results[0]
        clock.advance(0.01)
    raise AssertionError("it does not end")


def counts():
    return {table: getattr(models, table).objects.count() for table in TABLES}


def kept(report, table):
    return dict(report[table].kept)


def test_what_is_out_of_reach_and_old_goes_and_what_refers_to_it_before(log, purged):
    out = log.summed_up()
    before = counts()
    report = purged(ALL)
    assert not Message.objects.filter(id__in=[m.id for m in out])
    assert {table: tally.gone for table, tally in report.items() if tally.gone} == {
        "Message": 2,
        "ToolCall": 3,
        "ModelCall": 2,
        "Event": 1,
        "Turn": 1,
    }
    for table, number in counts().items():
        assert number == before[table] - report[table].gone


def test_without_three_compactions_the_whole_talk_stays(log, purged):
    log.exchange(90)
    report = purged(ALL)
    assert Message.objects.count() == 2
    assert kept(report, "Message") == {IN_VIEW: 2}
    assert kept(report, "Event") == {REFERRED: 1}
    assert kept(report, "Turn") == {REFERRED: 1}


def test_two_undos_after_a_purge_bring_back_what_they_did_before(log, purged):
    log.summed_up()
    conversation = log.script.conversation
    expected = [seqs(conversation, undos) for undos in range(3)]
    purged(ALL)
    conversation.forget_view()
    assert [seqs(conversation, undos) for undos in range(3)] == expected
    assert len(expected[2]) == 4


def seqs(conversation, undos):
    """What would be in view after some undos."""
    with transaction.atomic():
        for _ in range(undos):
            conversation.undo()
        view = conversation.view()
        transaction.set_rollback(True)
    conversation.forget_view()
    return [(m["metadata"].get("seq"), m["content"]) for m in view if m["metadata"].get("seq")]


def test_a_third_undo_is_refused_where_what_it_would_bring_back_is_gone(log, purged, admin):
    log.summed_up()
    purged({"Message": Limit(days=30)})
    for _ in range(2):
        assert "is taken back" in admin.told("aicompact/undo Mira")
    assert "retention has deleted what came before it" in admin.told("aicompact/undo Mira")
    assert log.script.conversation.compactions.last() is not None


def test_a_third_undo_is_possible_where_nothing_was_to_be_deleted(log, purged, admin):
    log.summed_up()
    purged({"Message": Limit(days=365), "Compaction": Limit(days=365)})
    for _ in range(3):
        assert "is taken back" in admin.told("aicompact/undo Mira")


def test_compactions_go_with_their_facts_and_the_one_after_them_cannot_be_undone(log, purged):
    first = log.compaction(60, log.exchange(60)[-1].id)
    log.summed_up()
    report = purged({"Compaction": Limit(days=30)})
    assert report["Compaction"].gone == 1
    assert not Compaction.objects.filter(id=first.id)
    sealed = Compaction.objects.get(sealed=True)
    assert sealed.previous_id is None
    conversation = log.script.conversation
    conversation.undo()
    conversation.undo()
    with pytest.raises(CannotUndo):
        conversation.undo()


def test_a_compaction_stays_until_the_journal_has_its_summary(log, purged):
    first = log.compaction(60, log.exchange(60)[-1].id)
    log.summed_up()
    Compaction.objects.filter(id=first.id).update(archived=False)
    assert kept(purged({"Compaction": Limit(days=30)}), "Compaction")[UNSETTLED] == 1
    log.script.conversation.note_archived(first.id, True)
    assert purged({"Compaction": Limit(days=30)})["Compaction"].gone == 1


def test_masks_stay_as_long_as_they_show(log, purged):
    log.summed_up()
    needed = log.script.conversation.compactions.last()
    third = Compaction.objects.filter(undone_at=None).order_by("id").first()
    for upto_seq in (third.upto_seq, third.upto_seq + 1, needed.upto_seq + 1):
        log.script.conversation.compactions.mask(upto_seq, upto_seq, 1)
    Compaction.objects.filter(reason="mask").update(at=log.at(50))
    purged({"Compaction": Limit(days=30)})
    masks = Compaction.objects.filter(reason="mask").order_by("id")
    assert [mask.upto_seq for mask in masks] == [third.upto_seq + 1, needed.upto_seq + 1]
    assert log.script.conversation.compactions.masked_upto() == needed.upto_seq + 1


@pytest.mark.parametrize("state", ["waiting", "claimed", "doubtful", "overheard"])
def test_what_was_heard_and_has_no_end_stays_with_its_words_and_turns(log, purged, state):
    lost = log.turn(60, outcome="interrupted")
    event = log.event(60, lost, state=state)
    words = log.message(60, event, lost)
    noted = log.event(60, lost, speaker=BOB, state="noted")
    act = log.act(60, lost)
    log.event(59, speaker=BOB)
    log.summed_up()
    report = purged(ALL)
    assert Event.objects.filter(id=event.id)
    assert kept(report, "Event")[UNANSWERED] == 1
    if state != "overheard":  # which has neither words in the log nor a turn
        assert Message.objects.filter(id=words.id)
        assert Event.objects.filter(id=noted.id)
        assert ToolCall.objects.filter(id=act.id)


def test_acts_since_a_line_that_is_taken_up_again_stay(log, purged):
    log.event(60, state="waiting")
    lost = log.turn(59, outcome="interrupted")
    act, before = log.act(59, lost), log.act(61, log.turn(61))
    log.summed_up()
    report = purged(ALL)
    assert ToolCall.objects.filter(id=act.id)
    assert not ToolCall.objects.filter(id=before.id)
    assert kept(report, "ToolCall")[UNANSWERED] >= 1


def test_an_open_turn_stays_with_all_that_belongs_to_it(log, purged):
    turn = log.turn(60, open_=True)
    act, asked = log.act(60, turn, "intended"), log.call(60, turn)
    words = log.message(60, turn=turn)
    log.summed_up()
    report = purged(ALL)
    for row in (turn, act, asked, words):
        assert type(row).objects.filter(id=row.id), row
    assert kept(report, "ToolCall")[UNDER_WAY] == 1


def test_the_last_call_stays_for_the_status(log, purged):
    log.call(90, log.turn(90))
    last = log.call(80, log.turn(80))
    report = purged(ALL)
    assert list(ModelCall.objects.all()) == [last]
    assert kept(report, "ModelCall") == {LAST_CALL: 1}


def test_rows_go_by_number_for_each_assistant(log, purged, game, tavern):
    other = Log(game.assistant("Otto", tavern).assistant, log.now)
    for scribe in (log, other):
        for age in range(50, 40, -1):
            scribe.call(age, None)
    purged({"ModelCall": Limit(rows=4)})
    for scribe in (log, other):
        left = ModelCall.objects.filter(assistant_id=scribe.script.id).order_by("id")
        assert [round((log.now - row.at).days) for row in left] == [44, 43, 42, 41]


def test_a_limit_of_rows_is_found_in_strides(log, purged, monkeypatch):
    monkeypatch.setattr(purge, "STRIDE", 3)
    for age in range(60, 40, -1):
        log.call(age, None)
    purged({"ModelCall": Limit(rows=7)})
    assert ModelCall.objects.count() == 7
    purged({"ModelCall": Limit(rows=0)})
    assert ModelCall.objects.count() == 1


def test_one_assistant_can_be_purged_alone(log, purged, game, tavern):
    other = Log(game.assistant("Otto", tavern).assistant, log.now)
    for scribe in (log, other):
        scribe.call(50, None)
        scribe.call(49, None)
    models.SpeakerUse.objects.create(speaker=ANN, day=log.at(90).date(), tokens=3)
    report = purged(ALL, log.script.id)
    assert ModelCall.objects.filter(assistant_id=log.script.id).count() == 1
    assert ModelCall.objects.filter(assistant_id=other.script.id).count() == 2
    assert "SpeakerUse" not in report and models.SpeakerUse.objects.exists()


def test_sums_go_by_the_day_and_those_of_today_never(log, purged):
    for age in (31, 30, 1, 0):
        day = log.at(age).date()
        models.DailyUse.objects.create(assistant_id=log.script.id, day=day, calls=1)
        models.SpeakerUse.objects.create(speaker=ANN, day=day, tokens=3)
    limits = read_retention({"DailyUse": {"days": 30}, "SpeakerUse": {"days": 0}})
    purged(limits)
    assert [row.day for row in models.DailyUse.objects.order_by("day")] == [
        log.at(30).date(),
        log.at(1).date(),
        log.at(0).date(),
    ]
    assert log.at(0).date() in models.SpeakerUse.objects.values_list("day", flat=True)
    assert models.SpeakerUse.objects.count() == 2


def test_whoever_is_forgotten_is_so_though_his_words_went_long_ago(log, purged):
    log.exchange(60, BOB)
    log.summed_up()
    report = purged(ALL)
    assert not Message.objects.filter(speaker=BOB)
    assert kept(report, "Event")[LAST_HEARD] == 1
    while forget_chunk(BOB):
        pass
    assert not Event.objects.filter(speaker=BOB)
    assert not Compaction.objects.exists(), "a summary that may hold his words"


def test_answers_to_somebody_are_found_as_long_as_they_are_there(log, purged):
    log.exchange(60)
    log.event(1, speaker=ANN)
    purged({"Event": Limit(days=30), "Turn": Limit(days=30)})
    while forget_chunk(ANN):
        pass
    assert not Message.objects.exists() and not ToolCall.objects.exists()


def test_acts_for_somebody_are_found_though_his_words_and_the_answers_went(log, purged):
    log.exchange(60, BOB)
    log.event(1, speaker=BOB)
    log.summed_up()
    purged({"Message": Limit(days=30), "Event": Limit(days=30)})
    assert ToolCall.objects.filter(turn__events__speaker=BOB).count() == 1
    before = ToolCall.objects.count()
    while forget_chunk(BOB):
        pass
    assert ToolCall.objects.count() == before - 1


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
    owed = script.inbox.open_events()
    again = [event for event in (*owed.waiting, *owed.doubtful) if event.attempts]
    turns = script.turns
    first_turns = turns._first_turns(again)
    return {
        "views": [seqs(script.conversation, undos) for undos in range(3)],
        "owed": owed,
        "overheard": script.inbox.overheard(),
        "first turns": first_turns,
        "taken in": turns._overheard_in(set(first_turns.values())),
        "acts": turns._acts_since(min(e.at for e in again)) if again else (),
        "open turns": list(Turn.objects.filter(ended_at=None).order_by("id").values()),
        "open acts": list(ToolCall.objects.filter(ended_at=None).order_by("id").values()),
        "last call": ModelCall.objects.order_by("id").values().last(),
        "speakers": set(Event.objects.values_list("speaker", flat=True)),
        "facts": script.conversation.current.record and script.conversation.current.record.facts,
    }


def assert_whole():
    """Nothing refers to a row that is gone, and whose words are there can be found by his name."""
    connection.check_constraints()
    assert not Message.objects.filter(event=None).exclude(speaker="").exists()


@pytest.mark.parametrize("seed", range(8))
def test_no_purge_changes_anything_that_is_looked_at(log, purged, seed):
    random_log(log, seed)
    dice = random.Random(seed + 1_000)
    limits = {
        table: Limit(dice.choice([None, 2, 20, 60]), dice.choice([None, 0, 5, 20]))
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
    left = {m["metadata"]["seq"] for m in find_messages(log.script.id, "gold", 100)}
    assert left == set(
        Message.objects.filter(content__contains="gold").values_list("id", flat=True)
    )


@pytest.mark.parametrize("seed", range(3))
def test_a_purge_that_ends_anywhere_leaves_a_whole_log(log, seed, monkeypatch):
    monkeypatch.setattr(purge, "CHUNK", 8)
    random_log(log, seed)
    before = what_is_seen(log.script)
    planned_twice, done = counts(), 0
    for table in TABLES:
        walk = purge.TablePurge(table, log.script.id, Limit(20), log.now)
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


def test_a_busy_database_is_tried_again_and_nothing_is_counted_twice(log, purged, monkeypatch):
    log.summed_up()
    truly, refused = purge.brief_transaction, []

    def busy():
        if len(refused) < 3:
            refused.append(1)
            raise StoreUnavailable("locked")
        return truly()

    monkeypatch.setattr(purge, "brief_transaction", busy)
    report = purged(ALL)
    assert len(refused) == 3
    assert report["Message"].gone == 2


def test_each_run_is_one_line_of_the_log(log, purged):
    log.call(50, None), log.call(40, None)
    with capturedLogs() as lines:
        purged({"ModelCall": Limit(days=30), "Turn": Limit(days=30)})
        purged({"ModelCall": Limit(days=30)}, dry=True)
    told = [formatEvent(line) for line in lines if "retention" in (formatEvent(line) or "")]
    assert told == ["evennia_ai: rows deleted by retention: ModelCall 1, Turn 0"]


def test_a_daily_purge_comes_some_minutes_after_the_start_and_then_every_day(log, keep, game):
    keeper = keep(ModelCall=Limit(days=30))
    for age in (33, 32, 29.5):
        log.call(age, None)
    keeper.start()
    keeper.start()
    settle(game, FIRST_RUN_S - 1)
    assert ModelCall.objects.count() == 3
    settle(game, 1)
    assert ModelCall.objects.count() == 1
    log.call(31, None), log.call(0, None)
    settle(game, DAY_S)
    assert ModelCall.objects.count() == 1


def settle(game, seconds):
    """Some time passes, and then some more for what that begins."""
    game.clock.advance(seconds)
    for _ in range(40):
        game.clock.advance(0.01)


def test_where_the_database_stays_busy_a_daily_purge_goes_on_later(log, keep, game, monkeypatch):
    keeper = keep(ModelCall=Limit(days=30))
    log.call(33, None), log.call(0, None)

    def busy():
        raise StoreUnavailable("locked")

    with monkeypatch.context() as locked:
        locked.setattr(purge, "brief_transaction", busy)
        keeper.start()
        settle(game, FIRST_RUN_S)
        for _ in range(8):
            game.clock.advance(2)
    assert ModelCall.objects.count() == 2
    settle(game, BUSY_PAUSE_S)
    assert ModelCall.objects.count() == 1


def test_without_limits_nothing_is_asked_and_nothing_planned(service, game, mira):
    service.log_retention.start()
    planned = len(game.clock.getDelayedCalls())
    with CaptureQueriesContext(connection) as asked:
        settle(game, 3 * DAY_S)
    assert not asked.captured_queries
    assert len(game.clock.getDelayedCalls()) <= planned


def test_a_purge_ends_when_the_server_goes_down(log, keep, game):
    for age in (50, 40, 30):
        log.call(age, None)
    keeper = keep(ModelCall=Limit(days=1))
    failures = []
    keeper.purge().addErrback(failures.append)
    game.service.quiesce()
    settle(game, 1)
    assert failures[0].check(CancelledError)
    assert ModelCall.objects.count() == 3
    game.service.revive()
    settle(game, FIRST_RUN_S)
    assert ModelCall.objects.count() == 1


def test_two_purges_do_not_run_at_a_time(log, keep):
    keeper = keep(**ALL)
    keeper.purge().addErrback(lambda failure: failure.trap(CancelledError))
    with pytest.raises(PurgeRefused):
        keeper.purge()
    keeper.stop()


def test_a_wrong_setting_deletes_nothing_and_is_told(game, settings):
    settings.AI_ASSISTANT = {"RETENTION": {"Message": {"days": 1}, "Turn": {"days": True}}}
    service = AssistantService(clock=game.clock, environ={})
    assert service.log_retention.retention == {}
    assert [c for c in service.complaints if "AI_ASSISTANT['RETENTION']: Turn: days must" in c]


def test_a_right_setting_is_used(game, settings):
    settings.AI_ASSISTANT = {"RETENTION": {"Message": {"days": 365, "rows": 50_000}}}
    service = AssistantService(clock=game.clock, environ={})
    assert service.log_retention.retention == {"Message": Limit(365, 50_000)}
    assert service.complaints == []


@pytest.fixture
def ask(game, admin):
    """A function that runs the command, and its dialogue as Evennia would; what the admin is
    told."""

    def run(args="", answer=None):
        from evennia_ai.commands.purge import CmdAIPurge

        admin.forget()
        if answer is None:
            admin.do(f"aipurge{args}")
        else:
            command = CmdAIPurge()
            command.caller, command.session, command.args = admin.character, admin.session, args
            command.switches = []
            dialogue = command.run()
            admin.character.msg(next(dialogue))
            with suppress(StopIteration):
                dialogue.send(answer)
        settle(game, 0.1)
        return "\n".join(admin.heard())

    return run


def test_a_purge_by_hand_asks_first_and_tells_what_went(log, keep, ask):
    keep(ModelCall=Limit(days=30), Message=Limit(days=365, rows=100))
    log.call(50, None), log.call(40, None)
    assert "Nothing was deleted." in ask("", "no")
    assert ModelCall.objects.count() == 2
    told = ask("", "yes")
    assert "for ever and without an undo" in told
    assert "ModelCall 30 days, Message 365 days or 100 rows" in told
    assert "Done. Rows deleted: ModelCall 1. Rows over a limit that stay, in use: 1." in told
    assert ModelCall.objects.count() == 1


def test_dry_shows_a_table_and_why_some_stays(log, keep, ask):
    keep(Message=Limit(days=30), Event=Limit(days=30))
    log.summed_up()
    told = ask("/dry")
    rows = [line.split() for line in told.splitlines()]
    assert ["Message", "30", "days", "6", "2", "4"] in rows
    assert f"In use of Message: 4 {IN_VIEW}." in told
    assert Message.objects.count() == 6


def test_one_assistant_may_be_named(log, keep, ask):
    keep(ModelCall=Limit(days=30))
    log.call(50, None), log.call(40, None)
    assert "from Mira's logs" in ask("Mira", "yes")
    assert ModelCall.objects.count() == 1
    assert "nobody called 'Nora'" in ask(" Nora")


def test_where_nothing_is_configured_that_is_said(log, ask):
    assert "names no table, so everything is kept" in ask()
    assert "names no table" in ask("/dry")


def test_a_purge_is_for_admins(log, ann):
    assert "Command 'aipurge' is not available" in ann.told("aipurge")


def test_a_busy_database_is_told(log, keep, ask, game, admin, monkeypatch):
    keep(ModelCall=Limit(days=30))
    log.call(50, None)

    def busy():
        raise StoreUnavailable("The database cannot be written now.")

    monkeypatch.setattr(purge, "brief_transaction", busy)
    ask("", "yes")
    for _ in range(8):
        game.clock.advance(2)
    assert "Broken off: The database cannot be written now." in admin.last()


def test_what_admins_read_does_without_the_rows_that_are_gone(log, purged, admin):
    first = log.compaction(60, log.exchange(60)[-1].id)
    log.summed_up()
    purged({table: Limit(days=49) for table in ("Message", "ToolCall", "ModelCall", "Turn")})
    for page in (" Mira", "/turns Mira", "/find Mira = evening", "/compactions Mira"):
        assert "Good evening." in (told := admin.told(f"aihistory{page}")) or "Page 1" in told
    assert "(for good)" in admin.told("aihistory/compactions Mira")
    assert "They met." in admin.told(f"aihistory/compaction Mira = {first.id}")
    assert "Mira" in admin.told("aistatus")

"""Retention deletes rows over a limit that nothing uses, and no others."""

import pytest

from evennia_ai import models
from evennia_ai.config.table_retention import RetentionLimit, read_retention
from evennia_ai.errors import CannotUndo
from evennia_ai.models import Compaction, Event, Message, ModelCall
from evennia_ai.store.purge import LAST_HEARD, UNSETTLED
from tests.forgetting import forget_chunk
from tests.game import purge_scene as scene
from tests.game.purge_scene import ALL, ANN, BOB, Log, counts

log, purged = scene.log, scene.purged


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


def test_a_third_undo_is_refused_where_what_it_would_bring_back_is_gone(log, purged, admin):
    log.summed_up()
    purged({"Message": RetentionLimit(days=30)})
    for _ in range(2):
        assert "is undone" in admin.told("aicompact/undo Mira")
    assert "retention has deleted the messages before it" in admin.told("aicompact/undo Mira")
    assert log.script.conversation.compactions.last() is not None


def test_a_line_that_is_owed_an_answer_stays(log, purged):
    heard, answer = log.summed_up()
    Event.objects.filter(id=heard.event_id).update(state="waiting", turn=None)
    purged({"Message": RetentionLimit(days=30)})
    left = Message.objects.filter(id__in=[heard.id, answer.id])
    assert [message.id for message in left] == [heard.id]


def test_no_undo_shows_lines_with_gaps(log, purged):
    log.compaction(60, log.exchange(60)[-1].id)
    log.summed_up()
    assert purged({"Message": RetentionLimit(days=30)})["Message"].gone == 4
    conversation = log.script.conversation
    conversation.undo()
    conversation.undo()
    with pytest.raises(CannotUndo):
        conversation.undo()


def test_the_compaction_behind_all_that_go_is_sealed(log, purged):
    for days in (70, 60):
        log.compaction(days, log.exchange(days)[-1].id)
    log.summed_up()
    first_left = Compaction.objects.order_by("id")[2].id
    assert purged({"Compaction": RetentionLimit(days=30)})["Compaction"].gone == 2
    assert [row.id for row in Compaction.objects.filter(sealed=True)] == [first_left]


def test_compactions_go_with_their_facts_and_the_one_after_them_cannot_be_undone(log, purged):
    first = log.compaction(60, log.exchange(60)[-1].id)
    log.summed_up()
    report = purged({"Compaction": RetentionLimit(days=30)})
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
    assert kept(purged({"Compaction": RetentionLimit(days=30)}), "Compaction")[UNSETTLED] == 1
    log.script.conversation.note_archived(first.id, True)
    assert purged({"Compaction": RetentionLimit(days=30)})["Compaction"].gone == 1


def test_rows_go_by_number_for_each_assistant(log, purged, game, tavern):
    other = Log(game.assistant("Otto", tavern).assistant, log.now)
    for scribe in (log, other):
        for age in range(50, 40, -1):
            scribe.call(age, None)
    purged({"ModelCall": RetentionLimit(rows=4)})
    for scribe in (log, other):
        left = ModelCall.objects.filter(assistant_id=scribe.script.id).order_by("id")
        assert [round((log.now - row.at).days) for row in left] == [44, 43, 42, 41]


@pytest.mark.parametrize("limit", [RetentionLimit(days=0), RetentionLimit(rows=0)])
def test_nothing_of_the_last_day_goes_whatever_the_limits_say(log, purged, limit):
    log.event(1.1, speaker=BOB)
    young = [log.event(0.9, speaker=BOB), log.event(0, speaker=BOB)]
    purged({"Event": limit})
    assert list(Event.objects.order_by("id")) == young


def test_masks_stay_as_long_as_they_show(log, purged):
    log.summed_up()
    compactions = log.script.conversation.compactions
    third = Compaction.objects.order_by("id").first().upto_seq
    for upto_seq in (third, third + 1, compactions.last().upto_seq + 1):
        compactions.mask(upto_seq, upto_seq, 1)
    Compaction.objects.filter(reason="mask").update(at=log.at(50))
    purged({"Compaction": RetentionLimit(days=30)})
    left = Compaction.objects.filter(reason="mask").order_by("id")
    assert [mask.upto_seq for mask in left] == [third + 1, compactions.last().upto_seq + 1]


@pytest.mark.parametrize(("age", "left"), [(0.9, 1), (1.1, 0)])
def test_a_compaction_that_was_undone_stays_for_a_day(log, purged, age, left):
    undone = log.compaction(60, log.exchange(60)[-1].id)
    Compaction.objects.filter(id=undone.id).update(undone_at=log.at(age), archived=False)
    purged({"Compaction": RetentionLimit(days=30)})
    assert Compaction.objects.filter(id=undone.id).count() == left


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

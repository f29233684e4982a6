"""When a purge runs, what interrupts it, and which settings it takes."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from twisted.internet.defer import CancelledError

from evennia_ai.config.table_retention import BY_TURN, RetentionLimit, limits_in_force
from evennia_ai.errors import StoreUnavailable
from evennia_ai.models import ModelCall
from evennia_ai.services.assistant_service import AssistantService
from evennia_ai.services.retention import BUSY_PAUSE_S, DAY_S, FIRST_RUN_S, PurgeRefused
from evennia_ai.store import purge
from tests.game import purge_scene as scene
from tests.game.purge_scene import ALL, settle

KEEP_ALL = {name: {} for name in ("calls", *BY_TURN)}

log, keep, purged = scene.log, scene.keep, scene.purged


def test_a_busy_database_is_tried_again_and_nothing_is_counted_twice(log, purged, busy):
    log.summed_up()
    refused = busy(purge, "brief_transaction", times=3)
    report = purged(ALL)
    assert len(refused) == 3
    assert report["Message"].gone == 2


def test_a_daily_purge_comes_some_minutes_after_the_start_and_then_every_day(log, keep, game):
    keeper = keep(ModelCall=RetentionLimit(days=30))
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


def test_where_the_database_stays_busy_a_daily_purge_goes_on_later(log, keep, game, monkeypatch):
    keeper = keep(ModelCall=RetentionLimit(days=30))
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
    service.log_retention.stop()
    service.log_retention.retention = limits_in_force(KEEP_ALL)
    service.log_retention.start()
    planned = len(game.clock.getDelayedCalls())
    with CaptureQueriesContext(connection) as asked:
        settle(game, 3 * DAY_S)
    assert not asked.captured_queries
    assert len(game.clock.getDelayedCalls()) <= planned


def test_a_purge_ends_when_the_server_goes_down(log, keep, game):
    for age in (50, 40, 30):
        log.call(age, None)
    keeper = keep(ModelCall=RetentionLimit(days=1))
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

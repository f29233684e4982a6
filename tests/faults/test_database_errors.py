"""Every class of Django's database errors, at reads and writes that talk depends on."""

from contextlib import contextmanager

import pytest
from django.db import connection
from twisted.internet.defer import Deferred

from tests.faults.django_errors import ERRORS
from tests.faults.process_scene import pass_time
from tests.faults.seen import ends, seems_sane, tracebacks
from tests.scripted import call

pytestmark = pytest.mark.game


UNHEARD = "(Mira did not catch that. Please say it again.)"
DAY_S = 86_400
FEW = ERRORS[2::3]  # of the driver and of the server; all classes are caught in one place


@contextmanager
def failing(error, start, times=10_000):
    """Let statements on our tables that begin with some words fail."""
    left = [times]

    def refuse(execute, sql, params, many, context):
        if left[0] and sql.startswith(start) and '"evennia_ai_' in sql:
            left[0] -= 1
            raise error("the server closed the connection")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(refuse):
        yield


@pytest.mark.parametrize("error", ERRORS)
def test_a_line_that_the_database_refused_once_is_answered_a_moment_later(
    game, ann, mira, error, logged
):
    game.model.add(call("say", text="One and two."))
    with failing(error, 'INSERT INTO "evennia_ai_event"', times=1):
        ann.do("say Mira, one")
    ann.do("say Mira, two")
    pass_time(game, 3)
    assert ann.last() == 'Mira says, "One and two."'
    assert ends() == {"Mira, one": "answered", "Mira, two": "answered"}
    assert not tracebacks(logged)


@pytest.mark.parametrize("error", FEW)
def test_a_line_is_heard_although_nothing_can_be_read_or_written(game, ann, mira, error, logged):
    game.model.add(call("say", text="One."))
    with failing(error, ("SELECT", "INSERT", "UPDATE"), times=8):
        ann.do("say Mira, one")
        pass_time(game, 20)
    assert ann.last() == 'Mira says, "One."'
    assert not tracebacks(logged)


@pytest.mark.parametrize("error", FEW)
def test_after_a_line_that_cannot_be_stored_at_all_the_assistant_hears_the_next(
    game, ann, mira, error
):
    with failing(error, 'INSERT INTO "evennia_ai_event"'):
        ann.do("say Mira, one")
        pass_time(game, 20)
    assert ann.last() == UNHEARD
    game.model.add(call("say", text="Two."))
    ann.do("say Mira, two")
    pass_time(game, 3)
    assert ann.last() == 'Mira says, "Two."'
    assert seems_sane(ann)


@pytest.mark.parametrize("error", FEW)
def test_a_tick_that_the_database_refused_is_tried_again_by_itself(game, ann, mira, error):
    game.model.add(call("say", text="One."))
    ann.do("say Mira, one")
    with failing(error, 'SELECT "evennia_ai_event"', times=3):
        pass_time(game, 3)
    game.service.timer.stop()  # nobody else wakes it
    pass_time(game, 20)
    assert ann.last() == 'Mira says, "One."'


@pytest.mark.parametrize("error", FEW)
def test_a_start_at_which_nothing_can_be_read_is_made_good(game, ann, mira, error):
    game.model.add(Deferred(), call("say", text="Back."))
    ann.do("say Mira, one")
    game.run(1)
    service = game.next_process(mira.assistant)
    try:
        with failing(error, ("SELECT", "UPDATE"), times=4):
            service.resume()
            pass_time(game, 1)
        pass_time(game, 10)
        assert ann.last() == 'Mira says, "Back."'
        assert ends() == {"Mira, one": "answered"}
    finally:
        service.stopService()

"""The clock of all planned work, when somebody sets the clock of the machine."""

import time

import pytest
from twisted.internet.selectreactor import SelectReactor

from evennia_ai.scheduling import wall_seconds
from evennia_ai.services.assistant_service import steady

HOUR_S = 3_600


@pytest.fixture
def clock():
    found = steady(SelectReactor())
    yield found
    found.disconnectAll()
    found.removeAll()


@pytest.mark.parametrize("jump_s", [-24 * HOUR_S, -2, 24 * HOUR_S])
def test_planned_calls_come_in_time_when_the_clock_is_set(clock, monkeypatch, jump_s):
    done, real, began = [], time.time, time.monotonic()
    clock.callLater(0.1, done.append, 1)
    monkeypatch.setattr(time, "time", lambda: real() + jump_s)
    while not done and time.monotonic() < began + 120:
        clock.iterate(0.02)
    assert done
    assert time.monotonic() - began >= 0.1


def test_the_time_of_day_is_the_machines(clock, monkeypatch):
    assert wall_seconds(clock) == pytest.approx(clock.seconds(), abs=1)
    monkeypatch.setattr(time, "time", lambda: 5.0)
    assert wall_seconds(clock) == 5.0

"""The clock of all planned work, when somebody sets the clock of the machine."""

import time

import pytest
from twisted.internet.selectreactor import SelectReactor
from twisted.internet.task import LoopingCall

from evennia_ai.scheduling import TimeSlices, wall_seconds
from evennia_ai.services.steady_clock import SteadyClock

HOUR_S = 3_600


class SetClock:
    """A reactor, and the machine's time by which it goes."""

    def __init__(self):
        self.offset = 0.0
        self.reactor = SelectReactor()
        self.reactor.seconds = lambda: time.time() + self.offset

    def run_until(self, done, seconds=2.0):
        """Let the reactor work until something is done, for some real seconds at most."""
        until = time.monotonic() + seconds
        while not done() and time.monotonic() < until:
            self.reactor.iterate(0.02)
        return bool(done())


@pytest.fixture
def machine():
    found = SetClock()
    yield found
    found.reactor.disconnectAll()
    found.reactor.removeAll()


@pytest.fixture
def clock(machine):
    found = SteadyClock(machine.reactor.callFromThread)
    found.start()
    yield found
    found.stop()


@pytest.mark.parametrize("jump_s", [-2, -HOUR_S, -24 * HOUR_S, 24 * HOUR_S])
def test_work_in_slices_goes_on_when_the_clock_is_set(machine, clock, jump_s):
    done = []
    slices = TimeSlices(clock)
    slices.put(done.append, 1)
    machine.offset += jump_s
    assert machine.run_until(lambda: done == [1])
    slices.put(done.append, 2)
    assert machine.run_until(lambda: done == [1, 2])


def test_on_the_reactor_alone_it_would_not(machine):
    done = []
    slices = TimeSlices(machine.reactor)
    slices.put(done.append, 1)
    machine.offset -= HOUR_S
    assert not machine.run_until(lambda: done, seconds=0.1)


@pytest.mark.parametrize("jump_s", [-HOUR_S, HOUR_S])
def test_a_deadline_keeps_its_length(machine, clock, jump_s):
    rung = []
    began = time.monotonic()
    clock.callLater(0.1, lambda: rung.append(time.monotonic() - began))
    machine.offset += jump_s
    assert machine.run_until(lambda: rung)
    assert 0.1 <= rung[0] < 1.0


def test_calls_come_in_the_order_of_their_times(machine, clock):
    done = []
    for delay_s in (0.06, 0.0, 0.03):
        clock.callLater(delay_s, done.append, delay_s)
    assert machine.run_until(lambda: len(done) == 3)
    assert done == [0.0, 0.03, 0.06]


def test_a_cancelled_call_is_not_made_and_one_put_off_comes_later(machine, clock):
    done = []
    clock.callLater(0.01, done.append, "cancelled").cancel()
    later = clock.callLater(0.01, done.append, "later")
    later.reset(0.05)
    sooner = clock.callLater(HOUR_S, done.append, "sooner")
    sooner.reset(0.02)
    assert machine.run_until(lambda: len(done) == 2)
    assert done == ["sooner", "later"]


def test_an_error_stops_neither_the_next_call_nor_a_loop(machine, clock):
    rounds = []
    loop = LoopingCall(rounds.append, 1)
    loop.clock = clock
    loop.start(0.01)
    clock.callLater(0, lambda: 1 / 0)
    assert machine.run_until(lambda: len(rounds) >= 3)
    loop.stop()


def test_calls_planned_before_the_start_are_made_after_it(machine):
    clock, done = SteadyClock(machine.reactor.callFromThread), []
    clock.callLater(0.01, done.append, 1)
    clock.start()
    assert machine.run_until(lambda: done)
    clock.stop()


def test_the_machines_time_is_told_apart(machine, clock):
    assert abs(wall_seconds(clock) - time.time()) < 1
    assert abs(clock.seconds() - time.time()) < 1


def test_work_that_goes_on_gets_one_slice_between_two_looks_at_clients(machine, clock):
    looks, done = [], []

    def work():
        done.append(len(looks))
        time.sleep(0.001)
        if len(done) < 100:
            clock.callLater(0, work)

    clock.callLater(0, work)
    for timer in range(20):
        clock.callLater(0.002 * timer, int)
    while len(done) < 100 and len(looks) < 2_000:
        looks.append(machine.reactor.iterate(0.02))
    assert max(map(done.count, done)) == 1

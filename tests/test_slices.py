"""Work in slices."""

import pytest
from twisted.internet.task import Clock
from twisted.logger import globalLogPublisher

from evennia_ai.scheduling import TimeSlices


class Stopwatch:
    """Seconds that go by only when work is done."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class ReactorTurns(Clock):
    """A clock that notes how much was done each time something was put off."""

    def __init__(self, done):
        super().__init__()
        self.done = done
        self.breaks = []

    def callLater(self, *args, **kwargs):  # noqa: N802  # as in Twisted
        self.breaks.append(len(self.done))
        return super().callLater(*args, **kwargs)


def make(cost_s=0.004):
    done = []
    clock, watch = ReactorTurns(done), Stopwatch()

    def work(name):
        watch.now += cost_s
        done.append(name)

    return clock, TimeSlices(clock, 0.01, watch), work, done


def test_nothing_is_done_at_once():
    clock, slices, work, done = make()
    slices.put(work, 1)
    assert done == []
    clock.advance(0)
    assert done == [1]
    assert clock.getDelayedCalls() == []


def test_a_slice_ends_when_its_time_is_up_and_the_rest_comes_in_order():
    clock, slices, work, done = make(cost_s=0.004)
    for number in range(7):
        slices.put(work, number)
    clock.advance(0)
    assert clock.breaks == [0, 3, 6]
    assert done == list(range(7))


def test_a_long_piece_is_alone_in_its_slice():
    clock, slices, work, _ = make(cost_s=1.0)
    slices.put(work, 1)
    slices.put(work, 2)
    clock.advance(0)
    assert clock.breaks == [0, 1]


def test_work_put_by_work_waits_for_its_turn():
    clock, slices, work, done = make(cost_s=0.0)
    slices.put(lambda: slices.put(work, "later"))
    slices.put(work, "first")
    clock.advance(0)
    assert done == ["first", "later"]


def test_a_piece_that_fails_is_logged_and_the_next_is_done():
    events = []
    globalLogPublisher.addObserver(events.append)
    try:
        clock, slices, work, done = make()
        slices.put(lambda: 1 / 0)
        slices.put(work, "next")
        clock.advance(0)
    finally:
        globalLogPublisher.removeObserver(events.append)
    assert done == ["next"]
    assert [event["log_format"] for event in events] == [
        "a piece of work in a time slice failed; the next one runs"
    ]


def test_another_thread_wakes_the_reactor_once_for_all_it_puts():
    clock, slices, work, done = make()
    wakes = []
    for number in range(5):
        slices.put_from_thread(wakes.append, work, number)
    assert (len(wakes), done, clock.breaks) == (1, [], [])
    wakes.pop()()
    assert done == [0, 1, 2]
    clock.advance(0)
    assert done == list(range(5))
    slices.put_from_thread(wakes.append, work, "next")
    assert len(wakes) == 1


def test_what_another_thread_puts_beside_planned_work_comes_after_it_and_wakes_nobody():
    clock, slices, work, done = make()
    slices.put(work, "planned")
    slices.put_from_thread(lambda wake: done.append("woken"), work, "other")
    clock.advance(0)
    assert done == ["planned", "other"]


def test_what_another_thread_puts_while_a_slice_runs_is_not_left_behind():
    clock, slices, work, done = make(cost_s=1.0)
    wakes = []
    slices.put(lambda: slices.put_from_thread(wakes.append, work, "other"))
    slices.put(work, "long")
    clock.advance(0)
    assert (done, wakes) == (["long", "other"], [])


def test_a_wake_that_finds_the_work_done_or_planned_changes_nothing():
    clock, slices, work, done = make()
    wakes = []
    slices.put_from_thread(wakes.append, work, 1)
    slices.put(work, 2)
    wakes.pop()()
    assert done == []
    clock.advance(0)
    assert done == [1, 2]


def test_an_interrupt_does_not_stop_what_comes_later():
    clock, slices, work, done = make()

    def interrupt():
        raise KeyboardInterrupt

    slices.put(interrupt)
    with pytest.raises(KeyboardInterrupt):
        clock.advance(0)
    slices.put(work, "next")
    clock.advance(0)
    assert done == ["next"]

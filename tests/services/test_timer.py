"""The one timer of all assistants: when it does its work, and when it stands still."""

import pytest
from twisted.internet.task import Clock

from evennia_ai.errors import StoreUnavailable
from evennia_ai.services.timer import AGAIN_S, AssistantTimer

KEY, HOUR_S = ("sleep", 1), 3_600.0


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def queue():
    """Return a list that the timer puts its work into; `run` does it."""
    return []


@pytest.fixture
def timer(clock, queue):
    return AssistantTimer(clock, queue.append)


@pytest.fixture
def run(clock, queue):
    """Let some seconds pass, doing what was queued in each."""

    def run(seconds):
        for _ in range(int(seconds)):
            clock.advance(1)
            while queue:
                queue.pop(0)()

    return run


@pytest.fixture
def done(clock):
    """Return a list of the seconds at which the work of `again_in` was done."""
    return []


@pytest.fixture
def again_in(clock, done):
    """Return work that wants to be done again in some seconds."""

    def make(*waits):
        left = list(waits)

        def work():
            done.append(clock.seconds())
            return left.pop(0) if left else None

        return work

    return make


def test_work_is_done_when_it_says_until_it_says_never(timer, run, done, again_in):
    timer.keep(KEY, 10, again_in(HOUR_S, 5))
    run(2 * HOUR_S)
    assert done == [10, 10 + HOUR_S, 15 + HOUR_S]
    assert KEY not in timer.entries and not timer.loop.running


def test_what_happens_brings_work_forward_and_never_puts_it_off(timer, run, done, again_in):
    work = again_in(HOUR_S, HOUR_S)
    timer.keep(KEY, 10, work)
    run(5)
    timer.keep(KEY, 10, work)
    run(5)
    assert done == [10]
    run(90)
    timer.keep(KEY, 10, work)
    run(9)
    assert done == [10]
    run(1)
    assert done == [10, 110]


def test_new_work_may_be_looked_at_sooner(timer, run, done, again_in):
    timer.keep(KEY, 60, again_in(), first_s=0.0)
    run(1)
    assert done == [1]


def test_a_clock_set_back_puts_nothing_off(timer, clock, run, done, again_in):
    clock.advance(10 * HOUR_S)
    timer.keep(KEY, 60, again_in())
    clock.rightNow -= 5 * HOUR_S
    timer.keep(("tick", 1), 30, lambda: None)  # something happens
    run(2)
    assert len(done) == 1


def test_what_is_due_is_queued_once_and_not_done_at_once(timer, clock, queue, done, again_in):
    for number in range(3):
        timer.keep(("sleep", number), 5, again_in())
    for _ in range(7):
        clock.advance(1)
    assert len(queue) == 3 and not done
    assert timer.loop.running
    for work in queue:
        work()
    assert len(done) == 3 and not timer.loop.running


def test_what_waits_in_a_full_queue_is_not_queued_again(timer, clock, queue, again_in):
    timer.keep(KEY, 60, again_in(60), first_s=0.0)
    for _ in range(5):
        clock.advance(1)
    assert len(queue) == 1


@pytest.mark.parametrize("error", [StoreUnavailable("busy"), ZeroDivisionError])
def test_work_that_fails_is_done_again_later_and_the_rest_all_the_same(
    timer, run, done, again_in, error
):
    failed = []

    def fail():
        failed.append(error)
        raise error

    timer.keep("broken", 5, fail)
    timer.keep(KEY, 5, again_in())
    run(5)
    assert (len(failed), len(done)) == (1, 1)
    run(AGAIN_S)
    assert len(failed) == 2


def test_after_a_stop_nothing_is_done_not_even_what_was_queued(
    timer, clock, queue, run, done, again_in
):
    timer.keep(KEY, 1, again_in())
    clock.advance(1)
    timer.stop()
    run(10)
    assert not done and not timer.loop.running and not clock.getDelayedCalls()

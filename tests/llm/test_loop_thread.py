"""The loop thread: results cross over safely, and nothing of it can hold an exit."""

import asyncio
import contextlib
import gc
import subprocess
import sys
import threading
import warnings

import pytest
from twisted.internet.defer import CancelledError
from twisted.logger import globalLogPublisher

from evennia_ai.errors import ProviderUnavailable
from evennia_ai.llm.loop_thread import LoopThread


@pytest.fixture
def logged():
    """Everything Twisted logs during the test, rubbish collected."""
    events = []
    globalLogPublisher.addObserver(events.append)
    yield lambda: (gc.collect(), events)[1]
    globalLogPublisher.removeObserver(events.append)


async def answer(value):
    return value


async def hang():
    await asyncio.Event().wait()


def test_a_result_is_delivered_in_the_callers_thread(pump, loop_thread):
    async def where():
        return threading.current_thread()

    deferred = loop_thread.submit(where())
    delivered_in = []
    deferred.addCallback(
        lambda ran_in: (delivered_in.append(threading.current_thread()), ran_in)[1]
    )
    ran_in = pump.wait(deferred)
    assert delivered_in == [threading.current_thread()]
    assert ran_in is not threading.current_thread()
    assert ran_in.daemon


def test_what_a_coroutine_raises_is_what_its_deferred_fails_with(pump, loop_thread):
    async def broken():
        raise LookupError("gone")

    error = pump.error(loop_thread.submit(broken()))
    assert isinstance(error, LookupError)
    assert str(error) == "gone"


def test_a_coroutine_that_is_cancelled_from_within_fails_with_cancelled(pump, loop_thread):
    async def give_up():
        raise asyncio.CancelledError

    assert isinstance(pump.error(loop_thread.submit(give_up())), CancelledError)


def test_cancelling_the_deferred_cancels_the_task(pump, loop_thread):
    started, cancelled = threading.Event(), threading.Event()

    async def work():
        started.set()
        try:
            await hang()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    deferred = loop_thread.submit(work())
    assert started.wait(10)
    deferred.cancel()
    assert isinstance(pump.error(deferred), CancelledError)
    assert cancelled.wait(10)


def test_a_result_that_comes_after_the_cancel_is_dropped(pump, loop_thread, eventually, logged):
    deferred = loop_thread.submit(answer(1))
    eventually(lambda: not pump.jobs.empty())
    deferred.cancel()
    assert isinstance(pump.error(deferred), CancelledError)
    function, args = pump.jobs.get()
    function(*args)
    assert logged() == []


@pytest.mark.parametrize("stopped", [False, True], ids=["before start", "after stop"])
def test_nothing_can_be_submitted_while_it_does_not_run(pump, stopped):
    loop_thread = LoopThread(pump.call_from_thread)
    if stopped:
        loop_thread.start()
        loop_thread.stop()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        error = pump.error(loop_thread.submit(answer(1)))
        gc.collect()
    assert isinstance(error, ProviderUnavailable)
    assert "not running" in str(error)
    assert warned == [], "the coroutine was never awaited and never closed"


def test_stop_fails_what_is_pending_with_cancelled_and_ends_the_thread(pump, loop_thread):
    ends = []

    async def work():
        try:
            await hang()
        finally:
            ends.append(1)

    pending = [loop_thread.submit(work()) for _ in range(100)]
    errors = []
    for deferred in pending:
        deferred.addErrback(lambda failure: errors.append(failure.type))
    thread = pump.wait(loop_thread.submit(current_thread()))
    loop_thread.stop()
    assert errors == [CancelledError] * 100
    thread.join(10)
    assert not thread.is_alive()
    assert len(ends) == 100


def test_stop_does_not_wait_for_a_loop_that_is_held_up(loop_thread):
    entered, release, left = threading.Event(), threading.Event(), threading.Event()

    async def hold_the_loop():
        entered.set()
        release.wait(20)
        left.set()

    failures = []
    loop_thread.submit(hold_the_loop()).addErrback(failures.append)
    assert entered.wait(10)
    loop_thread.stop()
    assert [failure.type for failure in failures] == [CancelledError]
    assert not left.is_set()
    release.set()


def test_stop_logs_nothing_about_calls_that_nobody_waits_for(pump, loop_thread, logged):
    loop_thread.submit(hang())
    thread = pump.wait(loop_thread.submit(current_thread()))
    loop_thread.stop()
    thread.join(10)
    assert logged() == []


def test_stop_logs_nothing_about_tasks_that_refuse_to_end(pump, loop_thread, logged, caplog):
    async def stubborn():
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await hang()

    loop_thread.submit(stubborn())
    thread = pump.wait(loop_thread.submit(current_thread()))
    loop_thread.stop()
    thread.join(10)
    assert not thread.is_alive()
    assert logged() == []
    assert caplog.records == []


def test_clean_ups_run_after_the_cancelled_tasks_have_ended(pump, loop_thread):
    order = []

    async def work():
        try:
            await hang()
        finally:
            order.append("task")

    async def cleanup():
        order.append("clean-up")

    loop_thread.on_stop(cleanup)
    loop_thread.submit(work())
    thread = pump.wait(loop_thread.submit(current_thread()))
    loop_thread.stop()
    thread.join(10)
    assert order == ["task", "clean-up"]


def test_a_clean_up_that_hangs_or_breaks_does_not_keep_the_thread(pump, loop_thread, caplog):
    async def broken():
        raise LookupError

    loop_thread.on_stop(hang)
    loop_thread.on_stop(broken)
    thread = pump.wait(loop_thread.submit(current_thread()))
    loop_thread.stop()
    thread.join(10)
    gc.collect()
    assert not thread.is_alive()
    assert caplog.records == []


def test_a_cancelled_task_may_finish_closing_while_the_thread_stops(pump, loop_thread):
    """A second cancel in the middle of a clean-up would leave a connection open."""
    closed = threading.Event()

    async def work():
        try:
            await hang()
        finally:
            await asyncio.sleep(0.005)
            closed.set()

    loop_thread.submit(work())
    thread = pump.wait(loop_thread.submit(current_thread()))
    loop_thread.stop()
    thread.join(10)
    assert closed.is_set()


def test_blocking_work_runs_beside_the_loop_and_hands_back_results_and_errors(pump, loop_thread):
    async def work():
        loop = asyncio.get_running_loop()
        name = await loop.run_in_executor(None, lambda: threading.current_thread().daemon)
        with pytest.raises(LookupError):
            await loop.run_in_executor(None, {}.__getitem__, "x")
        return name

    assert pump.wait(loop_thread.submit(work())) is True


EXIT = """
import asyncio, socket, sys, time
from evennia_ai.llm.loop_thread import LoopThread

socket.getaddrinfo = lambda *args, **options: time.sleep(3_600)
loop_thread = LoopThread(lambda function, *args: None)
loop_thread.start()

async def look_up():
    await asyncio.get_running_loop().getaddrinfo("example.org", 80)

for _ in range(3):
    loop_thread.submit(look_up())
time.sleep(0.2)
if sys.argv[1] == "stop":
    loop_thread.stop()
"""


@pytest.mark.parametrize("how", ["stop", "no stop"])
def test_a_hanging_dns_lookup_does_not_hold_the_exit(how):
    done = subprocess.run(
        [sys.executable, "-c", EXIT, how], timeout=300, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


async def current_thread():
    return threading.current_thread()

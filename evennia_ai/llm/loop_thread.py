"""An asyncio loop in one daemon thread, for libraries that know nothing of Twisted.

The rules, all of them there so that a server can exit at once (a server that is slow to exit does
not come back from a reload):

- every thread started here is a daemon, the helpers of the loop's executor among them;
- `LoopThread.stop` cancels, waits a moment for the loop to tidy up, and goes on without it;
- results cross back by ``call_from_thread`` only, and are dropped where nobody waits any more.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar

from twisted.internet.defer import CancelledError, Deferred, fail
from twisted.python.failure import Failure

from evennia_ai.errors import ProviderUnavailable

T = TypeVar("T")
Job = tuple["Future[Any]", Callable[[], Any]]
CallFromThread = Callable[..., object]
Cleanup = Callable[[], Awaitable[None]]

STOP_WAIT_S = 0.06
TIDY_WAIT_S = 0.03
HELPERS = 8


class Live(NamedTuple):
    """A loop and the thread it runs in."""

    loop: asyncio.AbstractEventLoop
    thread: threading.Thread


class LoopThread:
    """One daemon thread with an asyncio loop; coroutines go in, Deferreds come out.

    All methods are called from one thread, the reactor's.
    """

    def __init__(self, call_from_thread: CallFromThread) -> None:
        """``call_from_thread(f, *args)`` runs ``f`` in the reactor's thread."""
        self._call_from_thread = call_from_thread
        self._live: Live | None = None
        self._pending: dict[Deferred[Any], Future[Any]] = {}
        self._cleanups: list[Cleanup] = []
        self._stopped = False

    @property
    def running(self) -> bool:
        """True between `start` and `stop`."""
        return self._live is not None

    def start(self) -> None:
        """Open the loop and its thread; a second call changes nothing.

        Raises:
            RuntimeError: after `stop`; make a new one instead.
        """
        if self._stopped:
            raise RuntimeError("A LoopThread that was stopped cannot be started again.")
        if self._live is not None:
            return
        loop = asyncio.new_event_loop()
        loop.set_default_executor(DaemonExecutor(HELPERS))
        thread = threading.Thread(
            target=self._run, args=(loop,), name="evennia-ai-loop", daemon=True
        )
        thread.start()
        self._live = Live(loop, thread)

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> Deferred[T]:
        """Run ``coroutine`` in the loop.

        Fires in the reactor's thread with what it returns; fails with what it raises, and with
        ProviderUnavailable where the loop is not running. Cancelling cancels the task.
        """
        if self._live is None:
            coroutine.close()
            return fail(ProviderUnavailable("The thread that talks to models is not running."))
        future = asyncio.run_coroutine_threadsafe(coroutine, self._live.loop)
        deferred: Deferred[T] = Deferred(self._abandon)
        self._pending[deferred] = future
        future.add_done_callback(lambda done: self._call_from_thread(self._deliver, deferred, done))
        return deferred

    def on_stop(self, cleanup: Cleanup) -> None:
        """Await ``cleanup()`` in the loop's last moments; it gets `TIDY_WAIT_S` seconds at most."""
        self._cleanups.append(cleanup)

    def stop(self) -> None:
        """Cancel what runs and end the thread; returns within about `STOP_WAIT_S` seconds.

        Every Deferred still pending fails with CancelledError; where nobody handles that, nothing
        is logged. A loop that is held up by its own work is left behind. Calling it twice is fine.
        """
        live, self._live, self._stopped = self._live, None, True
        if live is None:
            return
        for deferred in list(self._pending):
            deferred.cancel()
            deferred.addErrback(_forget_cancelled)
        live.loop.call_soon_threadsafe(live.loop.stop)
        live.thread.join(STOP_WAIT_S)

    def _abandon(self, deferred: Deferred[Any]) -> None:
        """The Deferred's canceller; Twisted then fails it with CancelledError."""
        self._pending.pop(deferred).cancel()

    def _deliver(self, deferred: Deferred[Any], done: Future[Any]) -> None:
        """Hand a result over, in the reactor's thread, unless it was abandoned meanwhile."""
        if self._pending.pop(deferred, None) is None:
            return
        if done.cancelled():
            deferred.errback(CancelledError())
            return
        error = done.exception()
        if error is None:
            deferred.callback(done.result())
        else:
            deferred.errback(Failure(error))

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        """The thread's whole life."""
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
            loop.run_until_complete(_tidy(self._cleanups))
        finally:
            loop.close()


class DaemonExecutor(ThreadPoolExecutor):
    """An executor whose threads nobody waits for.

    The interpreter joins the threads of every ordinary ThreadPoolExecutor before it exits, so that
    one hanging DNS lookup (asyncio does them in its executor) would hold a reload. A subclass,
    because ``set_default_executor`` takes nothing else.
    """

    def __init__(self, max_workers: int) -> None:
        super().__init__(max_workers)
        self._limit = max_workers
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._helpers: list[threading.Thread] = []
        self._unfinished = 0
        self._guard = threading.Lock()

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Run ``fn`` in a daemon thread; while all are busy another starts, up to the limit."""
        future: Future[T] = Future()
        with self._guard:
            self._unfinished += 1
            if len(self._helpers) < min(self._unfinished, self._limit):
                helper = threading.Thread(target=self._work, name="evennia-ai-helper", daemon=True)
                self._helpers.append(helper)
                helper.start()
        self._jobs.put((future, lambda: fn(*args, **kwargs)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let idle threads end; those at work are left behind, whatever ``wait`` says."""
        for _ in self._helpers:
            self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            future, call = job
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(call())
                except BaseException as error:  # noqa: BLE001  # it is whoever's waits for it
                    future.set_exception(error)
            with self._guard:
                self._unfinished -= 1
            del job, future, call


async def _tidy(cleanups: list[Cleanup]) -> None:
    """Let cancelled tasks end, then run the clean-ups: for a bounded time, without complaint."""
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _loop, _context: None)
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        if not task.cancelling():  # a second cancel would interrupt the closing of a connection
            task.cancel()
    for batch in (tasks, {asyncio.ensure_future(cleanup()) for cleanup in cleanups}):
        if batch:
            await asyncio.wait(batch, timeout=TIDY_WAIT_S)


def _forget_cancelled(failure: Failure) -> None:
    failure.trap(CancelledError)

"""An asyncio loop in one daemon thread, for libraries that do not use Twisted.

Three rules let the server exit at once. A server that exits slowly does not come back from a
reload.

- Every thread started here is a daemon, as are the threads of the loop's executor.
- `LoopThread.stop` cancels all tasks, waits `STOP_WAIT_S` for the loop to end, and then leaves it.
- Results return by ``call_from_thread`` only, and are dropped if their Deferred was cancelled.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from twisted.internet.defer import CancelledError, Deferred, fail
from twisted.python.failure import Failure

from evennia_ai.errors import ProviderUnavailable

T = TypeVar("T")
Cleanup = Callable[[], Awaitable[None]]

STOP_WAIT_S = 0.06
CLEANUP_WAIT_S = 0.03


class LoopThread:
    """Runs coroutines as Deferreds in a daemon thread; only the reactor's thread may call it."""

    def __init__(self, call_from_thread: Callable[..., object]) -> None:
        """Set up; ``call_from_thread(f, *args)`` must run ``f`` in the reactor's thread."""
        self.call_from_thread = call_from_thread
        self._live: tuple[asyncio.AbstractEventLoop, threading.Thread] | None = None
        self._pending: dict[Deferred[Any], Future[Any]] = {}  # in the reactor's thread
        self._cleanups: list[Cleanup] = []
        self._stopped = False

    def start(self) -> None:
        """Start the loop and its thread, unless they run; raise RuntimeError after `stop`."""
        if self._stopped:
            raise RuntimeError("A LoopThread that was stopped cannot be started again.")
        if self._live is not None:
            return
        loop = asyncio.new_event_loop()
        loop.set_default_executor(DaemonExecutor())
        name = "evennia-ai-loop"
        thread = threading.Thread(target=self._run, args=(loop,), name=name, daemon=True)
        thread.start()
        self._live = loop, thread

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> Deferred[T]:
        """Run ``coroutine`` in the loop.

        Fires in the reactor's thread with its result. Fails with its exception, and with
        ProviderUnavailable if the loop is not running. Cancelling cancels the task.
        """
        if self._live is None or self._stopped:
            coroutine.close()
            return fail(ProviderUnavailable("The thread for model calls is not running."))
        deferred: Deferred[T] = Deferred(self._abandon)
        future = asyncio.run_coroutine_threadsafe(_outcome(coroutine), self._live[0])
        self._pending[deferred] = future
        future.add_done_callback(partial(self.call_from_thread, self._deliver, deferred))
        return deferred

    def on_stop(self, cleanup: Cleanup) -> None:
        """Await ``cleanup()`` when the loop ends, for at most `CLEANUP_WAIT_S` seconds."""
        self._cleanups.append(cleanup)

    def stop(self) -> None:
        """Cancel all tasks and end the thread; return within about `STOP_WAIT_S` seconds.

        Every pending Deferred fails with CancelledError, which is not logged if nobody handles it.
        A loop that is blocked by its own work is left behind. A second call does nothing.
        """
        self._stopped = True
        if self._live is None:
            return
        for deferred in list(self._pending):
            deferred.cancel()
            deferred.addErrback(Failure.trap, CancelledError)
        (loop, thread), self._live = self._live, None
        loop.call_soon_threadsafe(loop.stop)
        thread.join(STOP_WAIT_S)

    def _abandon(self, deferred: Deferred[Any]) -> None:
        """Cancel a Deferred's task; Twisted then fails the Deferred with CancelledError."""
        self._pending.pop(deferred).cancel()

    def _deliver(self, deferred: Deferred[Any], future: Future[Any]) -> None:
        """Fire a Deferred in the reactor's thread, unless it was cancelled meanwhile."""
        if self._pending.pop(deferred, None) is None:
            return
        if future.cancelled():
            deferred.errback(Failure(CancelledError()))
        else:
            deferred.callback(future.result())  # a Failure, if the coroutine raised

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        """Run the loop until it is stopped, then clean up; the thread's target."""
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
            loop.run_until_complete(_clean_up(self._cleanups))
        finally:
            loop.close()


class DaemonExecutor(ThreadPoolExecutor):
    """An executor with a daemon thread for each call, which the interpreter does not join at exit.

    It joins the threads of an ordinary ThreadPoolExecutor, so one hanging DNS lookup, which asyncio
    makes in its executor, would block a reload. ``set_default_executor`` accepts only a subclass.
    """

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        future: Future[T] = Future()

        def work() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(fn(*args, **kwargs))
                except BaseException as error:  # noqa: BLE001  # it is the caller's
                    future.set_exception(error)

        threading.Thread(target=work, name="evennia-ai-worker", daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the threads behind, whatever ``wait`` is."""


async def _outcome(coroutine: Coroutine[Any, Any, T]) -> T | Failure:
    """Return a coroutine's result, or its exception: nobody may be left to hear of that."""
    try:
        return await coroutine
    except Exception as error:  # noqa: BLE001  # it is the caller's
        return Failure(error)


async def _clean_up(cleanups: list[Cleanup]) -> None:
    """Wait for cancelled tasks, then run the clean-ups, for a limited time each."""
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _loop, _context: None)
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        if not task.cancelling():  # a second cancel would interrupt the closing of a connection
            task.cancel()
    for batch in (tasks, {asyncio.ensure_future(cleanup()) for cleanup in cleanups}):
        if batch:
            await asyncio.wait(batch, timeout=CLEANUP_WAIT_S)

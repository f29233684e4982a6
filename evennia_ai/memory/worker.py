"""One daemon thread for a library that is not thread-safe and may hang.

The server never waits for the thread: a server that is slow to exit does not come back from a
reload.
"""

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from twisted.internet.defer import CancelledError, Deferred, fail
from twisted.logger import Logger
from twisted.python.failure import Failure

from evennia_ai.errors import MemoryUnavailable, TurnAborted
from evennia_ai.scheduling import Clock

log = Logger()

STOP_WAIT_S = 0.05
TOO_SLOW = "It does not answer in time."
Job = tuple[Callable[[], Any], Deferred[Any], float]  # a call, its Deferred, its time in seconds


class Worker:
    """Runs calls one after the other in a thread, which starts with the first call.

    Only the reactor's thread may use it, and ``call_from_thread(f, *args)`` runs ``f`` there. A
    call that takes too long fails, and so do all calls behind it, until the thread returns from it;
    meanwhile ``stuck`` is True.
    """

    def __init__(self, clock: Clock, call_from_thread: Callable[..., object], name: str) -> None:
        self._clock = clock
        self._call_from_thread = call_from_thread
        self._name = name
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()  # None ends the thread
        self._pending: dict[Deferred[Any], Any] = {}  # with the alarm of what has begun
        self._thread: threading.Thread | None = None
        self._stopped = False
        self._cleanup: Callable[[], object] = int
        self.stuck = False

    def submit(self, call: Callable[[], Any], timeout_s: float) -> Deferred[Any]:
        """Run a call in the thread, after all earlier ones.

        ``timeout_s`` is the longest time the call may take once it has begun. Fires with what the
        call returns; fails with what it raises, with MemoryUnavailable if it takes too long, and
        with TurnAborted if the worker is stopped. Cancelling abandons it.
        """
        if self._stopped:
            return fail(TurnAborted("The server goes down."))
        if self.stuck:
            return fail(MemoryUnavailable(TOO_SLOW))
        deferred: Deferred[Any] = Deferred(self._forget)
        self._pending[deferred] = None
        self._jobs.put((call, deferred, timeout_s))
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
        return deferred

    def stop(self, cleanup: Callable[[], object]) -> None:
        """Fail all waiting calls and end the thread after ``cleanup()``.

        Returns within `STOP_WAIT_S` seconds: a thread that is inside a call is left behind. A
        second call changes nothing.
        """
        if self._stopped:
            return
        self._stopped = True
        self._cleanup = cleanup
        for deferred in list(self._pending):
            self._settle(deferred, Failure(TurnAborted("The server goes down.")))
            # Callers have handled the server's stop; do not log it as unhandled.
            deferred.addErrback(Failure.trap, TurnAborted, CancelledError)
        if self._thread:
            self._jobs.put(None)
            self._thread.join(STOP_WAIT_S)

    # --- in the reactor's thread --------------------------------------------------------------

    def _begun(self, deferred: Deferred[Any], timeout_s: float) -> None:
        """Start the time-out of a call, unless it was given up."""
        if deferred in self._pending:
            self._pending[deferred] = self._clock.callLater(timeout_s, self._take_too_long)

    def _take_too_long(self) -> None:
        """Fail the call that the thread is in, whose time is over, and all calls behind it."""
        self.stuck = True
        for waiting in list(self._pending):
            self._settle(waiting, Failure(MemoryUnavailable(TOO_SLOW)))

    def _forget(self, deferred: Deferred[Any]) -> None:
        """Drop a call: its result is ignored, and if it has not begun, it never will."""
        alarm = self._pending.pop(deferred, None)
        if alarm is not None and alarm.active():
            alarm.cancel()

    def _settle(self, deferred: Deferred[Any], result: Any) -> None:
        """Fire a call's Deferred, unless the call was given up."""
        if deferred in self._pending:
            self._forget(deferred)
            deferred.callback(result)

    def _ended(self, deferred: Deferred[Any], result: Any) -> None:
        self.stuck = False
        self._settle(deferred, result)

    # --- in its own thread ----------------------------------------------------------------------

    def _run(self) -> None:
        while job := self._jobs.get():
            call, deferred, timeout_s = job
            if deferred not in self._pending:  # it was dropped
                continue
            self._call_from_thread(self._begun, deferred, timeout_s)
            try:
                result = call()
            except BaseException as raised:  # noqa: BLE001  # passed on to the caller
                result = Failure(raised)
            self._call_from_thread(self._ended, deferred, result)
            del job, call, deferred, result
        try:
            self._cleanup()
        except Exception:  # noqa: BLE001  # the process ends anyway
            log.debug("closing long-term memory failed")

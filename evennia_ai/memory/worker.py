"""One daemon thread for a library that is not thread-safe and may hang.

The server never waits for the thread: a server that is slow to exit does not come back from a
reload.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

from twisted.internet.defer import CancelledError, Deferred, fail
from twisted.logger import Logger
from twisted.python.failure import Failure

from evennia_ai.errors import MemoryUnavailable, TurnAborted
from evennia_ai.scheduling import Clock

log = Logger()

STOP_WAIT_S = 0.05


@dataclass(eq=False)
class Job:
    """One call for the thread; a job without one ends the thread."""

    call: Callable[[], Any] | None = None
    deferred: Deferred[Any] | None = None
    timeout_s: float = 0.0
    alarm: Any = None


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
        self._jobs: SimpleQueue[Job] = SimpleQueue()
        self._pending: dict[Job, None] = {}
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
            return fail(self._too_slow())
        deferred: Deferred[Any] = Deferred(lambda _: self._forget(job))
        job = Job(call, deferred, timeout_s)
        self._pending[job] = None
        self._jobs.put(job)
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
        for job in list(self._pending):
            self._fail(job, TurnAborted("The server goes down."))
        if self._thread:
            self._jobs.put(Job())
            self._thread.join(STOP_WAIT_S)

    # --- in the reactor's thread --------------------------------------------------------------

    def _begun(self, job: Job) -> None:
        """Start the time-out of a job, unless it was given up."""
        if job in self._pending:
            job.alarm = self._clock.callLater(job.timeout_s, self._took_too_long, job)

    def _took_too_long(self, job: Job) -> None:
        """Fail the job that the thread is in, whose time is over, and all jobs behind it."""
        job.alarm = None
        self.stuck = True
        for waiting in list(self._pending):
            self._fail(waiting, self._too_slow())

    def _too_slow(self) -> MemoryUnavailable:
        return MemoryUnavailable("It does not answer in time.")

    def _fail(self, job: Job, error: Exception) -> None:
        self._forget(job)
        if job.deferred and not job.deferred.called:
            job.deferred.errback(error)
            # Callers have handled the server's stop; do not log it as unhandled.
            job.deferred.addErrback(Failure.trap, TurnAborted, CancelledError)

    def _forget(self, job: Job) -> None:
        """Drop a job: its result is ignored, and if it has not begun, it never will."""
        self._pending.pop(job, None)
        if job.alarm:
            job.alarm.cancel()
            job.alarm = None

    def _ended(self, job: Job, result: Any, error: BaseException | None) -> None:
        """Fire a job's Deferred, unless the job was given up in the meantime."""
        self.stuck = False
        if job in self._pending and job.deferred:
            self._forget(job)
            if error:
                job.deferred.errback(error)
            else:
                job.deferred.callback(result)

    # --- in its own thread ----------------------------------------------------------------------

    def _run(self) -> None:
        while (job := self._jobs.get()).call is not None:
            if job not in self._pending:  # it was dropped
                continue
            self._call_from_thread(self._begun, job)
            try:
                result, error = job.call(), None
            except BaseException as raised:  # noqa: BLE001  # passed on to the caller
                result, error = None, raised
            self._call_from_thread(self._ended, job, result, error)
            del job, result, error
        try:
            self._cleanup()
        except Exception:  # noqa: BLE001  # the process ends anyway
            log.debug("closing long-term memory failed")

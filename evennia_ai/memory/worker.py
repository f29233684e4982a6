"""One daemon thread that does one thing after the other, for a library that must not be called from
two threads at once, and that may hang.

Nobody ever waits for the thread: a server that is slow to exit does not come back from a reload.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from queue import PriorityQueue
from typing import Any

from twisted.internet.defer import CancelledError, Deferred, fail
from twisted.logger import Logger
from twisted.python.failure import Failure

from evennia_ai.errors import MemoryUnavailable, TurnAborted
from evennia_ai.scheduling import Clock

log = Logger()

STOP_WAIT_S = 0.05
AT_ONCE, IN_ITS_TURN = 0, 1


@dataclass(order=True)
class Job:
    """One call. It is compared by when it is to be done."""

    priority: int
    number: int
    call: Callable[[], Any] | None = field(compare=False, default=None)
    deferred: Deferred[Any] | None = field(compare=False, default=None)
    timeout_s: Callable[[], float] = field(compare=False, default=float)
    given_up: bool = field(compare=False, default=False)
    alarm: Any = field(compare=False, default=None)


class Worker:
    """The thread, started with the first call. Its methods are called from the reactor's thread.

    A call's time counts from when it is begun. Where one takes too long it fails, and so does
    everything behind it, at once, until the thread is back: ``stuck``.

    Args:
        clock: for the time-outs.
        call_from_thread: ``call_from_thread(f, *args)`` runs ``f`` in the reactor's thread.
        name: the thread's.
    """

    def __init__(self, clock: Clock, call_from_thread: Callable[..., object], name: str) -> None:
        self._clock = clock
        self._call_from_thread = call_from_thread
        self._name = name
        self._jobs: PriorityQueue[Job] = PriorityQueue()
        self._numbers = count()
        self._pending: dict[int, Job] = {}
        self._thread: threading.Thread | None = None
        self._stopped = False
        self._cleanup: Callable[[], object] = int
        self._running: Job | None = None
        self.stuck = False

    def submit(
        self, call: Callable[[], Any], timeout_s: Callable[[], float], *, at_once: bool = False
    ) -> Deferred[Any]:
        """Have something called in the thread.

        Args:
            call: what to call; plain data in, plain data out.
            timeout_s: asked when it is begun.
            at_once: before everything else, since somebody waits for it; its time counts from now.

        Fires with what it returns; fails with what it raises, with MemoryUnavailable where it takes
        too long, and with TurnAborted where the worker is stopped. Cancelling abandons the call.
        """
        if self._stopped:
            return fail(TurnAborted("The server goes down."))
        if self.stuck:
            return fail(self._too_slow())
        deferred: Deferred[Any] = Deferred(lambda _: self._forget(job))
        priority = AT_ONCE if at_once else IN_ITS_TURN
        job = Job(priority, next(self._numbers), call, deferred, timeout_s)
        self._pending[job.number] = job
        if at_once:
            self._watch(job)
        self._jobs.put(job)
        self._start()
        return deferred

    def stop(self, cleanup: Callable[[], object]) -> None:
        """Fail what waits, and let the thread end when it can, after ``cleanup()``; returns within
        `STOP_WAIT_S` seconds. A thread inside a call is left behind. Calling it twice is fine."""
        if self._stopped:
            return
        self._stopped = True
        self._cleanup = cleanup
        for job in list(self._pending.values()):
            self._fail(job, TurnAborted("The server goes down."), forgive=True)
        if self._thread:
            self._jobs.put(Job(AT_ONCE, -1))
            self._thread.join(STOP_WAIT_S)

    # --- in the reactor's thread --------------------------------------------------------------

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()

    def _begun(self, job: Job) -> None:
        """The thread is at it."""
        self._running = job
        self._watch(job)

    def _watch(self, job: Job) -> None:
        """Its time counts from now, unless it did already."""
        if job.number in self._pending and job.alarm is None:
            job.alarm = self._clock.callLater(job.timeout_s(), self._took_too_long, job)

    def _took_too_long(self, job: Job) -> None:
        """Nobody waits for it any more, nor, if it has been begun, for what is behind it."""
        job.alarm = None
        self.stuck = job is self._running
        for other in list(self._pending.values()) if self.stuck else [job]:
            self._fail(other, self._too_slow())

    def _too_slow(self) -> MemoryUnavailable:
        return MemoryUnavailable("It does not answer in time.")

    def _fail(self, job: Job, error: Exception, forgive: bool = False) -> None:
        self._forget(job)
        if job.deferred and not job.deferred.called:
            job.deferred.errback(error)
            if forgive:  # whoever cares has heard of it by now
                job.deferred.addErrback(_forget_abortion)

    def _forget(self, job: Job) -> None:
        """Nobody waits for its result any more. Where it has not been begun it never will be."""
        job.given_up = True
        self._pending.pop(job.number, None)
        if job.alarm:
            job.alarm.cancel()
            job.alarm = None

    def _ended(self, job: Job, result: Any, error: BaseException | None) -> None:
        """A call has come back with a result or an error, maybe long after it was given up."""
        self._running, self.stuck = None, False
        if job.number in self._pending and job.deferred:
            self._forget(job)
            if error:
                job.deferred.errback(error)
            else:
                job.deferred.callback(result)

    # --- in its own thread ----------------------------------------------------------------------

    def _run(self) -> None:
        while (job := self._jobs.get()).call is not None:
            if job.given_up:
                continue
            self._call_from_thread(self._begun, job)
            try:
                result, error = job.call(), None
            except BaseException as raised:  # noqa: BLE001  # it is whoever's waits for it
                result, error = None, raised
            self._call_from_thread(self._ended, job, result, error)
            del job, result, error
        try:
            self._cleanup()
        except Exception:  # noqa: BLE001  # the process ends, and so does what it holds
            log.debug("closing long-term memory failed")


def _forget_abortion(failure: Failure) -> None:
    failure.trap(TurnAborted, CancelledError)

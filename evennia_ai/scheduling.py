"""Sharing the reactor: time slices, shared timers, and writes that are retried."""

import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from queue import Empty, Queue
from typing import Any, Protocol, TypeVar, cast

from twisted.internet.defer import Deferred, inlineCallbacks, maybeDeferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger
from twisted.python.failure import Failure

from evennia_ai.errors import AssistantError, StoreUnavailable

log = Logger()

T = TypeVar("T")
R = TypeVar("R")
# What an `inlineCallbacks` function returns whose Deferred fires with a T.
Coroutine = Generator[Deferred[Any], Any, T]

SLICE_S = 0.004
PAUSES_S = (0.05, 0.1, 0.2, 0.4, 0.8, 1.5)
PIECE = 20
REPLY_WAIT_S = 10.0

# Calls a function soon, after everything it was given before: `TimeSlices.put`.
Enqueue = Callable[[Callable[[], None]], object]


class DelayedCall(Protocol):
    """A call that a `Clock` will make: Twisted's IDelayedCall."""

    def active(self) -> bool: ...  # True until the call was made or cancelled
    def cancel(self) -> None: ...
    def delay(self, seconds: float, /) -> None: ...
    def getTime(self) -> float: ...  # noqa: N802  # Twisted's name


class Clock(Protocol):
    """Twisted's IReactorTime, as a type checker can read it."""

    def seconds(self) -> float: ...
    def callLater(  # noqa: N802  # Twisted's name
        self, delay: float, callable: Callable[..., object], /, *args: Any, **kw: Any
    ) -> DelayedCall: ...


def wall_seconds(clock: Clock) -> float:
    """Return the machine's time in unix seconds, by the clock's ``wall`` if it has that."""
    return float(getattr(clock, "wall", clock.seconds)())


class TimeSlices:
    """A queue of work that runs in order, for about ``slice_s`` seconds at a time.

    With 200 assistants spoken to within two seconds, the reactor was held for 1.5 s if each turn
    began at once, and for 0.06 s with slices of 10 ms (measured).
    """

    def __init__(
        self,
        clock: Clock,
        slice_s: float = SLICE_S,
        seconds: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._clock = clock
        self._slice_s = slice_s
        self._seconds = seconds
        self._queue: deque[tuple[Callable[..., object], tuple[Any, ...]]] = deque()
        self._planned = False  # or running
        self._woken = False  # by another thread

    @property
    def waiting(self) -> int:
        """Return how many pieces of work wait."""
        return len(self._queue)

    def put(self, work: Callable[..., object], *args: Any) -> None:
        """Call ``work(*args)`` soon, after everything put before it."""
        self._queue.append((work, args))
        self._plan()

    def put_from_thread(
        self, call_from_thread: Callable[..., object], work: Callable[..., object], *args: Any
    ) -> None:
        """As `put`, from another thread; the reactor is woken once for all that waits."""
        self._queue.append((work, args))
        if not (self._planned or self._woken):
            self._woken = True
            call_from_thread(self._wake)

    def _wake(self) -> None:
        self._woken = False  # first: what is put from now on wakes the reactor again
        if not self._planned:
            self._run()

    def _plan(self) -> None:
        if self._queue and not self._planned:
            self._planned = True
            self._clock.callLater(0, self._run)

    def _run(self) -> None:
        """Run one slice: at least one piece of work, however long it takes."""
        self._planned = True
        until = self._seconds() + self._slice_s
        try:
            while self._queue:
                work, args = self._queue.popleft()
                try:
                    work(*args)
                except Exception:  # noqa: BLE001  # an error must not stop the next piece
                    log.failure("a piece of work in a time slice failed; the next one runs")
                if self._seconds() >= until:
                    break
        finally:
            self._planned = False
            self._plan()


def keep_running(timer: Any, interval_s: float) -> None:
    """Start a `LoopingCall` that does not run, or whose next call is much too late.

    The reactor goes by the machine's clock: if that is set back by a day, every planned call comes
    a day late. Such a call is more than two intervals away. From within the timer's own call this
    changes nothing, since no next call is planned yet.
    """
    late = timer.running and timer.call is not None
    if late and timer.call.getTime() - timer.clock.seconds() > 2 * interval_s:
        timer.stop()
    if not timer.running:
        timer.start(interval_s, now=False).addErrback(
            lambda failure: log.failure(
                "a shared timer failed; the next assistant to wake restarts it", failure
            )
        )


class WithheldError(Exception):  # it stands for another error
    """Stands in the log for an error whose words may be private."""


def loggable(private: bool) -> Failure:
    """Return the error that is being handled for the server's log; if private, without its words.

    Errors quote what they were given, as a KeyError does. The kind and the place stay.
    """
    failure = Failure()
    if not private:
        return failure
    return Failure(
        WithheldError(f"{failure.value.__class__.__name__}, in private"), None, failure.tb
    )


def is_time(due_at: float, now: float, interval_s: float) -> bool:
    """Return True if what comes every ``interval_s`` seconds is due, or the clock was set back."""
    return not 0 < due_at - now <= interval_s


@inlineCallbacks
def retry_write(clock: Clock, write: Callable[[], T]) -> Coroutine[T]:
    """Call a write of a store, which is one transaction, and retry it while the database is busy.

    Fires with the result of the write; fails with StoreUnavailable after all `PAUSES_S`.
    """
    for pause_s in PAUSES_S:
        try:
            return write()
        except StoreUnavailable:
            yield deferLater(cast(IReactorTime, clock), pause_s, lambda: None)
    return write()


def yield_to_reactor(put: Enqueue) -> Deferred[None]:
    """Let other work run. Fires when it is this caller's turn again."""
    turn: Deferred[None] = Deferred()
    put(lambda: turn.callback(None))
    return turn


@inlineCallbacks
def map_in_slices(
    put: Enqueue, items: Sequence[T], work: Callable[[T], R], piece: int = PIECE
) -> Coroutine[list[R]]:
    """Call a function with each of many items, ``piece`` items at a time.

    Fires with the results in the order of the items; fails with the first error of ``work``.
    """
    results: list[R] = []
    for start in range(0, len(items), piece):
        yield yield_to_reactor(put)
        results += [work(item) for item in items[start : start + piece]]
    return results


class GameBusy(AssistantError):
    """The game did not reply in time, or its assistants were not started."""


class GameThread:
    """The reactor's thread, which a web thread asks."""

    def __init__(self, reactor: Any) -> None:
        self._reactor = reactor  # an IReactorFromThreads

    def ask(self, work: Callable[..., Any], *args: Any, wait_s: float = REPLY_WAIT_S) -> Any:
        """Return what a function returns, or its Deferred fires with; raise what it raises.

        The function must return plain data, and hold the reactor for a moment only. Raises GameBusy
        after ``wait_s`` seconds, so that no thread waits for ever while the server stops.
        """
        answer: Queue[Any] = Queue()
        self.tell(lambda: maybeDeferred(work, *args).addBoth(answer.put) and None)
        try:
            reply = answer.get(timeout=wait_s)
        except Empty as error:
            raise GameBusy(f"The game did not reply in {wait_s:.0f} s. Try again.") from error
        if isinstance(reply, Failure):
            reply.raiseException()
        return reply

    def tell(self, work: Callable[..., Any], *args: Any) -> None:
        self._reactor.callFromThread(work, *args)

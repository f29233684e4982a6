"""Work on the reactor in slices: many small things at once must not add up to one long stretch."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from typing import Any, Protocol, TypeVar

from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger

from evennia_ai.errors import StoreUnavailable

log = Logger()

T = TypeVar("T")
R = TypeVar("R")
# What an `inlineCallbacks` function returns whose Deferred fires with a T.
Steps = Generator[Deferred[Any], Any, T]

SLICE_S = 0.01


class DelayedCall(Protocol):
    """A call that a `Clock` will make."""

    def active(self) -> bool:
        """Return True until the call was made or cancelled."""

    def cancel(self) -> None:
        """Cancel the call."""


class Clock(Protocol):
    """Twisted's IReactorTime, as a type checker can read it."""

    def seconds(self) -> float:
        """Return the time in seconds."""

    def callLater(  # noqa: N802  # Twisted's name
        self, delay: float, callable: Callable[..., object], /, *args: Any, **kw: Any
    ) -> DelayedCall:
        """Call a function after ``delay`` seconds."""


class TimeSlices:
    """Runs what it is given in order, for about ``slice_s`` seconds at a time.

    200 assistants spoken to within two seconds held the reactor 1.5 s when each of their turns
    began as soon as it could, 0.06 s in slices of 10 ms (measured).
    """

    def __init__(
        self,
        clock: IReactorTime,
        slice_s: float = SLICE_S,
        seconds: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._clock: Any = clock
        self._slice_s = slice_s
        self._seconds = seconds
        self._queue: deque[tuple[Callable[..., object], tuple[Any, ...]]] = deque()
        self._planned = False

    def put(self, work: Callable[..., object], *args: Any) -> None:
        """Call ``work(*args)`` soon, after everything put before it."""
        self._queue.append((work, args))
        self._plan()

    def _plan(self) -> None:
        if self._queue and not self._planned:
            self._planned = True
            self._clock.callLater(0, self._run)

    def _run(self) -> None:
        """One slice: at least one piece of work, whatever it takes."""
        self._planned = False
        until = self._seconds() + self._slice_s
        while self._queue:
            work, args = self._queue.popleft()
            try:
                work(*args)
            except Exception:  # noqa: BLE001  # what one piece does wrong is not the next one's
                log.failure("a piece of work failed")
            if self._seconds() >= until:
                break
        self._plan()


def keep_running(timer: Any, interval_s: float) -> None:
    """Start a `LoopingCall` where it does not run, and anew where its next call is more than two
    intervals away: the reactor goes by the machine's clock, and where that was set back by a day,
    everything that is planned comes a day late. From within its own call nothing is planned yet."""
    late = timer.running and timer.call is not None
    if late and timer.call.getTime() - timer.clock.seconds() > 2 * interval_s:
        timer.stop()
    if not timer.running:
        timer.start(interval_s, now=False).addErrback(
            lambda failure: log.failure("a shared timer stopped", failure)
        )


def is_time(due_at: float, now: float, interval_s: float) -> bool:
    """True where something is due that comes every ``interval_s`` seconds: its time is past, or so
    far ahead that the clock must have been set back."""
    return not 0 < due_at - now <= interval_s


PAUSES_S = (0.05, 0.1, 0.2, 0.4, 0.8, 1.5)


@inlineCallbacks
def persist(clock: Any, write: Callable[[], T]) -> Steps[T]:
    """Do one write of a store, which is done whole or not at all, so that it may be done again.

    Fires with its result; fails with StoreUnavailable where the database stays busy for longer
    than all `PAUSES_S` together.
    """
    for pause_s in PAUSES_S:
        try:
            return write()
        except StoreUnavailable:
            yield deferLater(clock, pause_s, lambda: None)
    return write()


PIECE = 20


def pause(put: Callable[..., None]) -> Deferred[None]:
    """Let others have their turn. Fires when it is ours again."""
    turn: Deferred[None] = Deferred()
    put(turn.callback, None)
    return turn


@inlineCallbacks
def spread(put: Callable[..., None], items: Sequence[T], work: Callable[[T], R]) -> Steps[list[R]]:
    """Do some work on each of many items, `PIECE` items at a time.

    Args:
        put: calls what it is given soon, as `Services.slices.put` does.
        items: what to work on.
        work: done on each; what it raises ends the whole.

    Fires with the results in their order.
    """
    results: list[R] = []
    for start in range(0, len(items), PIECE):
        yield pause(put)
        results += [work(item) for item in items[start : start + PIECE]]
    return results

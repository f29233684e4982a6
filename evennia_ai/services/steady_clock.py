"""A clock that a change of the machine's time neither stops nor hurries."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from typing import Any

from twisted.internet import reactor
from twisted.internet.base import DelayedCall
from twisted.logger import Logger

log = Logger()


class SteadyClock:
    """Twisted's IReactorTime by the monotonic clock.

    The reactor itself goes by the machine's time: when that is set back by an hour, every planned
    call comes an hour late. Here a thread waits for the next call, and the reactor makes it as a
    call from a thread, which needs no time. ``seconds`` are unix seconds as of the start; `wall` is
    the machine's time. ``from_thread`` and ``monotonic`` are for tests.
    """

    def __init__(
        self,
        from_thread: Callable[..., object] | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        main: Any = reactor
        self._from_thread = from_thread or main.callFromThread
        self._monotonic = monotonic
        self._zero = time.time() - monotonic()
        self._calls: list[tuple[float, int, DelayedCall]] = []
        self._numbers = count()
        self._changed = threading.Condition()
        self._due: float | None = None
        self._running = self._planned = False

    wall = staticmethod(time.time)

    def seconds(self) -> float:
        """Return the time in seconds; it never jumps."""
        return self._zero + self._monotonic()

    def callLater(  # noqa: N802  # Twisted's name
        self, delay: float, callable: Callable[..., object], /, *args: Any, **kw: Any
    ) -> DelayedCall:
        """Call a function after ``delay`` seconds."""
        due = self.seconds() + delay
        call = DelayedCall(due, callable, args, kw, lambda _: None, self._put, self.seconds)
        self._put(call)
        return call

    def start(self) -> None:
        """Start the thread; not before twistd forks."""
        self._running = True
        threading.Thread(target=self._wait, name="evennia-ai-clock", daemon=True).start()

    def stop(self) -> None:
        """End the thread; no further call is made."""
        with self._changed:
            self._running = False
            self._changed.notify()

    def _put(self, call: DelayedCall) -> None:
        """Plan a call for its time."""
        due = call.getTime()
        heappush(self._calls, (due, next(self._numbers), call))
        if due <= self.seconds():
            self._plan()
        else:
            self._arm(due)

    def _plan(self) -> None:
        """Let the reactor make the calls that are due, once."""
        if not self._planned:
            self._planned = True
            self._from_thread(self._make_due)

    def _arm(self, due: float) -> None:
        """Let the thread wait for no longer than ``due``."""
        with self._changed:
            if self._due is None or due < self._due:
                self._due = due
                self._changed.notify()

    def _wait(self) -> None:
        """In the thread: wait for the time of the next call, and tell the reactor."""
        with self._changed:
            while self._running:
                left_s = None if self._due is None else self._due - self.seconds()
                if left_s is None or left_s > 0:
                    self._changed.wait(left_s)
                else:
                    self._due = None
                    self._from_thread(self._wake)

    def _wake(self) -> None:
        """Make the calls that are due, unless the reactor makes them next in any case."""
        if not self._planned:
            self._make_due()

    def _make_due(self) -> None:
        """Make the calls that are due now; those that they plan come later.

        One such round is planned at most: work in time slices would else get ever more slices in a
        row, and hold the reactor for seconds.
        """
        self._planned = False
        now = self.seconds()
        while self._calls and self._calls[0][0] <= now:
            _due, _number, call = heappop(self._calls)
            if call.active() and call.getTime() > now:  # it was put off
                heappush(self._calls, (call.getTime(), next(self._numbers), call))
            elif call.active():
                make(call)
        if self._calls and not self._planned:
            self._arm(self._calls[0][0])


def make(call: DelayedCall) -> None:
    """Make a planned call; an error must not stop the next one."""
    call.called = 1
    try:
        call.func(*call.args, **call.kw)
    except Exception:  # noqa: BLE001
        log.failure("a planned call failed; the next one is made")

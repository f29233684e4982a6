"""Limit how long a sleep pass lasts: each step, and the whole pass if somebody waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twisted.internet.defer import Deferred

from evennia_ai.errors import AssistantError
from evennia_ai.scheduling import Clock

# More than a step needs to ask a slow model once for each of many listeners.
STEP_TIME_S = 600.0


class StepGivenUp(AssistantError):
    """A sleep step was given up before its end. The text says why."""


class PassTime:
    """The time of one sleep pass; ``is_over`` once it is broken off because somebody waits."""

    def __init__(self, clock: Clock, step_time_s: float = STEP_TIME_S) -> None:
        self.clock = clock
        self.step_time_s = step_time_s
        self.is_over = False
        self._end: Any = None
        self._give_up: Callable[[str], None] | None = None

    def end_within(self, seconds: float) -> None:
        """Break the pass off after some seconds at the latest. The earliest request counts."""
        if self._end is None or not self._end.active():
            self._end = self.clock.callLater(seconds, self._break_off)
        elif self._end.getTime() > self.clock.seconds() + seconds:
            self._end.reset(seconds)

    def close(self) -> None:
        """End the pass: nothing can be broken off any more."""
        if self._end is not None and self._end.active():
            self._end.cancel()

    def limit(self, running: Deferred[Any]) -> Deferred[Any]:
        """Wait for a step, but not longer than its time.

        A step that ignores its cancellation is abandoned; its late result is dropped. Fires and
        fails as the step does; fails with `StepGivenUp`.
        """
        came: Deferred[Any] = Deferred()

        def arrive(result: Any) -> None:
            if not came.called:
                came.callback(result)

        def give_up(reason: str) -> None:
            came.errback(StepGivenUp(reason))
            running.cancel()

        def settle(result: Any) -> Any:
            self._give_up = None
            if timer.active():
                timer.cancel()
            return result

        late = f"given up after {self.step_time_s:.0f} s"
        timer = self.clock.callLater(self.step_time_s, give_up, late)
        self._give_up = give_up
        came.addBoth(settle)
        running.addBoth(arrive)
        return came

    def _break_off(self) -> None:
        self.is_over = True
        if self._give_up is not None:
            self._give_up("broken off")

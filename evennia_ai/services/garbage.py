"""Python's full garbage collections, moved to moments when nobody waits for an answer.

A full collection of a game with 200 players takes 85 to 190 ms of the reactor's time, with 1,000
560 ms (measured), and Python begins it whenever enough objects came, so in the middle of a rush.
What came is collected as often as Python would, but when nobody waited for a while: in a busy game
there are moments between two answers, and the next line comes within them. What survives is frozen
(`gc.freeze`), so that the next collection looks only at what came after it. Everything is looked at
again when the objects frozen since the last such look are a quarter of those that survived it:
Python's own rule, which `gc.collect` leaves out. With ten thousand minds in memory, a look at
everything takes 0.4 s (measured).
"""

import gc
from collections.abc import Callable
from typing import Any

from twisted.internet.task import LoopingCall

ROUND_S = 60.0
LOOKS, LOOK_S = 8, 0.5  # how often, and at what distance, it must be quiet
LONGEST_S = 1_800.0  # without a full collection, however busy the game is
NEVER = 1_000_000
PYTHONS_OWN = 10  # collections of the middle generation before a full one
NEW_SHARE = 0.25  # of all objects: as many new ones, and all are looked at


class GarbageTimer:
    """Collects all garbage while ``is_quiet()``; off if the game sets its own thresholds."""

    def __init__(self, clock: Any, is_quiet: Callable[[], bool]) -> None:
        self._clock = clock
        self._is_quiet = is_quiet
        self._collected_at = 0.0
        self._lived, self._came = 0, 0  # objects frozen at the last look at all, and since
        self._loop = LoopingCall(self.check)
        self._loop.clock = clock
        self._look: Any = None  # the next one, planned

    def start(self) -> None:
        """Freeze what lives now, and take full collections over from Python."""
        if self._loop.running or gc.get_threshold()[2] not in (PYTHONS_OWN, NEVER):
            return
        gc.collect()
        self._collected_at = self._clock.seconds()
        gc.set_threshold(*gc.get_threshold()[:2], NEVER)
        self._loop.start(ROUND_S, now=False)
        self.freeze()

    def freeze(self) -> None:
        """Look at what lives now no more until a quarter came; does nothing before `start`."""
        if self._loop.running:
            gc.freeze()
            self._lived, self._came = gc.get_freeze_count(), 0

    def stop(self) -> None:
        """Give full collections back to Python."""
        if self._loop.running:
            self._loop.stop()
            self._stop_looking()
            gc.set_threshold(*gc.get_threshold()[:2], PYTHONS_OWN)

    def check(self) -> None:
        """Collect if Python would have by now: as soon as it is quiet, or now if that is late."""
        if gc.get_count()[2] < PYTHONS_OWN:
            return
        self._stop_looking()
        if self._clock.seconds() - self._collected_at >= LONGEST_S:
            self._collect()
        else:
            self._wait_for_quiet(LOOKS)

    def _wait_for_quiet(self, looks: int) -> None:
        """Collect after so many more quiet looks; after any other, wait for the next round."""
        self._look = None
        if not self._is_quiet():
            return
        if looks:
            self._look = self._clock.callLater(LOOK_S, self._wait_for_quiet, looks - 1)
        else:
            self._collect()

    def _stop_looking(self) -> None:
        if self._look is not None:
            self._look.cancel()
            self._look = None

    def _collect(self) -> None:
        self._collected_at = self._clock.seconds()
        gc.collect()
        self._came += len(gc.get_objects(generation=2))
        if self._came < NEW_SHARE * self._lived:
            gc.freeze()
        else:
            gc.unfreeze()
            gc.collect()
            self.freeze()

"""The one timer of all assistants, and the timer of full garbage collections."""

import gc
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from typing import Any

from twisted.internet.task import LoopingCall
from twisted.logger import Logger

from evennia_ai.errors import StoreUnavailable, TurnAborted
from evennia_ai.scheduling import Enqueue, is_time, keep_running

log = Logger()

ROUND_S = 1.0
AGAIN_S = 60.0  # after an error

# Does what is due; returns in how many seconds it is due again, None for never.
Work = Callable[[], float | None]


@dataclass
class TimerEntry:
    """Work that is due at ``at``: ``wait_s`` seconds after it was planned."""

    work: Work
    at: float
    wait_s: float
    queued: bool = False


class AssistantTimer:
    """Does the work of assistants when it is due, each piece in a time slice of its own.

    The ``loop`` runs only while there are ``entries``. A look at an assistant takes up to a
    millisecond and all may be due at once, so each is queued (measured).
    """

    def __init__(self, clock: Any, put: Enqueue) -> None:
        self._clock, self._put = clock, put
        self.entries: dict[Hashable, TimerEntry] = {}
        self.loop = LoopingCall(self._round)
        self.loop.clock = clock

    def keep(
        self, key: Hashable, within_s: float, work: Work, first_s: float | None = None
    ) -> None:
        """Do work within some seconds, ``first_s`` if it is new, and then whenever it says."""
        now, known = self._clock.seconds(), self.entries.get(key)
        if known is None:
            wait_s = within_s if first_s is None else first_s
            self.entries[key] = TimerEntry(work, now + wait_s, wait_s)
        elif within_s < known.at - now <= known.wait_s:  # more: the clock was set back
            self._plan(known, within_s)
        keep_running(self.loop, ROUND_S)

    def stop(self) -> None:
        """Do nothing until `keep` is called again."""
        self.entries.clear()
        self._stop_if_idle()

    def _round(self) -> None:
        now = self._clock.seconds()
        for key, entry in list(self.entries.items()):
            if is_time(entry.at, now, entry.wait_s) and not entry.queued:
                entry.queued = True
                self._plan(entry, max(entry.wait_s, ROUND_S))  # until the work says more
                self._put(partial(self._do, key, entry))
        self._stop_if_idle()

    def _do(self, key: Hashable, entry: TimerEntry) -> None:
        if self.entries.get(key) is not entry:
            return
        entry.queued = False
        again_s: float | None = AGAIN_S
        try:
            again_s = entry.work()
        except (StoreUnavailable, TurnAborted) as error:
            log.warn("evennia_ai: the work {key} waits: {error}", key=key, error=error)
        except Exception:  # noqa: BLE001  # a game's classes and hooks may raise anything
            log.failure("evennia_ai: the work {key} failed; trying again later", key=key)
        if again_s is None:
            self.entries.pop(key, None)  # the work may have stopped the timer
            self._stop_if_idle()
        else:
            self._plan(entry, again_s)

    def _plan(self, entry: TimerEntry, wait_s: float) -> None:
        entry.at, entry.wait_s = self._clock.seconds() + wait_s, wait_s

    def _stop_if_idle(self) -> None:
        if not self.entries and self.loop.running:
            self.loop.stop()


GARBAGE_ROUND_S = 60.0
LOOKS, LOOK_S = 8, 0.5  # how often, and at what distance, it must be quiet
LONGEST_S = 1_800.0  # without a full collection, however busy the game is
NEVER = 1_000_000
PYTHONS_OWN = 10  # collections of the middle generation before a full one
NEW_SHARE = 0.25  # of all objects: as many new ones, and all are looked at


class GarbageTimer:
    """Collects all garbage while ``is_quiet()``; off if the game sets its own thresholds.

    A full collection of a game with 200 players takes 85 to 190 ms of the reactor's time, with
    1,000 560 ms (measured), and Python begins it whenever enough objects came, so in the middle of
    a rush. Here it runs as often as in Python, but when nobody waited for a while: in a busy game
    there are moments between two answers. What survives is frozen (`gc.freeze`), so that the next
    collection looks only at what came after it. Everything is looked at again when the objects
    frozen since the last such look are a quarter of those that survived it: Python's own rule,
    which `gc.collect` leaves out. With ten thousand minds in memory, that takes 0.4 s (measured).
    """

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
        self._loop.start(GARBAGE_ROUND_S, now=False)
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

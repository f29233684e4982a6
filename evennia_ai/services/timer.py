"""The one timer of all assistants."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from typing import Any

from twisted.internet.task import LoopingCall
from twisted.logger import Logger

from evennia_ai.errors import StoreUnavailable, TurnAborted
from evennia_ai.scheduling import Put, is_time, keep_running

log = Logger()

ROUND_S = 1.0
AGAIN_S = 60.0  # after an error

# Does what is due; returns in how many seconds it is due again, None for never.
Work = Callable[[], float | None]


@dataclass
class Entry:
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

    def __init__(self, clock: Any, put: Put) -> None:
        self._clock, self._put = clock, put
        self.entries: dict[Hashable, Entry] = {}
        self.loop = LoopingCall(self._round)
        self.loop.clock = clock

    def keep(
        self, key: Hashable, within_s: float, work: Work, first_s: float | None = None
    ) -> None:
        """Do work within some seconds, ``first_s`` if it is new, and then whenever it says."""
        now, known = self._clock.seconds(), self.entries.get(key)
        if known is None:
            wait_s = within_s if first_s is None else first_s
            self.entries[key] = Entry(work, now + wait_s, wait_s)
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

    def _do(self, key: Hashable, entry: Entry) -> None:
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

    def _plan(self, entry: Entry, wait_s: float) -> None:
        entry.at, entry.wait_s = self._clock.seconds() + wait_s, wait_s

    def _stop_if_idle(self) -> None:
        if not self.entries and self.loop.running:
            self.loop.stop()

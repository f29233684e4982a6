"""Events that the database could not take yet: kept in order and tried again for a while."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from twisted.logger import Logger

from evennia_ai.errors import StoreUnavailable
from evennia_ai.messages import Heard
from evennia_ai.scheduling import Clock

log = Logger()

PAUSES_S = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


class Backlog:
    """Stores events at once where that is possible, and later, in their order, where it is not.

    Args:
        clock: for the pauses.
        store: stores one event and returns its id; raises StoreUnavailable.
        stored: called with each event and its id when it is stored.
        lost: called with each event that could not be stored in all `PAUSES_S`, and the last error.
    """

    def __init__(
        self,
        clock: Clock,
        store: Callable[[Heard], int],
        stored: Callable[[Heard, int], None],
        lost: Callable[[Heard, StoreUnavailable], None],
    ) -> None:
        self._clock = clock
        self._store = store
        self._stored = stored
        self._lost = lost
        self._waiting: deque[Heard] = deque()
        self._tries = 0

    def put(self, heard: Heard) -> None:
        """Store an event, behind all that wait already."""
        self._waiting.append(heard)
        if len(self._waiting) == 1:
            self._try()

    def _try(self) -> None:
        """Store what waits, oldest first, until something cannot be stored."""
        while self._waiting:
            try:
                event_id = self._store(self._waiting[0])
            except StoreUnavailable as error:
                self._put_off(error)
                return
            self._tries = 0
            heard = self._waiting.popleft()
            try:
                self._stored(heard, event_id)
            except Exception:  # noqa: BLE001  # a game's hooks; what waits behind must not suffer
                log.failure("what was heard is stored, but not attended to yet")

    def clear(self) -> None:
        """Forget what waits: nobody is there any more to attend to it."""
        self._waiting.clear()

    def give_up(self, error: StoreUnavailable) -> None:
        """Try no more: what waits is lost."""
        self._tries = 0
        while self._waiting:
            self._lost(self._waiting.popleft(), error)

    def _put_off(self, error: StoreUnavailable) -> None:
        if self._tries < len(PAUSES_S):
            self._clock.callLater(PAUSES_S[self._tries], self._try)
            self._tries += 1
        else:
            self.give_up(error)

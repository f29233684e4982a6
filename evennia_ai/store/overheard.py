"""What assistants overheard together, stored in one query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import zip_longest
from typing import Protocol

from django.db import connection
from twisted.logger import Logger

from evennia_ai import models
from evennia_ai.messages import Heard
from evennia_ai.scheduling import Clock
from evennia_ai.store.backlog import Backlog
from evennia_ai.store.brief_transaction import brief_transaction
from evennia_ai.store.inbox import event_row

log = Logger()


class Listener(Protocol):
    """An assistant that overhears: `game.hearing.Hearing`."""

    @property
    def assistant_id(self) -> int: ...
    @property
    def is_alive(self) -> bool: ...  # False once it is deleted
    @property
    def backlog(self) -> Backlog[Heard, int]: ...


class OverheardQueue:
    """Collects what needs no answer until the end of a stretch of the reactor, then stores it.

    Forty inserts of one line took 16 ms, one query for all takes 2 ms (measured).
    """

    def __init__(self, clock: Clock, now: Callable[[], datetime]) -> None:
        self._clock = clock
        self._now = now
        self._waiting: list[tuple[Listener, Heard]] = []

    def put(self, listener: Listener, heard: Heard) -> None:
        """Store an event of an assistant at the end of this stretch."""
        if not self._waiting:
            self._clock.callLater(0, self.flush)
        self._waiting.append((listener, heard))

    def flush_before(self, listener: Listener) -> None:
        """Store all events now, if this assistant has any: its next one comes after them."""
        if any(owner is listener for owner, _heard in self._waiting):
            self.flush()

    def flush(self) -> None:
        """Store all events now; each goes to its assistant's backlog if the database is busy."""
        waiting, self._waiting = self._waiting, []
        pairs = [(listener, heard) for listener, heard in waiting if listener.is_alive]
        if not pairs:
            return
        late = any(listener.backlog for listener, _heard in pairs)
        event_ids = [] if late else self._store(pairs)
        for (listener, heard), event_id in zip_longest(pairs, event_ids):
            if event_id is None:
                listener.backlog.put(heard)
            else:
                listener.backlog.note_stored(heard, event_id)

    def _store(self, pairs: Sequence[tuple[Listener, Heard]]) -> list[int]:
        """Store events in one transaction and return their ids, none if that fails."""
        at = self._now()
        rows = [event_row(listener.assistant_id, heard, at) for listener, heard in pairs]
        try:
            with brief_transaction():
                store_rows(rows)
        except Exception as error:  # noqa: BLE001  # each backlog tries again, and tells its speaker
            log.warn("evennia_ai: {count} events wait: {error}", count=len(rows), error=error)
            return []
        return [int(row.id) for row in rows]


def store_rows(rows: Sequence[models.Event]) -> None:
    """Store new rows, which have their ids afterwards."""
    if connection.features.can_return_rows_from_bulk_insert:
        models.Event.objects.bulk_create(rows)
        return
    for row in rows:  # MySQL
        row.save()

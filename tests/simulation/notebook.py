"""A journal in memory that is loaded in turns with other work, as the real one is."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from twisted.internet.defer import Deferred, succeed

from evennia_ai.messages import Audience
from evennia_ai.policy.records.provenance import Record, select_known
from evennia_ai.testing.memory_records import MemoryJournal


class Notebook(MemoryJournal):
    """``entries`` are those that are stored already, by any process.

    Without an archive no sleep pass prunes it, nor asks a model how important its entries are: the
    simulation takes each model call for one of a turn or of a summary.
    """

    def __init__(self, now: Callable[[], datetime], entries: dict[str, Record]) -> None:
        super().__init__(now, entries)
        self.archive = None
        self.loaded = False

    def load(self, put: Callable[..., object]) -> Deferred[None]:
        """Fires when all is there: later, once in a process."""
        if self.loaded:
            return succeed(None)
        loading: Deferred[None] = Deferred()
        put(loading.callback, None)
        self.loaded = True
        return loading

    def pinned(self, audience: Audience) -> list[Record]:
        """The pinned entries that all of an audience may know."""
        return [e for e in select_known(self.entries.values(), audience) if e["pinned"]]

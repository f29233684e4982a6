"""A journal in memory that loads in slices between other work, as the real one does."""

from collections.abc import Callable
from datetime import datetime

from twisted.internet.defer import inlineCallbacks

from evennia_ai.messages import Audience
from evennia_ai.policy.records.record import Record, select_known
from evennia_ai.scheduling import Coroutine, Enqueue, yield_to_reactor
from evennia_ai.testing.minds import StandInSegments
from tests.minds import MemoryJournal


class Notebook(MemoryJournal):
    """``stored`` is what any process has stored.

    Without an archive no sleep pass prunes it, nor asks a model how important its entries are: the
    simulation takes each model call for one of a turn or of a summary.
    """

    def __init__(self, now: Callable[[], datetime], stored: StandInSegments) -> None:
        super().__init__(now)
        self.segments = stored
        self.archive = None
        self.loaded = False

    @inlineCallbacks
    def load(self, put: Enqueue) -> Coroutine[None]:
        """Fire when all is loaded: after other work, the first time in a process."""
        if not self.loaded:
            self.loaded = True
            yield yield_to_reactor(put)
        self.load_all()

    def pinned(self, audience: Audience) -> list[Record]:
        """Return the pinned entries that all of an audience may know."""
        return [e for e in select_known(self.every(), audience) if e["pinned"]]

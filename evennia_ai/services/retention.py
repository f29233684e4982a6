"""Retention: when the logs are purged, and how that is spread over time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from twisted.internet.defer import CancelledError, Deferred, inlineCallbacks
from twisted.internet.task import deferLater
from twisted.logger import Logger
from twisted.python.failure import Failure

from evennia_ai.config.table_retention import GAME_WIDE, Limit
from evennia_ai.errors import AssistantError, StoreUnavailable
from evennia_ai.scheduling import Clock, pause, persist
from evennia_ai.store.purge import Report, TablePurge, Tally, assistant_ids
from evennia_ai.store.rows_in_use import Planned

log = Logger()

FIRST_RUN_S = 300.0
DAY_S = 86_400.0
BUSY_PAUSE_S = 600.0
PAUSE_S = 0.01
PROGRESS_ROWS = 10_000


class PurgeRefused(AssistantError):
    """Nothing is purged. The text says why."""


class LogRetention:
    """Purges the logs once a day, and when an admin says so; never twice at a time. Where nothing
    is configured it does nothing at all.

    Args:
        clock: for the time and the pauses.
        put: calls what it is given soon, as `Services.slices.put` does.
        retention: limits by table, each table before those it refers to.
    """

    def __init__(
        self, clock: Clock, put: Callable[..., None], retention: Mapping[str, Limit]
    ) -> None:
        self.retention = retention
        self._clock: Any = clock
        self._put = put
        self._next: Any = None
        self._running: Deferred[Report] | None = None

    def start(self) -> None:
        """Purge some minutes from now, and then once a day. Doing it twice changes nothing."""
        if self.retention and not (self._next and self._next.active()):
            self._next = self._clock.callLater(FIRST_RUN_S, self._purge_daily)

    def stop(self) -> None:
        """Purge no more in this process."""
        if self._next and self._next.active():
            self._next.cancel()
        if self._running:
            self._running.cancel()

    def purge(
        self, assistant_id: int | None = None, progress: Callable[[int], None] | None = None
    ) -> Deferred[Report]:
        """Delete what retention has no room for.

        Args:
            assistant_id: of which assistant; None is all, and what belongs to none of them.
            progress: called with the number of rows deleted so far, every `PROGRESS_ROWS`.

        Fires with a `Tally` by table. Fails with StoreUnavailable where the database stays busy and
        with CancelledError where the server goes down: what was deleted by then is gone, the rest
        is whole. Raises PurgeRefused where there is nothing to go by, or one is under way.
        """
        report = self._new_report(assistant_id)
        work = self._purge(self._tables(assistant_id), report, progress)
        return self._run(work.addBoth(self._tell, report))

    def preview(self, assistant_id: int | None = None) -> Deferred[Report]:
        """Count what `purge` would delete now; fires, fails and raises as it does."""
        report = self._new_report(assistant_id)
        return self._run(self._purge(self._tables(assistant_id, dry=True), report))

    def check(self) -> None:
        """Raise PurgeRefused where nothing could be purged now."""
        if not self.retention:
            raise PurgeRefused(
                "AI_ASSISTANT['RETENTION'] names no table, so everything is kept. Where it should, "
                "|waistatus|n tells what is wrong with it."
            )
        if self._running:
            raise PurgeRefused("A purge is under way already: try again in a moment.")

    def _new_report(self, assistant_id: int | None) -> Report:
        """An empty report of the tables that are to be purged; raises PurgeRefused."""
        self.check()
        whole_game = assistant_id is None
        return {table: Tally() for table in self.retention if whole_game or table not in GAME_WIDE}

    def _run(self, work: Deferred[Report]) -> Deferred[Report]:
        """Keep what is under way until it ends."""
        self._running = work
        return work.addBoth(self._ended)

    def _ended(self, result: Any) -> Any:
        self._running = None
        return result

    def _purge_daily(self) -> None:
        """Purge, and plan the next time."""
        self._next = self._clock.callLater(DAY_S, self._purge_daily)
        if not self._running:
            self.purge().addErrback(self._purge_later)

    def _purge_later(self, failure: Failure) -> None:
        """A daily purge did not come to its end: where the database is busy, go on soon."""
        if isinstance(failure.value, StoreUnavailable):
            self._next.reset(BUSY_PAUSE_S)
        elif not isinstance(failure.value, CancelledError):
            log.failure("a purge failed", failure)

    def _tell(self, result: Any, report: Report) -> Any:
        """One line for the log, however it ended."""
        end = f", broken off: {result.value!r}" if isinstance(result, Failure) else ""
        counts = ", ".join(f"{table} {tally.gone}" for table, tally in report.items())
        log.info("evennia_ai: rows deleted by retention: {counts}{end}", counts=counts, end=end)
        return result

    def _tables(self, assistant_id: int | None, dry: bool = False) -> Iterator[TablePurge]:
        """A walk for each table of each assistant, made when its turn comes."""
        now = datetime.fromtimestamp(self._clock.seconds(), UTC)
        whole_game = assistant_id is None
        owners = [*assistant_ids(), None] if whole_game else [assistant_id]
        for owner in owners:
            planned = Planned(Counter) if dry else None
            for table, limit in self.retention.items():
                if (owner is None) == (table in GAME_WIDE):
                    yield TablePurge(table, owner, limit, now, planned)

    @inlineCallbacks
    def _purge(
        self,
        tables: Iterator[TablePurge],
        report: Report,
        progress: Callable[[int], None] | None = None,
    ) -> Generator[Deferred[Any], Any, Report]:
        """Walk over tables, with a pause before each step, so that nobody notices. Fires with the
        report, which grows meanwhile."""
        gone = 0
        for walk in tables:
            tally = report[walk.table]
            more = True
            while more:
                yield deferLater(self._clock, PAUSE_S, pause, self._put)
                came: Tally
                more, came = yield persist(self._clock, walk.step)
                tally.add(came)
                before, gone = gone, gone + came.gone
                if progress and before // PROGRESS_ROWS < gone // PROGRESS_ROWS:
                    progress(gone)
        return report

"""Delete old rows of the logs once a day, in small steps."""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from twisted.internet.defer import CancelledError, Deferred, inlineCallbacks
from twisted.internet.task import deferLater
from twisted.logger import Logger
from twisted.python.failure import Failure

from evennia_ai.config.table_retention import GAME_WIDE, RetentionLimit
from evennia_ai.errors import AssistantError, StoreUnavailable
from evennia_ai.scheduling import Clock, Coroutine, retry_write, wall_seconds, yield_to_reactor
from evennia_ai.store.purge import PurgeCount, PurgeReport, TablePurge, assistant_ids

log = Logger()

FIRST_RUN_S = 300.0
DAY_S = 86_400.0
BUSY_PAUSE_S = 600.0
PAUSE_S = 0.01
PROGRESS_ROWS = 10_000
NOTHING_DELETED = "No log rows are deleted"


class PurgeRefused(AssistantError):
    """Nothing can be purged now. The text says why."""


class LogRetention:
    """Purges the logs once a day and on an admin's command, never twice at a time.

    ``retention`` has the limits by table, each before those that it refers to; empty keeps all.
    """

    def __init__(
        self, clock: Clock, put: Callable[..., None], retention: Mapping[str, RetentionLimit]
    ) -> None:
        self.retention = retention
        self._clock: Any = clock
        self._put = put
        self._next: Any = None
        self._running: Deferred[PurgeReport] | None = None

    def start(self) -> None:
        """Purge in `FIRST_RUN_S` seconds, then once a day; a second call does nothing."""
        if self.retention and not (self._next and self._next.active()):
            self._next = self._clock.callLater(FIRST_RUN_S, self._purge_daily)

    def stop(self) -> None:
        """Cancel the purge in progress, and purge no more in this process."""
        if self._next and self._next.active():
            self._next.cancel()
        if self._running:
            self._running.cancel()

    def purge(
        self, assistant_id: int | None = None, progress: Callable[[int], None] | None = None
    ) -> Deferred[PurgeReport]:
        """Delete the rows of one assistant beyond the retention limits; None: of the whole game.

        Fires with a `PurgeCount` by table. Fails with StoreUnavailable if the database stays busy
        and with CancelledError if the server stops. Raises PurgeRefused as `check` does.
        """
        report = self._new_report(assistant_id)
        work = self._walk(self._tables(assistant_id, None), report, progress)
        return self._run(work.addBoth(_tell, report))

    def preview(self, assistant_id: int | None = None) -> Deferred[PurgeReport]:
        """Count what `purge` would delete now; fires, fails and raises as `purge` does."""
        report = self._new_report(assistant_id)
        return self._run(self._walk(self._tables(assistant_id, []), report))

    def check(self) -> None:
        """Raise PurgeRefused if no limit is configured or a purge is in progress."""
        if not self.retention:
            raise PurgeRefused(
                "AI_ASSISTANT['RETENTION'] names no table, so all rows are kept. If it should name "
                "one, see aistatus for what is wrong with the setting."
            )
        if self._running:
            raise PurgeRefused("A purge is in progress. Try again in a moment.")

    def _new_report(self, assistant_id: int | None) -> PurgeReport:
        self.check()
        left_out = () if assistant_id is None else GAME_WIDE
        return {table: PurgeCount() for table in self.retention if table not in left_out}

    def _run(self, work: Deferred[PurgeReport]) -> Deferred[PurgeReport]:
        def ended(result: Any) -> Any:
            self._running = None
            return result

        self._running = work
        return work.addBoth(ended)

    def _purge_daily(self) -> None:
        self._next = self._clock.callLater(DAY_S, self._purge_daily)
        if not self._running:
            self.purge().addErrback(self._purge_later)

    def _purge_later(self, failure: Failure) -> None:
        """Purge again soon if a daily purge failed because the database was busy."""
        if failure.check(StoreUnavailable):
            self._next.reset(BUSY_PAUSE_S)
        elif not failure.check(CancelledError):
            log.failure("evennia_ai: the daily purge failed; the next one is due in a day", failure)

    def _tables(
        self, assistant_id: int | None, planned: list[TablePurge] | None
    ) -> Iterator[TablePurge]:
        """Yield the purge of each table of each assistant; a dry run is given a list to note it."""
        now = datetime.fromtimestamp(wall_seconds(self._clock), UTC)
        for owner in [*assistant_ids(), None] if assistant_id is None else [assistant_id]:
            if planned is not None:
                planned.clear()
            for table, limit in self.retention.items():
                if (owner is None) == (table in GAME_WIDE):
                    walk = TablePurge(table, owner, limit, now, planned)
                    yield walk
                    if planned is not None:
                        planned.append(walk)

    @inlineCallbacks
    def _walk(
        self,
        tables: Iterator[TablePurge],
        report: PurgeReport,
        progress: Callable[[int], None] | None = None,
    ) -> Coroutine[PurgeReport]:
        """Purge tables with a pause before each step; fires with the report, made complete."""
        gone = 0
        for table in tables:
            more = True
            while more:
                yield deferLater(self._clock, PAUSE_S, yield_to_reactor, self._put)
                came: PurgeCount
                more, came = yield retry_write(self._clock, table.step)
                report[table.table].add(came)
                before, gone = gone, gone + came.gone
                if progress and before // PROGRESS_ROWS < gone // PROGRESS_ROWS:
                    progress(gone)
        return report


def _tell(result: Any, report: PurgeReport) -> Any:
    end = f"; stopped by {result.value!r}" if isinstance(result, Failure) else ""
    counts = ", ".join(f"{table} {tally.gone}" for table, tally in report.items())
    log.info("evennia_ai: rows deleted by retention: {counts}{end}", counts=counts, end=end)
    return result

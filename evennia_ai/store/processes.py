"""Several server processes on one database: who lives, and who runs an assistant.

An assistant is run by one process at a time, its lease. A process takes over what another left
only once that one is dead, and says so first by deleting its row; `SharedProcess.fence` refuses
what a process stores that was taken for dead meanwhile.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from evennia_ai import models
from evennia_ai.errors import TurnAborted
from evennia_ai.store.brief_transaction import brief_transaction

BUSY, HELD, TAKEN = range(3)  # how an attempt to get a lease ended


@dataclass
class SingleProcess:
    """This server process, alone on its database: it holds every lease. Costs no query.

    ``epoch`` is the number of this process.
    """

    epoch: int

    @property
    def others(self) -> Collection[int]:
        """Return the numbers of the other processes that live."""
        return ()

    def fence(self, turn_id: int | None = None) -> None:
        """Do nothing: nobody else could have taken a turn over."""

    def take(self, assistant_id: int) -> int:
        """Return `HELD`."""
        return HELD

    def release(self, assistant_id: int) -> None:
        """Do nothing: nobody else waits."""

    def note_changed(self, assistant_id: int) -> bool:
        """Return False: nobody else could have changed anything."""
        return False


class SharedProcess(SingleProcess):
    """This server process, with a row that shows the others that it lives.

    Methods that write raise StoreUnavailable.
    """

    @property
    def others(self) -> Collection[int]:
        """Return the numbers of the other processes with a row, also of one that just started."""
        rows = models.ServerProcess.objects.exclude(epoch=self.epoch)
        return list(rows.values_list("epoch", flat=True))

    def join(self, slot: str) -> None:
        """Show that this process lives, in place of an earlier one of the same server."""
        with brief_transaction():
            models.ServerProcess.objects.filter(slot=slot).delete()
            models.ServerProcess.objects.create(epoch=self.epoch, slot=slot)

    def beat(self, beats: int, shared: Mapping[str, Any]) -> bool:
        """Count a beat; return False if another process took this one for dead."""
        rows = models.ServerProcess.objects.filter(epoch=self.epoch)
        with brief_transaction():
            return bool(rows.update(beats=beats, shared=dict(shared)))

    def look(self) -> dict[int, models.ServerProcess]:
        """Return the rows of the other processes by number."""
        rows = models.ServerProcess.objects.exclude(epoch=self.epoch)
        return {row.epoch: row for row in rows}

    def bury(self, epoch: int, beats: int) -> bool:
        """Delete the row of a dead process; False if it counted on, or another was faster."""
        with brief_transaction():
            rows = models.ServerProcess.objects.filter(epoch=epoch, beats=beats)
            return bool(rows.delete()[0])

    def leave(self) -> None:
        """Delete the row of this process."""
        with brief_transaction():
            models.ServerProcess.objects.filter(epoch=self.epoch).delete()

    def fence(self, turn_id: int | None = None) -> None:
        """Lock the row of this process, or of an open turn, inside the caller's transaction.

        Raises TurnAborted if another process took over: then nothing may be stored.
        """
        if turn_id is None:
            rows = models.ServerProcess.objects.filter(epoch=self.epoch)
        else:
            rows = models.Turn.objects.filter(id=turn_id, ended_at=None)
        if not rows.select_for_update().exists():
            raise TurnAborted("another server process took over")

    def take(self, assistant_id: int) -> int:
        """Try to get the lease of an assistant: `HELD`, `TAKEN` from another process, or `BUSY`.

        A process that had the lease last gets `BUSY` once if another process waits for it, so that
        the other gets its turn.
        """
        fresh = {"epoch": self.epoch, "busy": True, "wanted_by": 0, "changed": False}
        with brief_transaction():
            rows = models.Lease.objects.filter(assistant_id=assistant_id)
            lease = rows.select_for_update().first()
            if lease is None:
                models.Lease.objects.create(assistant_id=assistant_id, **fresh)
                return TAKEN  # an earlier process may have written before there were leases
            others = self.others
            if lease.epoch in others and lease.busy:
                rows.update(wanted_by=self.epoch)
                return BUSY
            if lease.epoch == self.epoch and lease.wanted_by in others:
                rows.update(wanted_by=0)
                return BUSY
            rows.update(**fresh)
        return HELD if lease.epoch == self.epoch and not lease.changed else TAKEN

    def note_changed(self, assistant_id: int) -> bool:
        """Let the process with the lease read the assistant again; False if it is this one."""
        with brief_transaction():
            rows = models.Lease.objects.filter(assistant_id=assistant_id)
            return bool(rows.exclude(epoch=self.epoch).update(changed=True))

    def release(self, assistant_id: int) -> None:
        """Let other processes run an assistant."""
        with brief_transaction():
            rows = models.Lease.objects.filter(assistant_id=assistant_id, epoch=self.epoch)
            rows.update(busy=False)

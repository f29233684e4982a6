"""Several server processes on one database: each shows that it lives, and watches the others.

Off unless ``AI_ASSISTANT["SHARED_DATABASE"]`` is True: then it costs no query. With each beat a
process also tells the others which endpoints it paused and how many lines each person said, since
limits apply to the whole game.
"""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from django.conf import settings
from evennia.server.models import ServerConfig
from twisted.internet.task import LoopingCall
from twisted.logger import Logger

from evennia_ai.errors import RunElsewhere, StoreUnavailable
from evennia_ai.policy.liveness import BEAT_S, Watched, dead, watch
from evennia_ai.store.brief_transaction import store_errors
from evennia_ai.store.processes import BUSY, TAKEN, SharedProcess, SingleProcess
from evennia_ai.store.server_settings import SWITCH

log = Logger()

SLOT_CHARS = 255
LINES, PAUSES = "lines", "pauses"
STOPPED_ELSEWHERE = "an admin stopped all assistants"
BUSY_ELSEWHERE = "{name} is thinking in another server process just now: try again in a moment."


def make_process(epoch: int, shared: Any) -> SingleProcess:
    """Return this server process; raises TypeError unless ``shared`` is True or False."""
    if not isinstance(shared, bool):
        raise TypeError(f"it must be True or False, not {shared!r}.")
    return SharedProcess(epoch) if shared else SingleProcess(epoch)


def slot() -> str:
    """Return the name of this server, the same after each restart."""
    return f"{socket.gethostname()}:{settings.GAME_DIR}"[-SLOT_CHARS:]


class ServerProcesses:
    """What this process does about the others; nothing at all if it is alone."""

    def __init__(self, service: Any, process: SingleProcess) -> None:
        self.service = service
        self.process = process
        self._beats = 0
        self._watched: dict[int, Watched] = {}
        self._unreleased: set[int] = set()
        self._loop = LoopingCall(self.beat)
        self._loop.clock = service.clock

    def start(self) -> None:
        """Show that this process lives, and learn which others do; raises StoreUnavailable."""
        process = self.process
        if isinstance(process, SharedProcess) and not self._loop.running:
            process.join(slot())
            self._look(process)
            self._loop.start(BEAT_S, now=False)

    def stop(self) -> None:
        """Show that this process ends, so that others take over at once."""
        if isinstance(self.process, SharedProcess) and self._loop.running:
            self._loop.stop()
            with suppress(StoreUnavailable):  # then they wait until it counts as dead
                self.process.leave()

    @contextmanager
    def lease(self, assistant_id: int, name: str, read_again: Callable[[], None]) -> Iterator[None]:
        """Hold the lease of an assistant inside of a ``with`` block.

        Raises RunElsewhere if another process has it, and StoreUnavailable.
        """
        held = self.process.take(assistant_id)
        if held == BUSY:
            raise RunElsewhere(BUSY_ELSEWHERE.format(name=name))
        try:
            if held == TAKEN:
                read_again()
            yield
        finally:
            self._release(assistant_id)

    def _release(self, script_id: int) -> None:
        """Give the lease of an assistant back, at the latest with a later beat."""
        try:
            self.process.release(script_id)
        except StoreUnavailable:
            self._unreleased.add(script_id)

    def refresh(self, assistant_id: int, read_again: Callable[[], None]) -> None:
        """Read an assistant anew for a command, if another process ran it last.

        That process reads it anew with its next tick, and so sees what the command changes.
        """
        if self.process.note_changed(assistant_id):
            read_again()

    def beat(self) -> None:
        """Count a beat, look at the other processes, and take over from the dead."""
        process = self.process
        if not isinstance(process, SharedProcess):
            return
        try:
            with store_errors():
                self._beats += 1
                if not process.beat(self._beats, self._told()):
                    log.warn("evennia_ai: another server process took this one for dead")
                    process.join(slot())
                for script_id in [*self._unreleased]:
                    process.release(script_id)
                    self._unreleased.discard(script_id)
                self._look(process)
                self._follow_switch()
        except StoreUnavailable as error:
            log.warn("evennia_ai: no sign of life could be stored: {error}", error=error)

    def _look(self, process: SharedProcess) -> None:
        """Update which other processes live, and resume what those that ended left."""
        now, before, rows = self.service.clock.seconds(), set(self._watched), process.look()
        self._watched = watch(self._watched, {n: row.beats for n, row in rows.items()}, now)
        for epoch, beats in dead(self._watched, now).items():
            del self._watched[epoch]
            if process.bury(epoch, beats):
                server = rows.pop(epoch).slot
                log.warn("evennia_ai: the server {name} is dead; taking over its work", name=server)
        self._read(row.shared for row in rows.values())
        if before - set(self._watched):
            self.service.startup.put(self.service.startup.recover_turns)

    def _told(self) -> dict[str, Any]:
        """Return what the others must know; nothing while there are none."""
        if not self._watched:
            return {}
        service = self.service
        return {LINES: service.crowd.lines_lately(), PAUSES: service.gateway.lanes.pauses()}

    def _read(self, told: Iterable[Mapping[str, Any]]) -> None:
        """Apply what the others told."""
        lines, service = Counter[str](), self.service
        for one in told:
            lines.update(one.get(LINES, {}))
            service.gateway.lanes.note_pauses(one.get(PAUSES, {}))
        service.crowd.elsewhere = lines
        if self._watched:
            service.gateway.budgets.read_again()

    def _follow_switch(self) -> None:
        """Stop or start all assistants as an admin did in another process."""
        service = self.service
        stopped = ServerConfig.objects.filter(db_key=SWITCH).exists()
        if stopped and not service.switched_off:
            service.switch_off(STOPPED_ELSEWHERE)
        elif service.switched_off and not stopped:
            service.switch_on()

"""The timer that ticks the assistants with players near."""

from __future__ import annotations

from typing import Any

from twisted.internet.task import LoopingCall

from evennia_ai.ports import Script
from evennia_ai.scheduling import is_time, keep_running

TICK_CHECK_S = 1.0


class TickTimer:
    """Wakes each assistant every ``tick_rate`` seconds while a player is near it."""

    def __init__(self, clock: Any) -> None:
        self.scripts: dict[int, Script] = {}
        self._clock = clock
        self._loop = LoopingCall(self.wake_due)
        self._loop.clock = clock

    @property
    def running(self) -> bool:
        """True while an assistant is to be ticked."""
        return bool(self._loop.running)

    def add(self, script: Script) -> None:
        """Tick an assistant from now on."""
        if script.id not in self.scripts:
            now = self._clock.seconds()
            self.scripts[script.id] = script
            script.ndb.next_tick_at = now + script.config.tick_rate
            script.ndb.last_talk_at = script.ndb.last_talk_at or now
        keep_running(self._loop, TICK_CHECK_S)

    def stop(self) -> None:
        """Tick no assistant until `add` is called again."""
        if self.running:
            self._loop.stop()

    def wake_due(self) -> None:
        """Wake every assistant whose tick is due, and drop those with no player near.

        A look for players takes up to 0.2 ms and all may be due at once, so each is queued.
        """
        now = self._clock.seconds()
        for script_id, script in list(self.scripts.items()):
            if not script.pk or not script.obj:
                self._drop(script_id)
            elif is_time(script.ndb.next_tick_at, now, script.config.tick_rate):
                script.ndb.next_tick_at = now + script.config.tick_rate
                script.services.slices.put(self._wake_or_drop, script_id)

    def _wake_or_drop(self, script_id: int) -> None:
        script = self.scripts.get(script_id)
        if script and script.pk and script.obj and script.players_near():
            script.wake()
        else:
            self._drop(script_id)

    def _drop(self, script_id: int) -> None:
        self.scripts.pop(script_id, None)
        if not self.scripts:
            self.stop()

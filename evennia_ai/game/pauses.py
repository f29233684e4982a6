"""Pauses of a character that end early if somebody speaks to it."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import Deferred

from evennia_ai.ports import Script


def pause(script: Script, seconds: float) -> Deferred[bool]:
    """Fire with True after some seconds, with False if `end_pause` comes first."""
    clock: Any = script.services.clock
    pausing = Deferred[bool](lambda _: timer.cancel() if timer.active() else None)
    timer = clock.callLater(seconds, pausing.callback, True)
    script.ndb.pause = (pausing, timer)
    return pausing


def end_pause(script: Script) -> None:
    """End the character's pause now, if it makes one."""
    if script.ndb.pause is None:
        return
    pausing, timer = script.ndb.pause
    script.ndb.pause = None
    if timer.active():
        timer.cancel()
        pausing.callback(False)

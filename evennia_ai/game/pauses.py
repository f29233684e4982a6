"""Pauses of characters that end early if somebody speaks to them."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import Deferred

from evennia_ai.scheduling import Clock, DelayedCall

# The pause that each assistant makes now, by its id.
PAUSES: dict[int, tuple[Deferred[bool], DelayedCall]] = {}


def pause(assistant_id: int, seconds: float, clock: Clock) -> Deferred[bool]:
    """Fire with True after some seconds, with False if `end_pause` comes first."""

    def end(result: Any) -> Any:
        if PAUSES.get(assistant_id) is made:
            del PAUSES[assistant_id]
        return result

    pausing = Deferred[bool](lambda _: timer.cancel() if timer.active() else None)
    timer = clock.callLater(seconds, pausing.callback, True)
    made = PAUSES[assistant_id] = (pausing, timer)
    return pausing.addBoth(end)


def end_pause(assistant_id: int) -> None:
    """End the assistant's pause now, if it makes one."""
    pausing, timer = PAUSES.pop(assistant_id, (None, None))
    if pausing is not None and timer is not None and timer.active():
        timer.cancel()
        pausing.callback(False)

"""Timers that assistants share, on a machine whose clock may be set back."""

from __future__ import annotations

from typing import Any

from twisted.logger import Logger

log = Logger()


def keep_running(timer: Any, interval_s: float) -> None:
    """Start a `LoopingCall` where it does not run, and anew where its next call is more than two
    intervals away: the reactor goes by the machine's clock, and where that was set back by a day,
    everything that is planned comes a day late. From within its own call nothing is planned yet."""
    late = timer.running and timer.call is not None
    if late and timer.call.getTime() - timer.clock.seconds() > 2 * interval_s:
        timer.stop()
    if not timer.running:
        timer.start(interval_s, now=False).addErrback(
            lambda failure: log.failure("a shared timer stopped", failure)
        )


def is_time(due_at: float, now: float, interval_s: float) -> bool:
    """True where something is due that comes every ``interval_s`` seconds: its time is past, or so
    far ahead that the clock must have been set back."""
    return not 0 < due_at - now <= interval_s

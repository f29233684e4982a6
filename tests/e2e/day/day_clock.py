"""The clock of a game whose test sets it: it runs inside of the server.

A day of play copies this file into the game's ``world`` and names it as a service plugin in its
settings. `OFFSET` holds how many seconds the clock is ahead. The monotonic clock is never changed.
"""

import time
from pathlib import Path
from typing import Any

from django.conf import settings

OFFSET = Path(settings.GAME_DIR, "clock.offset")
READ_EVERY_S = 0.1
real_time = time.time


class Shifted:
    """The machine's time as somebody has set it."""

    def __init__(self) -> None:
        self.offset_s, self.read_at = 0.0, float("-inf")

    def __call__(self) -> float:
        """Return unix seconds."""
        if time.monotonic() - self.read_at > READ_EVERY_S:
            self.read_at = time.monotonic()
            self.offset_s = float(OFFSET.read_text() or 0) if OFFSET.exists() else 0.0
        return real_time() + self.offset_s


def start_plugin_services(server: Any) -> None:
    """Set the clock of Python; the package lets Twisted's go by the monotonic one."""
    time.time = Shifted()

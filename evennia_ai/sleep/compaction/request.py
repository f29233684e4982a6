"""Why and how to compact."""

from __future__ import annotations

from dataclasses import dataclass

SLEEP, EMERGENCY, OVERFLOW, MANUAL = "sleep", "emergency", "overflow", "manual"
URGENT = (EMERGENCY, OVERFLOW)
STRIKES = 2


@dataclass(frozen=True)
class CompactionRequest:
    """Why and how to compact. ``force`` skips the threshold and nothing else; ``keep_recent``
    replaces the setting for this once."""

    reason: str = SLEEP
    force: bool = False
    focus: str | None = None
    keep_recent: int | None = None

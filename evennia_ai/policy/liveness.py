"""Which of several server processes live, by the beats that each of them counts.

A process judges by its own clock how long a count has stood still, so that the clocks of two
machines need not agree (a failure detector as in Chandra and Toueg, 1996, with a fixed time-out).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

BEAT_S = 5.0
DEAD_S = 20.0


@dataclass(frozen=True)
class Watched:
    """Another process: its last count of beats, and since when it stands, in seconds."""

    beats: int
    since: float


def watch(
    before: Mapping[int, Watched], counts: Mapping[int, int], now: float
) -> dict[int, Watched]:
    """Return the other processes after a look at their counts of beats."""
    return {
        epoch: old if (old := before.get(epoch)) and old.beats == beats else Watched(beats, now)
        for epoch, beats in counts.items()
    }


def dead(watched: Mapping[int, Watched], now: float) -> dict[int, int]:
    """Return the last count of each process that has not counted for `DEAD_S` seconds."""
    return {epoch: one.beats for epoch, one in watched.items() if now - one.since >= DEAD_S}

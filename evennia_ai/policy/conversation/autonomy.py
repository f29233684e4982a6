"""The decision to act unasked: rarely, and never while people talk."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

HOUR_S = 3_600.0


@dataclass(frozen=True)
class AutonomyState:
    """The input of the decision; times in seconds of one clock, None for never."""

    now: float
    players_near: bool
    acts: Sequence[float] = ()  # earlier autonomous calls
    last_talk_at: float | None = None  # in the room
    news_at: float | None = None  # the last event that deserves a reaction


def should_act(state: AutonomyState, calls_per_hour: int, quiet_s: float) -> bool:
    """Decide whether to think now without being asked; ``quiet_s`` is the silence before a call."""
    # News (an arrival, a message of the game) gets a reaction after a short silence. Without news,
    # the acts are spread evenly over the hour.
    # The acts may come from the log, by a machine's time that was set back since.
    acts = [at for at in state.acts if 0 <= state.now - at < HOUR_S]
    if not state.players_near or len(acts) >= calls_per_hour:
        return False
    last_act = acts[-1] if acts else -math.inf
    has_news = state.news_at is not None and state.news_at > last_act
    if not has_news and state.now - last_act < HOUR_S / calls_per_hour:
        return False
    least_s = min(quiet_s, 2.0) if has_news else quiet_s
    return state.last_talk_at is None or state.now - state.last_talk_at >= least_s

"""The decision to act unasked: rarely, and never while people talk.

Answers to other assistants count as unasked: no player said the line.
"""

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
    acts: Sequence[float] = ()  # earlier autonomous calls, answers to assistants among them
    last_talk_at: float | None = None  # in the room
    news_at: float | None = None  # the last event that deserves a reaction


def should_act(state: AutonomyState, calls_per_hour: int, quiet_s: float) -> bool:
    """Decide whether to think now without being asked; ``quiet_s`` is the silence before a call."""
    # News (an arrival, a message of the game) gets a reaction after a short silence. Without news,
    # the acts are spread evenly over the hour.
    acts = acts_of_hour(state.acts, state.now)
    if not state.players_near or len(acts) >= calls_per_hour:
        return False
    last_act = acts[-1] if acts else -math.inf
    has_news = state.news_at is not None and state.news_at > last_act
    if not has_news and state.now - last_act < HOUR_S / calls_per_hour:
        return False
    least_s = min(quiet_s, 2.0) if has_news else quiet_s
    return state.last_talk_at is None or state.now - state.last_talk_at >= least_s


def may_answer_assistant(acts: Sequence[float], now: float, calls_per_hour: int) -> bool:
    """Return True if the hour has a call left for an answer to another assistant.

    An assistant with 0 calls never acts unasked; only `max_hops` limits such answers of its.
    """
    return calls_per_hour == 0 or len(acts_of_hour(acts, now)) < calls_per_hour


def acts_of_hour(acts: Sequence[float], now: float) -> list[float]:
    """Return the times within the last hour; a clock that was set back leaves later ones."""
    return [at for at in acts if 0 <= now - at < HOUR_S]

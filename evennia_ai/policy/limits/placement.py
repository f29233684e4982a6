"""Which endpoint of a profile a call goes to, and which slot of a llama.cpp server.

A server that has read a character's prompt before reads only what is new in it. So a call goes to
the endpoint that its character used last; if that is busy, it waits there for less time than
reading the whole prompt elsewhere would take. Any other call goes to an endpoint with at least half
of its places free, the cheapest first, then to the least busy one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evennia_ai.errors import (
    Busy,
    CircuitOpen,
    DeadlineExceeded,
    ProviderError,
    ProviderMisconfigured,
    ProviderUnavailable,
    QuotaExhausted,
)

ASSUMED_PLACES = 8  # of an endpoint without a limit, to compare how busy it is
BUSY_SHARE = 0.5  # of its places
PATIENCE_SHARE = 0.5  # of the time that reading the prompt anew would take
DEADLINE_SHARE = 0.25  # of the time that a call has left

# Why a call waits, as staff read it.
GAME_FULL = "all places of the game are taken"
ENDPOINTS_FULL = "all places of the endpoint are taken"
PREFIX = "the endpoint that has its prompt is busy"
PLAYERS_FIRST = "background work leaves the last places to players"
RETRY = "the last attempt failed"


@dataclass(frozen=True)
class Place:
    """An endpoint as one call sees it; ``most`` is the limit of calls in flight, None for none."""

    in_flight: int = 0
    most: int | None = None
    admits: bool = True  # False while its circuit breaker lets no call pass
    tried: bool = False  # the call failed there
    warm: bool = False  # the character's last call went there
    free_in_s: float = 0.0  # the expected time until a place is free
    cost: float = 0.0  # of the call; infinity if unknown
    calls: int = 0  # that it got so far

    @property
    def has_room(self) -> bool:
        """Return True if a call may start there now."""
        return self.admits and (self.most is None or self.in_flight < self.most)

    @property
    def rank(self) -> tuple[bool, float, float, float]:
        """Return what decides among free endpoints, the least first."""
        places = self.most or ASSUMED_PLACES
        load = self.in_flight / places
        return load >= BUSY_SHARE, self.cost, load, self.calls / places


def choose_place(places: Sequence[Place], patience_s: float) -> int | None:
    """Return the index of the endpoint to call now, None to wait.

    ``patience_s`` is how long the call may still wait for the endpoint that has its prefix.
    """
    admitting = [n for n, place in enumerate(places) if place.admits]
    chosen = [n for n in admitting if not places[n].tried] or admitting
    free = [n for n in chosen if places[n].has_room]
    for n in chosen:
        if places[n].warm:
            if n in free:
                return n
            if patience_s > 0 and places[n].free_in_s <= patience_s:
                return None
    return min(free, key=lambda n: places[n].rank, default=None)


def patience_s(prompt_tokens: int, read_per_s: float | None, left_s: float) -> float:
    """Return how long a call may wait for its prefix; 0 s if the reading speed is unknown."""
    if read_per_s is None:
        return 0.0
    return min(PATIENCE_SHARE * prompt_tokens / read_per_s, DEADLINE_SHARE * left_s)


def may_go_elsewhere(error: ProviderError) -> bool:
    """Return True if another endpoint may answer the call that failed with this error."""
    if error.begun or isinstance(error, Busy | CircuitOpen | DeadlineExceeded):
        return False
    return isinstance(error, ProviderUnavailable | ProviderMisconfigured | QuotaExhausted)


@dataclass
class Slot:
    """A prompt cache of a llama.cpp server."""

    owner: str | None = None  # who used it last, None before its first use
    used: int = 0  # grows with each use
    busy: bool = False


def choose_slot(slots: Sequence[Slot], owner: str) -> int | None:
    """Return the slot for a call: its owner's, else the idle one that was used least recently.

    None if all are busy.
    """
    idle = [n for n, slot in enumerate(slots) if not slot.busy]
    own = [n for n in idle if slots[n].owner == owner]
    return min(own or idle, key=lambda n: slots[n].used, default=None)

"""All lanes and pools of the game, with their shared limit; what each does, and who waits."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evennia_ai.config import ModelProfile
from evennia_ai.llm.pools import Call, Lane, Pool
from evennia_ai.policy.limits.breaker import after_report
from evennia_ai.policy.limits.endpoints import (
    ENDPOINTS_FULL,
    GAME_FULL,
    PLAYERS_FIRST,
    PREFIX,
    RETRY,
)

BACKGROUND_SHARE = 0.75


@dataclass(frozen=True)
class LaneHealth:
    """The state of a lane, for admins, with its circuit breaker's pause and last error."""

    profile: str
    model: str
    name: str  # of profile and model, with its number if the profile has several endpoints
    in_flight: int
    waiting: int  # calls that may go to this endpoint
    paused_s: float
    error: str


@dataclass(frozen=True)
class WaitingCall:
    """A call that no endpoint has yet, for admins."""

    assistant: str  # its id, "" for none
    model: str  # of profile and model
    waited_s: float  # since it was asked for
    turn: int  # its position in the queue, from 1; 0 if it is not in the queue
    why: str  # a reason of `policy.limits.endpoints`placement`
    left_s: float  # how long this reason holds at most, 0 if that is not known
    error: str  # of its last attempt, "" before the first

    def __str__(self) -> str:
        """Return for how long it waits, for which model, and why, without the error."""
        turn = f", number {self.turn} in its queue" if self.turn else ""
        left = f", for {self.left_s:.0f} s more" if self.left_s else ""
        return f"waits {self.waited_s:.0f} s for {self.model}{turn}: {self.why}{left}"


class Lanes:
    """All lanes and pools, with their shared cap on calls in flight; pools start calls in turn."""

    def __init__(self, max_in_flight: int) -> None:
        self._max_in_flight = max_in_flight
        self._lanes: dict[tuple[str, ...], Lane] = {}
        self._pools: OrderedDict[tuple[tuple[str, ...], ...], Pool] = OrderedDict()
        self.in_flight = self.waiting = 0

    def pool_for(self, profile: ModelProfile) -> Pool:
        """Return the pool of a profile's endpoints, made at first use."""
        keys = tuple(map(lane_key, profile.each))
        if keys not in self._pools:
            lanes = [self._lanes.setdefault(key, Lane(profile)) for key in keys]
            for number, lane in enumerate(lanes, 1):
                lane.number = number if profile.endpoints else lane.number
            self._pools[keys] = Pool(lanes)
        pool = self._pools[keys]
        for lane, endpoint in zip(pool.lanes, profile.each, strict=True):
            if lane.profile.name == endpoint.name:
                lane.profile = endpoint  # what is told of it changes
        return pool

    def pools_of(self, lane: Lane) -> list[Pool]:
        """Return the pools that a lane is part of."""
        return [pool for pool in self._pools.values() if lane in pool.lanes]

    def wait(self, call: Call) -> None:
        """Add a call to the queue of its pool."""
        caller = call.request.caller
        call.pool.waiting.put(call, caller.assistant, caller.background)
        self.waiting += 1

    def take(self, now: float) -> Call | None:
        """Take the next call out of its queue; None if no call waits or may start."""
        if self.in_flight >= self._max_in_flight:
            return None
        for key, pool in self._pools.items():
            call = pool.next_call(now, self._with_background)
            if call is not None:
                self._pools.move_to_end(key)
                self.leave(call)
                return call
        return None

    @property
    def _with_background(self) -> bool:
        """Return True if background work may start: it leaves a quarter of places to players."""
        return self.in_flight < BACKGROUND_SHARE * self._max_in_flight

    def enter(self, call: Call) -> ModelProfile:
        """Note a call as in flight; return the profile to ask with."""
        self.in_flight += 1
        call.pool.remember(call)
        return call.lane.enter(call)

    def leave(self, call: Call) -> None:
        """Remove a call from its lane or its queue."""
        if call in call.lane.in_flight:
            call.lane.leave(call)
            self.in_flight -= 1
        elif call in call.pool.waiting:
            call.pool.waiting.remove(call)
            self.waiting -= 1

    def pauses(self, now: float) -> dict[str, tuple[float, str]]:
        """Return what this process paused: seconds left and error, by the lane's name."""
        return {
            " ".join(key): (lane.paused_s(now), lane.breaker.error)
            for key, lane in self._lanes.items()
            if lane.breaker.is_own and lane.paused_s(now) > 0
        }

    def note_pauses(self, told: Mapping[str, Sequence[Any]], now: float) -> None:
        """Pause the lanes that another server process paused."""
        for key, lane in self._lanes.items():
            if " ".join(key) in told:
                pause_s, error = told[" ".join(key)]
                lane.breaker = after_report(lane.breaker, pause_s, error, now)

    def health(self, now: float) -> list[LaneHealth]:
        """Return the state of every lane that was used since the start."""
        return [
            LaneHealth(
                profile=lane.profile.name,
                model=lane.profile.model,
                name=lane.name,
                in_flight=len(lane.in_flight),
                waiting=sum(len(pool.waiting) for pool in self.pools_of(lane)),
                paused_s=lane.paused_s(now),
                error=lane.breaker.error,
            )
            for lane in self._lanes.values()
        ]

    def queue(self, now: float) -> Iterator[WaitingCall]:
        """Yield the calls in the queues, in their turns, and why each waits."""
        for pool in self._pools.values():
            for turn, call in enumerate(pool.waiting.in_turn(), 1):
                yield waiting_call(call, now, turn, self._why(call, now))

    def _why(self, call: Call, now: float) -> str:
        if self.in_flight >= self._max_in_flight:
            return GAME_FULL
        if call.request.caller.background and not self._with_background:
            return PLAYERS_FIRST
        return PREFIX if call.pool.has_place(now) else ENDPOINTS_FULL


def waiting_call(call: Call, now: float, turn: int, why: str) -> WaitingCall:
    """Return what admins see of a call that waits."""
    profile = call.profile
    return WaitingCall(
        assistant=call.request.caller.assistant,
        model=f"{profile.name}:{profile.model}",
        waited_s=now - call.asked_at,
        turn=turn,
        why=why,
        left_s=max(0.0, call.waits_until - now) if why in (PREFIX, RETRY) else 0.0,
        error=call.error,
    )


def lane_key(profile: ModelProfile) -> tuple[str, ...]:
    """Return what tells an endpoint, its key and model from others."""
    return profile.client, profile.base_url, profile.api_key_env, profile.model

"""One lane for each endpoint and model: who waits for it, how many are with it, how well it is."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from twisted.internet.defer import Deferred

from evennia_ai.config import ModelProfile
from evennia_ai.policy.limits.breaker import Breaker
from evennia_ai.policy.limits.budgets import Reservation
from evennia_ai.policy.limits.fair_queue import FairQueue
from evennia_ai.ports import LLMClient, LLMReply, LLMRequest

BACKGROUND_SHARE = 0.75


@dataclass(eq=False)
class Call:
    """One request on its way, over all its tries.

    It waits in its lane, or is in flight (``work`` is what the client gave us), or pauses before
    the next try. ``result`` is what the caller holds; times are the clock's seconds.
    """

    client: LLMClient
    request: LLMRequest
    profile: ModelProfile
    lane: Lane
    deadline_at: float
    result: Deferred[LLMReply]
    reservation: Reservation | None = None
    attempts: int = 0
    started_at: float = 0.0
    timer: Any = None
    pause: Any = None
    work: Deferred[Any] | None = None
    ended: bool = False


@dataclass(eq=False)
class Lane:
    """The way to one model of one endpoint. ``most`` is its cap on calls in flight, None for no
    cap of its own."""

    profile: ModelProfile
    most: int | None = None
    breaker: Breaker = field(default_factory=Breaker)
    waiting: FairQueue[Call] = field(default_factory=FairQueue)
    in_flight: set[Call] = field(default_factory=set)

    @property
    def has_room(self) -> bool:
        """True where its own cap lets another call start."""
        return self.most is None or len(self.in_flight) < self.most


@dataclass(frozen=True)
class LaneHealth:
    """How a lane is, for those who look after the game.

    ``paused_s`` is how long it is still left alone, 0 where it is not; ``error`` its last failure.
    """

    profile: str
    model: str
    in_flight: int
    waiting: int
    paused_s: float
    error: str


class Lanes:
    """All lanes, with the cap they share. Each lane that may start a call gets its turn."""

    def __init__(self, max_in_flight: int) -> None:
        self._max_in_flight = max_in_flight
        self._lanes: OrderedDict[tuple[str, ...], Lane] = OrderedDict()
        self.in_flight = self.waiting = 0

    def lane_for(self, profile: ModelProfile) -> Lane:
        """The lane of a profile's endpoint, key and model, made at its first use. What is wrong
        with one key says nothing of another."""
        key = (profile.client, profile.base_url, profile.api_key_env, profile.model)
        if key not in self._lanes:
            self._lanes[key] = Lane(profile, profile.max_in_flight)
        return self._lanes[key]

    def wait(self, call: Call) -> None:
        """Put a call at the end of its lane."""
        caller = call.request.caller
        call.lane.waiting.put(call, caller.assistant, caller.background)
        self.waiting += 1

    def take(self) -> Call | None:
        """The next call that may start, now in flight; None where nobody waits or nobody may.

        Background work leaves a quarter of all places to players.
        """
        if self.in_flight >= self._max_in_flight:
            return None
        free_for_background = self.in_flight < BACKGROUND_SHARE * self._max_in_flight
        for key, lane in self._lanes.items():
            if not lane.waiting or not lane.has_room:
                continue
            if lane.waiting.only_background and not free_for_background:
                continue
            self._lanes.move_to_end(key)
            call = lane.waiting.take()
            lane.in_flight.add(call)
            self.waiting -= 1
            self.in_flight += 1
            return call
        return None

    def leave(self, call: Call) -> None:
        """Take a call off the road, wherever it is."""
        if call in call.lane.in_flight:
            call.lane.in_flight.remove(call)
            self.in_flight -= 1
        elif call in call.lane.waiting:
            call.lane.waiting.remove(call)
            self.waiting -= 1

    def health(self, now: float) -> list[LaneHealth]:
        """How every lane is that was used since the start."""
        return [
            LaneHealth(
                profile=lane.profile.name,
                model=lane.profile.model,
                in_flight=len(lane.in_flight),
                waiting=len(lane.waiting),
                paused_s=max(0.0, (lane.breaker.open_until or now) - now),
                error=lane.breaker.error,
            )
            for lane in self._lanes.values()
        ]

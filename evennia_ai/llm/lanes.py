"""Lanes, one for each endpoint and model: its calls and circuit breaker."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from evennia_ai.config import ModelProfile
from evennia_ai.errors import CircuitOpen
from evennia_ai.messages import Usage
from evennia_ai.policy.limits.breaker import Breaker, after_report
from evennia_ai.policy.limits.budgets import Reservation
from evennia_ai.policy.limits.fair_queue import FairQueue
from evennia_ai.policy.overflow import is_local
from evennia_ai.ports import LLMClient, LLMReply, LLMRequest
from evennia_ai.scheduling import DelayedCall

BACKGROUND_SHARE = 0.75


@dataclass(eq=False)
class Call:
    """One request, over all its attempts: it waits in its lane, is in flight, or pauses."""

    client: LLMClient
    request: LLMRequest
    profile: ModelProfile
    lane: Lane
    deadline_at: float  # in the clock's seconds
    result: Deferred[LLMReply]  # the caller's
    reserved: Collection[Reservation] = ()
    attempts: int = 0
    started_at: float = 0.0
    timer: DelayedCall | None = None
    pause: DelayedCall | None = None  # before a retry
    work: Deferred[LLMReply] | None = None  # the client's, while it is in flight
    ended: bool = False

    def usage(self, outcome: LLMReply | Failure) -> Usage:
        """Return the tokens to charge: the reported usage, else the estimate."""
        # A failed call costs nothing, unless its client still has it or its streamed reply had
        # begun: then it may be billed.
        if isinstance(outcome, Failure):
            billed = self.work is not None or getattr(outcome.value, "begun", False)
            return Usage(self.request.tokens if billed else 0, 0)
        return outcome.usage or Usage(self.request.tokens, 0)


@dataclass(eq=False)
class Lane:
    """One model of one endpoint; ``most`` caps its calls in flight, None sets no cap."""

    profile: ModelProfile
    most: int | None = None
    answered: bool = False
    warned_of: str = ""  # the error of the last warning in the log, until a call succeeds
    breaker: Breaker = field(default_factory=Breaker)
    waiting: FairQueue[Call] = field(default_factory=FairQueue)
    in_flight: set[Call] = field(default_factory=set)

    @property
    def has_place(self) -> bool:
        """Return True if its own cap lets another call start."""
        return self.most is None or len(self.in_flight) < self.most

    @property
    def starting(self) -> bool:
        """Return True while a local endpoint has not answered yet."""
        return not self.answered and is_local(self.profile.base_url)

    def paused_s(self, now: float) -> float:
        """Return for how many seconds its circuit breaker stays open, 0 if it is closed."""
        return max(0.0, (self.breaker.open_until or now) - now)

    def circuit_open(self, now: float) -> CircuitOpen:
        """Return the error of a call that the open circuit breaker refuses."""
        return CircuitOpen(
            f"The model '{self.profile.model}' of the profile '{self.profile.name}' gets no calls "
            f"for {self.paused_s(now):.0f} s more, after: {self.breaker.error}"
        )


@dataclass(frozen=True)
class LaneHealth:
    """The state of a lane, for admins, with its circuit breaker's pause and last error."""

    profile: str
    model: str
    in_flight: int
    waiting: int
    paused_s: float
    error: str


class Lanes:
    """All lanes, with their shared cap on calls in flight; they start calls in turn."""

    def __init__(self, max_in_flight: int) -> None:
        self._max_in_flight = max_in_flight
        self._lanes: OrderedDict[tuple[str, ...], Lane] = OrderedDict()
        self.in_flight = self.waiting = 0

    def lane_for(self, profile: ModelProfile) -> Lane:
        """Return the lane of a profile's endpoint, key and model, made at first use."""
        key = (profile.client, profile.base_url, profile.api_key_env, profile.model)
        if key not in self._lanes:
            self._lanes[key] = Lane(profile, profile.max_in_flight)
        return self._lanes[key]

    def wait(self, call: Call) -> None:
        """Add a call to the queue of its lane."""
        caller = call.request.caller
        call.lane.waiting.put(call, caller.assistant, caller.background)
        self.waiting += 1

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

    def take(self) -> Call | None:
        """Return the next call, now in flight; None if no call waits or may start."""
        # Background work leaves a quarter of all places to players.
        if self.in_flight >= self._max_in_flight:
            return None
        free_for_background = self.in_flight < BACKGROUND_SHARE * self._max_in_flight
        for key, lane in self._lanes.items():
            may_start = free_for_background or not lane.waiting.only_background
            if lane.waiting and lane.has_place and may_start:
                self._lanes.move_to_end(key)
                call = lane.waiting.take()
                lane.in_flight.add(call)
                self.waiting -= 1
                self.in_flight += 1
                return call
        return None

    def leave(self, call: Call) -> None:
        """Remove a call from its lane, in flight or waiting."""
        if call in call.lane.in_flight:
            call.lane.in_flight.remove(call)
            self.in_flight -= 1
        elif call in call.lane.waiting:
            call.lane.waiting.remove(call)
            self.waiting -= 1

    def health(self, now: float) -> list[LaneHealth]:
        """Return the state of every lane that was used since the start."""
        return [
            LaneHealth(
                profile=lane.profile.name,
                model=lane.profile.model,
                in_flight=len(lane.in_flight),
                waiting=len(lane.waiting),
                paused_s=lane.paused_s(now),
                error=lane.breaker.error,
            )
            for lane in self._lanes.values()
        ]

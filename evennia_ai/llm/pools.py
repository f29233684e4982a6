"""Calls, the lanes of endpoints, and pools: the lanes of a profile's endpoints with one queue.

A pool keeps no place for a waiting call: where a call goes is decided when it starts.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from evennia_ai.config import ModelProfile
from evennia_ai.errors import CircuitOpen
from evennia_ai.llm.quirks import slot_fields
from evennia_ai.messages import Usage
from evennia_ai.policy.limits.breaker import Breaker, admits
from evennia_ai.policy.limits.endpoints import Place, Slot, choose_place, choose_slot, patience_s
from evennia_ai.policy.limits.fair_queue import FairQueue
from evennia_ai.policy.limits.money import Reservation
from evennia_ai.ports import LLMClient, LLMReply, LLMRequest
from evennia_ai.scheduling import DelayedCall

NEW_SHARE = 0.3
MOST_REMEMBERED = 10_000  # characters, for each pool
UNKNOWN_COST = float("inf")


@dataclass(eq=False)
class Call:
    """One request, over all its attempts: it waits in its pool, is in flight, or pauses."""

    client: LLMClient
    request: LLMRequest
    profile: ModelProfile  # the caller's
    pool: Pool
    deadline_at: float  # in the clock's seconds
    result: Deferred[LLMReply]  # the caller's
    asked_at: float
    reserved: Collection[Reservation] = ()
    attempts: int = 0
    started_at: float = 0.0
    place: int = 0  # the index of the endpoint that has it, or had it last
    slot: int | None = None  # of that endpoint
    tried: set[int] = field(default_factory=set)  # indexes of endpoints that failed
    waits_until: float = 0.0  # before a retry, or for the endpoint with its prefix
    error: str = ""  # of the last attempt
    timer: DelayedCall | None = None
    pause: DelayedCall | None = None  # before a retry
    patience: DelayedCall | None = None
    work: Deferred[LLMReply] | None = None  # the client's, while it is in flight
    ended: bool = False

    @property
    def lane(self) -> Lane:
        """Return the lane of its endpoint."""
        return self.pool.lanes[self.place]

    @property
    def endpoint(self) -> ModelProfile:
        """Return the profile of its endpoint."""
        return self.profile.each[self.place]

    @property
    def owner(self) -> str:
        """Return whose prefix its prompt has, "" for a prompt apart from the talk."""
        caller = self.request.caller
        return "" if caller.turn_id is None else caller.assistant

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
    """One model of one endpoint."""

    profile: ModelProfile  # of this endpoint alone, as the last call had it
    number: int = 0  # of several endpoints of its profile, from 1; 0 for the only one
    answered: bool = False
    warned_of: str = ""  # the error of the last warning in the log, until a call succeeds
    calls: int = 0  # since the server start
    call_s: float = 0.0  # how long a call takes, a running figure
    breaker: Breaker = field(default_factory=Breaker)
    in_flight: set[Call] = field(default_factory=set)
    slots: list[Slot] = field(default_factory=list)

    @property
    def most(self) -> int | None:
        """Return the limit of calls in flight, None for none; a slot takes one call at a time."""
        return self.profile.max_in_flight or self.profile.slots or None

    @property
    def has_place(self) -> bool:
        """Return True if its own limit lets another call start."""
        return self.most is None or len(self.in_flight) < self.most

    @property
    def starting(self) -> bool:
        """Return True while a local endpoint has not answered yet."""
        return not self.answered and self.profile.is_local

    @property
    def name(self) -> str:
        """Return its model as staff read it."""
        which = f" (endpoint {self.number})" if self.number else ""
        return f"{self.profile.name}:{self.profile.model}{which}"

    def paused_s(self, now: float) -> float:
        """Return for how many seconds its circuit breaker stays open, 0 if it is closed."""
        return max(0.0, (self.breaker.open_until or now) - now)

    def free_in_s(self, now: float) -> float:
        """Return the expected time until a place is free, 0 if one is."""
        if self.has_place:
            return 0.0
        return max(0.0, min(call.started_at for call in self.in_flight) + self.call_s - now)

    def circuit_open(self, now: float) -> CircuitOpen:
        """Return the error of a call that the open circuit breaker refuses."""
        return CircuitOpen(
            f"The model '{self.profile.model}' of the profile '{self.profile.name}' gets no calls "
            f"for {self.paused_s(now):.0f} s more, after: {self.breaker.error}"
        )

    def enter(self, call: Call) -> ModelProfile:
        """Note a call as in flight; return the profile to ask with, which names its slot."""
        self.in_flight.add(call)
        self.calls += 1
        if not self.slots:
            self.slots = [Slot() for _ in range(self.profile.slots or 0)]
        call.slot = choose_slot(self.slots, call.owner)
        if call.slot is None:
            return call.endpoint
        used = 1 + max(slot.used for slot in self.slots)
        self.slots[call.slot] = Slot(call.owner, used, busy=True)
        extra = {**slot_fields(call.slot), **call.endpoint.extra}
        return replace(call.endpoint, extra=extra)

    def leave(self, call: Call) -> None:
        """Note that a call is no longer in flight."""
        self.in_flight.remove(call)
        if call.slot is not None:
            self.slots[call.slot].busy = False

    def note_reply(self, took_s: float) -> None:
        """Note that a call was answered in some seconds."""
        self.call_s += (NEW_SHARE if self.answered else 1.0) * (took_s - self.call_s)
        self.answered, self.warned_of = True, ""


class Pool:
    """The endpoints of a profile, and the calls that wait for any of them."""

    def __init__(self, lanes: Sequence[Lane]) -> None:
        self.lanes = tuple(lanes)
        self.waiting: FairQueue[Call] = FairQueue()
        self._last: OrderedDict[str, int] = OrderedDict()  # the endpoint that has a prefix

    def open_places(self, now: float) -> list[int]:
        """Return the indexes of the endpoints that take calls.

        One that failed takes a call again only if there is no other one, since that is a trial.
        """
        closed = [n for n, lane in enumerate(self.lanes) if lane.breaker.closed]
        return closed or self.admitting(now)

    def on_trial(self, now: float) -> list[int]:
        """Return the indexes of the endpoints whose pause is over while others take the calls."""
        taking = self.open_places(now)
        return [n for n in self.admitting(now) if n not in taking]

    def admitting(self, now: float) -> list[int]:
        """Return the indexes of the endpoints whose circuit breakers let a call pass."""
        return [n for n, lane in enumerate(self.lanes) if admits(lane.breaker, now)]

    def circuit_open(self, now: float) -> CircuitOpen:
        """Return the error of a call that no endpoint takes."""
        return min(self.lanes, key=lambda lane: lane.paused_s(now)).circuit_open(now)

    def has_place(self, now: float) -> bool:
        """Return True if a call may start by the limits of the endpoints."""
        return any(self.lanes[n].has_place for n in self.open_places(now))

    def last_place(self, call: Call) -> int | None:
        """Return the index of the endpoint that has a call's prefix, None if it is not known."""
        return self._last.get(call.owner) if call.owner else None

    def patience_s(self, call: Call, now: float) -> float:
        """Return how long a call may wait for the endpoint that has its prefix."""
        last = self.last_place(call)
        if last is None or len(self.lanes) == 1:
            return 0.0
        read_per_s = call.profile.each[last].told.speed.read
        return patience_s(call.request.tokens, read_per_s, call.deadline_at - now)

    def choose(self, call: Call, now: float) -> int | None:
        """Return the index of the endpoint that a call goes to now, None if it waits."""
        chosen = self.open_places(now)
        if len(self.lanes) == 1:
            return 0 if chosen and self.lanes[0].has_place else None
        last, request = self.last_place(call), call.request
        places = []
        for n, lane in enumerate(self.lanes):
            price = call.profile.each[n].price
            cost = price.cost(request.tokens, request.max_tokens or 0) if price else UNKNOWN_COST
            places.append(
                Place(
                    in_flight=len(lane.in_flight),
                    most=lane.most,
                    admits=n in chosen,
                    tried=n in call.tried,
                    warm=n == last,
                    free_in_s=lane.free_in_s(now) if n == last else 0.0,
                    cost=cost,
                    calls=lane.calls,
                )
            )
        return choose_place(places, call.waits_until - now)

    def remember(self, call: Call) -> None:
        """Remember which endpoint reads a call's prefix."""
        if not call.owner or len(self.lanes) == 1:
            return
        self._last[call.owner] = call.place
        self._last.move_to_end(call.owner)
        if len(self._last) > MOST_REMEMBERED:
            self._last.popitem(last=False)

    def next_call(self, now: float, with_background: bool) -> Call | None:
        """Return the next call in turn that may start, with its place; None if all wait.

        If no endpoint takes calls, this is the first in turn: it must end.
        """
        is_open = bool(self.open_places(now))
        if not self.waiting or (is_open and not self.has_place(now)):
            return None
        for call in self.waiting.in_turn():
            if call.request.caller.background and not with_background:
                return None
            place = self.choose(call, now)
            if place is not None:
                call.place = place
            if place is not None or not is_open:
                return call
        return None

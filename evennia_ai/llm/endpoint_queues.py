"""Model calls, and lanes: the calls to one model of one endpoint, in flight or waiting.

All lanes share a cap on calls in flight, and start their calls in turn.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from evennia_ai.config import ModelProfile
from evennia_ai.errors import CircuitOpen
from evennia_ai.messages import LLMReply, Usage
from evennia_ai.policy.limits.retry import Breaker, paused_s, with_probe
from evennia_ai.ports import Caller, LLMClient, LLMRequest
from evennia_ai.scheduling import Clock, DelayedCall

Settle = Callable[[Usage], object]

BACKGROUND_SHARE = 0.75  # of all places; the others are left to players

FALLBACK_S = 20.0  # that a profile's fallback needs at most

QUIET_S = 60.0  # after a player's call, before background work begins at an endpoint with one slot

# Why a call waits, as staff read it.
GAME_FULL = "all places of the game are taken"
ENDPOINT_FULL = "all places of the endpoint are taken"
PLAYERS_FIRST = "background work leaves the last places to players"
TALK = "players talk with this endpoint, which does one thing at a time"
RETRY = "the last attempt failed"


@dataclass(eq=False)
class QueuedCall:
    """One request, over all its attempts: it waits in its lane, is in flight, or pauses."""

    client: LLMClient
    request: LLMRequest
    profile: ModelProfile
    lane: EndpointQueue
    deadline_at: float  # in the clock's seconds
    result: Deferred[LLMReply]  # the caller's
    asked_at: float
    settle: Sequence[Settle] = ()  # called with what it used, when it has ended
    attempts: int = 0
    started_at: float = 0.0
    error: str = ""  # of the last attempt
    timer: DelayedCall | None = None
    pause: DelayedCall | None = None  # before a retry, or while players talk
    work: Deferred[LLMReply] | None = None  # the client's, while it is in flight
    ended: bool = False

    @property
    def for_fallback_s(self) -> float:
        """Return the seconds that the newest attempt leaves to the profile's fallback."""
        left_s = self.deadline_at - self.started_at
        return min(left_s / 2, FALLBACK_S) if self.profile.fallback else 0.0

    def usage(self, outcome: LLMReply | Failure) -> Usage:
        """Return the tokens to charge: the reported usage, else the estimate."""
        # A failed call costs nothing, unless its client still has it or its streamed reply had
        # begun: then it may be billed.
        if isinstance(outcome, Failure):
            billed = self.work is not None or getattr(outcome.value, "begun", False)
            return Usage(self.request.tokens if billed else 0, 0)
        return outcome.usage or Usage(self.request.tokens, 0)

    def withdraw(self) -> None:
        """Leave the lane; what its client has is cancelled, and proved nothing."""
        self.lane.leave(self)
        if self.work is not None:
            work, self.work = self.work, None
            self.lane.breaker = with_probe(self.lane.breaker, None)
            work.cancel()


@dataclass(eq=False)
class EndpointQueue:
    """One model of one endpoint."""

    clock: Clock
    profile: ModelProfile  # as the last call had it
    answered: bool = False
    warned_of: str = ""  # the cause of the last warning in the log, until a call succeeds
    breaker: Breaker = field(default_factory=Breaker)
    in_flight: set[QueuedCall] = field(default_factory=set)
    waiting: dict[QueuedCall, None] = field(default_factory=dict)  # in the order in which they came

    @property
    def name(self) -> str:
        """Return its profile and model as staff read them."""
        return f"{self.profile.name}:{self.profile.model}"

    @property
    def has_place(self) -> bool:
        """Return True if its own limit lets another call start."""
        most = self.profile.max_in_flight
        return not most or len(self.in_flight) < most

    @property
    def has_one_slot(self) -> bool:
        """Return True if its endpoint seems to do one thing at a time."""
        most = self.profile.max_in_flight
        return most == 1 or (not most and self.profile.is_local)

    @property
    def paused_s(self) -> float:
        """Return for how many seconds its circuit breaker lets no call pass."""
        return paused_s(self.breaker, self.clock.seconds())

    def circuit_open(self) -> CircuitOpen:
        return CircuitOpen(
            f"The model '{self.profile.model}' of the profile '{self.profile.name}' gets no calls "
            f"for a while, after: {self.breaker.error}"
        )

    def leave(self, call: QueuedCall) -> None:
        self.in_flight.discard(call)
        self.waiting.pop(call, None)


@dataclass(frozen=True)
class WaitingCall:
    """A call that no endpoint has yet, for admins."""

    assistant: str  # its id, "" for none
    model: str  # of profile and model
    why: str  # one of this module's reasons
    error: str  # of its last attempt, "" before the first
    words: str  # for how long it waits, for which model, and why, without the error


class EndpointQueues:
    """All lanes, with their shared cap on calls in flight, and all calls under way."""

    def __init__(self, clock: Clock, max_in_flight: int) -> None:
        self._clock = clock
        self._max_in_flight = max_in_flight
        self._lanes: OrderedDict[str, EndpointQueue] = OrderedDict()
        self.calls: dict[QueuedCall, None] = {}
        self._talked_at: dict[str, float] = {}  # by the endpoint's address

    def note_talk(self, lane: EndpointQueue) -> list[QueuedCall]:
        """Note that a player's call came; return the calls that must make way."""
        if lane.has_one_slot:
            self._talked_at[lane.profile.base_url] = self._clock.seconds()
        return [call for call in self.calls if self.talk_s(call.lane, call.request.caller)]

    def talk_s(self, lane: EndpointQueue, caller: Caller) -> float:
        """Return for how many seconds a call must wait since players talk, 0 for their own.

        At an endpoint with one slot this holds up all background work, whatever model it asks.
        """
        if not (caller.background and lane.has_one_slot):
            return 0.0
        talked_at = self._talked_at.get(lane.profile.base_url, float("-inf"))
        return max(0.0, talked_at + QUIET_S - self._clock.seconds())

    def __iter__(self) -> Iterator[EndpointQueue]:
        """Iterate over every lane that was used since the start."""
        return iter(self._lanes.values())

    @property
    def in_flight(self) -> int:
        return sum([len(lane.in_flight) for lane in self])

    @property
    def waiting(self) -> int:
        return sum(len(lane.waiting) for lane in self)

    @property
    def is_full(self) -> bool:
        return self.in_flight >= self._max_in_flight

    def lane_for(self, profile: ModelProfile) -> EndpointQueue:
        """Return the lane of a profile's endpoint and model, made at first use."""
        key = f"{profile.client} {profile.base_url} {profile.api_key_env} {profile.model}"
        lane = self._lanes.setdefault(key, EndpointQueue(self._clock, profile))
        if lane.profile.name == profile.name:
            lane.profile = profile  # what is told of it changes
        return lane

    def take(self) -> QueuedCall | None:
        """Take the next call out of its queue; None if no call waits or may start.

        If the circuit breaker of its lane lets no call pass, this call must end.
        """
        if self.is_full:
            return None
        is_free = self.in_flight < BACKGROUND_SHARE * self._max_in_flight
        for key, lane in self._lanes.items():
            if not lane.waiting or not (lane.has_place or lane.paused_s):
                continue
            call = min(lane.waiting, key=lambda waiting: waiting.request.caller.background)
            if is_free or not call.request.caller.background:
                self._lanes.move_to_end(key)
                lane.leave(call)
                return call
        return None

    def queue(self) -> list[WaitingCall]:
        """Return every call that no endpoint has now, and why, in the order in which they came."""
        return [self._waiting_call(call) for call in self.calls if call.work is None]

    def _waiting_call(self, call: QueuedCall) -> WaitingCall:
        now, model = self._clock.seconds(), f"{call.profile.name}:{call.profile.model}"
        if call.pause:
            why = TALK if self.talk_s(call.lane, call.request.caller) else RETRY
        elif self.is_full:
            why = GAME_FULL
        else:
            why = PLAYERS_FIRST if call.lane.has_place else ENDPOINT_FULL
        words = f"waits {now - call.asked_at:.0f} s for {model}: {why}"
        if call.pause:
            words += f", for {max(0.0, call.pause.getTime() - now):.0f} s more"
        return WaitingCall(call.request.caller.assistant, model, why, call.error, words)

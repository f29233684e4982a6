"""The only way to a model: one deadline over all tries, caps, budgets, and a switch for all."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

from twisted.internet.defer import CancelledError, Deferred, fail, maybeDeferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure

from evennia_ai.config import ModelProfile
from evennia_ai.errors import (
    AssistantError,
    BudgetExhausted,
    Busy,
    CircuitOpen,
    DeadlineExceeded,
    ProviderError,
    ProviderMisconfigured,
    SwitchedOff,
    TurnAborted,
)
from evennia_ai.llm.lanes import Call, Lane, LaneHealth, Lanes
from evennia_ai.policy.limits.backoff import RetryLimits, retry_delay
from evennia_ai.policy.limits.breaker import (
    BreakerLimits,
    admits,
    after_abandoned,
    after_failure,
    after_start,
    after_success,
    judges_endpoint,
)
from evennia_ai.policy.limits.budgets import (
    ASSISTANT,
    GAME,
    NAMES,
    PLAYER,
    WHOLE_GAME,
    Account,
    Budgets,
    Charge,
    Reservation,
)
from evennia_ai.ports import Caller, LLMClient, LLMReply, LLMRequest

log = Logger()

FREE_CLIENT = "offline"
PATIENCE_S = 5.0
TIGHT = 0.8


@dataclass(frozen=True)
class GatewayLimits:
    """What the gateway allows; budgets are in tokens a UTC day, None for no limit."""

    max_in_flight: int = 64
    max_queued: int = 256
    player_tokens_per_day: int | None = None
    game_tokens_per_day: int | None = None
    retry: RetryLimits = field(default_factory=RetryLimits)
    breaker: BreakerLimits = field(default_factory=BreakerLimits)


def nothing_spent(day: date) -> Mapping[Account, int]:
    """The spending of a game without a log."""
    return {}


class ModelGateway:
    """`ports.Gateway` over named clients.

    A call waits in its endpoint's lane, fairly between assistants and players before background
    work; it holds a place while it is with its client only, not while it pauses before another
    try. A place is free again the moment a call ends for its caller, whatever its client does.

    Args:
        clock: time, for deadlines, pauses and the day.
        clients: by name, as profiles name them; calls of ``offline`` cost nothing.
        limits: caps, budgets, retries, breaker.
        spent: what each account spent on a UTC day, read when the day's first call comes.
        jitter: draws evenly from 0 to 1.
    """

    def __init__(
        self,
        clock: IReactorTime,
        clients: Mapping[str, LLMClient],
        limits: GatewayLimits = GatewayLimits(),
        spent: Callable[[date], Mapping[Account, int]] = nothing_spent,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._clock: Any = clock  # zope's interfaces mean nothing to a type checker
        self._clients = clients
        self._limits = limits
        self._spent = spent
        self._jitter = jitter
        self._lanes = Lanes(limits.max_in_flight)
        self._budgets = Budgets()
        self._calls: dict[Call, None] = {}
        self._starting = False
        self._shut: AssistantError | None = None

    # --- for callers -----------------------------------------------------------------------------

    @property
    def in_flight(self) -> int:
        """How many calls are with their clients now."""
        return self._lanes.in_flight

    @property
    def queued(self) -> int:
        """How many calls wait for a place."""
        return self._lanes.waiting

    def complete(
        self, request: LLMRequest, profile: ModelProfile, deadline_at: float
    ) -> Deferred[LLMReply]:
        """Ask before ``deadline_at``, in the clock's seconds; waiting for a place counts.

        Transient failures are tried again while there is time. Fires with the reply; fails with
        what the client failed with last, with DeadlineExceeded, with CircuitOpen where the endpoint
        is left alone, with Busy where the queue is full, with BudgetExhausted, with
        ProviderMisconfigured where there is no such client, with SwitchedOff, and with TurnAborted
        once the gateway is closed. Cancelling frees the place.
        """
        lane = self._lanes.lane_for(profile)
        problem = self._refusal(lane, profile, deadline_at)
        if problem is not None:
            return fail(problem)
        try:
            reservation = self._reserve(request, profile)
        except BudgetExhausted as error:
            return fail(error)
        call = Call(
            client=self._clients[profile.client],
            request=request,
            profile=profile,
            lane=lane,
            deadline_at=deadline_at,
            result=Deferred(lambda _: self._finish(call, Failure(CancelledError()))),
            reservation=reservation,
        )
        left_s = deadline_at - self._clock.seconds()
        call.timer = self._clock.callLater(left_s, self._expire, call)
        self._calls[call] = None
        self._wait(call)
        return call.result

    def health(self) -> list[LaneHealth]:
        """How every endpoint is that was asked since the start."""
        return self._lanes.health(self._clock.seconds())

    def spent_today(self) -> Mapping[Account, int]:
        """Tokens by account since the day began, in UTC."""
        return dict(self._today().spent)

    def tight_budgets(self) -> list[tuple[str, int, int]]:
        """The game's and the players' budgets of which most is used, as (whose, tokens, limit)."""
        limits = {
            GAME: self._limits.game_tokens_per_day,
            PLAYER: self._limits.player_tokens_per_day,
        }
        return [
            (f"{NAMES[kind].capitalize()} {key}".strip(), spent, limit)
            for (kind, key), spent in sorted(self._today().spent.items())
            if (limit := limits.get(kind)) is not None and spent > TIGHT * limit
        ]

    # --- shutting and opening ---------------------------------------------------------------------

    def close(self) -> None:
        """Refuse new calls and fail every other with TurnAborted: none of them is to be answered.

        The turns they belong to are taken up again by whoever comes after us.
        """
        self._shut_down(TurnAborted("The server is stopping: no model is asked any more."))

    def switch_off(self, reason: str) -> None:
        """Refuse new calls and fail every other with SwitchedOff, at once."""
        self._shut_down(SwitchedOff(reason))

    def open(self) -> None:
        """Take calls again after `close` or `switch_off`."""
        self._shut = None

    def _shut_down(self, error: AssistantError) -> None:
        self._shut = error
        for call in list(self._calls):
            self._end(call, Failure(error))

    # --- before a call ----------------------------------------------------------------------------

    def _refusal(
        self, lane: Lane, profile: ModelProfile, deadline_at: float
    ) -> AssistantError | None:
        """Why a call is not even taken, or None."""
        if self._shut is not None:
            return self._shut
        if profile.client not in self._clients:
            known = ", ".join(sorted(self._clients)) or "none"
            return ProviderMisconfigured(
                f"The profile '{profile.name}' wants the client '{profile.client}', "
                f"which is not running; there are: {known}."
            )
        now = self._clock.seconds()
        if deadline_at <= now:
            return late(profile)
        if not admits(lane.breaker, now):
            return left_alone(lane, now)
        has_place = self.in_flight < self._limits.max_in_flight and lane.has_room
        if not has_place and self.queued >= self._limits.max_queued:
            return Busy(
                f"{self.in_flight} model calls are under way and {self.queued} wait: "
                "there is no room for another."
            )
        return None

    def _today(self) -> Budgets:
        day = datetime.fromtimestamp(self._clock.seconds(), UTC).date()
        if self._budgets.day != day:
            self._budgets.begin_day(day, self._spent(day))
        return self._budgets

    def _reserve(self, request: LLMRequest, profile: ModelProfile) -> Reservation | None:
        """Put the most a call can cost aside; raises BudgetExhausted."""
        if profile.client == FREE_CLIENT:
            return None
        budgets, charge = self._today(), self._charge(request.caller)
        tokens = request.tokens + (request.max_tokens or 0)
        broken = budgets.exhausted(charge, tokens)
        if broken is not None:
            raise BudgetExhausted(
                f"{NAMES[broken[0]].capitalize()} of {charge.limits[broken]} tokens for today "
                f"is used up."
            )
        return budgets.reserve(charge, tokens)

    def _charge(self, caller: Caller) -> Charge:
        limits: dict[Account, int | None] = {(ASSISTANT, caller.assistant): caller.tokens_per_day}
        for speaker in sorted(caller.speakers):
            limits[PLAYER, speaker] = self._limits.player_tokens_per_day
        limits[WHOLE_GAME] = self._limits.game_tokens_per_day
        return Charge(limits)

    # --- the course of a call ---------------------------------------------------------------------

    def _wait(self, call: Call) -> None:
        call.pause = None
        self._lanes.wait(call)
        self._start_waiting()

    def _start_waiting(self) -> None:
        """Start calls while there is room; never within itself, however fast clients fail."""
        if self._starting:
            return
        self._starting = True
        while self._shut is None and (call := self._lanes.take()) is not None:
            self._start(call)
        self._starting = False

    def _start(self, call: Call) -> None:
        now, lane = self._clock.seconds(), call.lane
        if not admits(lane.breaker, now):
            self._end(call, Failure(left_alone(lane, now)))
            return
        lane.breaker = after_start(lane.breaker)
        call.attempts += 1
        call.started_at = now
        call.work = maybeDeferred(call.client.complete, call.request, call.profile)
        call.work.addBoth(lambda outcome: self._judge(call, outcome))

    def _judge(self, call: Call, outcome: LLMReply | Failure) -> None:
        """A try came to its end: the call's outcome, or a pause and another try."""
        if call.ended:
            return
        call.work = None
        self._lanes.leave(call)
        if isinstance(outcome, Failure):
            delay = self._retry_after(call, outcome)
            if delay is not None:
                call.pause = self._clock.callLater(delay, self._wait, call)
                self._start_waiting()
                return
        else:
            call.lane.breaker = after_success(call.lane.breaker)
        self._end(call, outcome)

    def _retry_after(self, call: Call, failure: Failure) -> float | None:
        """Note what a failure tells of the endpoint; seconds until another try, None for none."""
        error = failure.value
        if not isinstance(error, ProviderError):
            call.lane.breaker = after_abandoned(call.lane.breaker)
            return None
        self._note_failure(call.lane, error)
        left_s = call.deadline_at - self._clock.seconds()
        delay = retry_delay(error, call.attempts, left_s, self._jitter(), self._limits.retry)
        if delay is None or not admits(call.lane.breaker, self._clock.seconds() + delay):
            return None
        return delay

    def _note_failure(self, lane: Lane, error: ProviderError) -> None:
        before = lane.breaker
        if not judges_endpoint(error):
            lane.breaker = after_success(before)
            return
        now = self._clock.seconds()
        lane.breaker = after_failure(before, error, now, self._limits.breaker)
        if lane.breaker.open_until is not None:
            log.warn(
                "evennia_ai: the model '{model}' of the profile '{profile}' is left alone for "
                "{pause:.0f} s: {error}",
                model=lane.profile.model,
                profile=lane.profile.name,
                pause=lane.breaker.open_until - now,
                error=error,
            )
            for waiting in lane.waiting:
                self._end(waiting, Failure(left_alone(lane, now)))

    def _expire(self, call: Call) -> None:
        """Time is up. An endpoint that had a fair while and gave nothing counts as failing."""
        error = late(call.profile)
        waited_s = self._clock.seconds() - call.started_at
        if call.work is not None and waited_s >= PATIENCE_S:
            self._note_failure(call.lane, error)
        self._end(call, Failure(error))

    def _end(self, call: Call, outcome: LLMReply | Failure) -> None:
        """Give the caller the outcome and the place to the next; what comes later is dropped."""
        if not call.ended:
            self._finish(call, outcome)
            call.result.callback(outcome)

    def _finish(self, call: Call, outcome: LLMReply | Failure) -> None:
        """Forget a call: free its place, stop its timers, cancel its work, settle its cost."""
        call.ended = True
        self._calls.pop(call, None)
        self._lanes.leave(call)
        for timer in (call.timer, call.pause):
            if timer is not None and timer.active():
                timer.cancel()
        if call.reservation is not None:
            self._today().settle(call.reservation, cost_of(call, outcome))
        if call.work is not None:
            call.lane.breaker = after_abandoned(call.lane.breaker)
            call.work.cancel()
        self._start_waiting()


def cost_of(call: Call, outcome: LLMReply | Failure) -> int:
    """Tokens a call is charged with: what the endpoint reported, else our estimate; a call that
    was with the endpoint when we gave it up may have been billed."""
    if isinstance(outcome, Failure):
        return call.request.tokens if call.work is not None else 0
    if outcome.usage is None:
        return call.request.tokens
    return outcome.usage.prompt_tokens + outcome.usage.completion_tokens


def left_alone(lane: Lane, now: float) -> CircuitOpen:
    """The error of calls to an endpoint that failed too often."""
    left_s = max(0.0, (lane.breaker.open_until or now) - now)
    return CircuitOpen(
        f"The model '{lane.profile.model}' of the profile '{lane.profile.name}' is left alone for "
        f"{left_s:.0f} s more, since it failed: {lane.breaker.error}"
    )


def late(profile: ModelProfile) -> DeadlineExceeded:
    """The error of calls that ran out of time."""
    return DeadlineExceeded(
        f"The model '{profile.model}' of the profile '{profile.name}' did not reply in time."
    )

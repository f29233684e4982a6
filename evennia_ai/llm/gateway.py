"""The only way to a model: deadlines, retries, caps, budgets, circuit breakers."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from twisted.internet.defer import CancelledError, Deferred, fail, maybeDeferred
from twisted.logger import Logger
from twisted.python.failure import Failure

from evennia_ai.config import ModelProfile
from evennia_ai.errors import (
    AssistantError,
    BudgetExhausted,
    Busy,
    DeadlineExceeded,
    ProviderError,
    ProviderMisconfigured,
    SwitchedOff,
    TurnAborted,
)
from evennia_ai.llm.daily_budgets import NO_BOOKS, Books, DailyBudgets
from evennia_ai.llm.lanes import LaneHealth, Lanes, WaitingCall, waiting_call
from evennia_ai.llm.pools import Call, Lane, Pool
from evennia_ai.policy.limits import breaker as breakers
from evennia_ai.policy.limits.endpoints import FIRST_DEADLINE_S, RETRY, may_go_elsewhere
from evennia_ai.policy.limits.fair_queue import DEFAULTS, GatewayLimits
from evennia_ai.policy.limits.money import TOKENS, Ledger, Spent
from evennia_ai.policy.limits.retry import retry_delay
from evennia_ai.ports import NO_SCENE, Caller, LLMClient, LLMReply, LLMRequest
from evennia_ai.scheduling import Clock

log = Logger()

PAUSED = "evennia_ai: no calls to the model {name} for {pause:.0f} s, after: {error}"
TRIAL = LLMRequest(
    [{"role": "user", "content": "Ready?"}], NO_SCENE, max_tokens=1, caller=Caller(background=True)
)
FREE_CLIENT = "offline"
FAIR_WAIT_S = 5.0  # a call with less time before its deadline says nothing about the endpoint


class ModelGateway:
    """`ports.Gateway` over named clients.

    A call waits in the pool of its profile's endpoints until one has a place. Assistants take turns
    there, and players come before background work. What one endpoint does not answer goes to
    another. A call counts as in flight only while its client has it, not during the pause
    before a retry. It frees its place as soon as it ends for its caller, even if the client is
    still busy with it.

    Args:
        clients: by the names that profiles use; calls of ``offline`` cost nothing.
        spent: returns what each account spent on a UTC day; called with the day's first call.
        jitter: draws evenly from 0 to 1.
        books: what else the budgets ask for, and whom they tell.
    """

    def __init__(
        self,
        clock: Clock,
        clients: Mapping[str, LLMClient],
        limits: GatewayLimits = DEFAULTS,
        spent: Spent = lambda _day: {},
        jitter: Callable[[], float] = random.random,
        books: Books = NO_BOOKS,
    ) -> None:
        self._clock = clock
        self._clients = clients
        self.limits = limits
        self._jitter = jitter
        self._lanes = Lanes(limits.max_in_flight)
        players, game = limits.player_tokens_per_day, limits.game_tokens_per_day
        tokens = Ledger(TOKENS, spent, players, game, limits.waived)
        players, game = limits.player_money_per_day, limits.game_money_per_day
        money = Ledger(limits.currency, books.spent_money, players, game)
        self.budgets = DailyBudgets(clock, (tokens, money), books)
        self._calls: dict[Call, None] = {}
        self._starting = False
        self._shut: AssistantError | None = None

    @property
    def in_flight(self) -> int:
        """Return the number of calls that clients have now."""
        return self._lanes.in_flight

    @property
    def queued(self) -> int:
        """Return the number of calls that wait for a place."""
        return self._lanes.waiting

    def complete(
        self, request: LLMRequest, profile: ModelProfile, deadline_at: float
    ) -> Deferred[LLMReply]:
        """Call a model before ``deadline_at``, in the clock's seconds.

        Waiting in the queue counts. Transient failures are retried while there is time. Fires with
        the reply. Fails with the client's last error, or with DeadlineExceeded, CircuitOpen, Busy
        (the queue is full), BudgetExhausted, ProviderMisconfigured (no such client), SwitchedOff,
        or TurnAborted once the gateway is closed. Cancelling frees the place.
        """
        pool, now = self._lanes.pool_for(profile), self._clock.seconds()
        problem = self._refusal(pool, profile, deadline_at)
        if problem is not None:
            return fail(problem)
        try:
            free = profile.client == FREE_CLIENT
            reserved = () if free else self.budgets.reserve(request, profile)
        except BudgetExhausted as error:
            return fail(error)
        client = self._clients[profile.client]
        result = Deferred[LLMReply](lambda _: self._finish(call, Failure(CancelledError())))
        call = Call(client, request, profile, pool, deadline_at, result, now, reserved)
        call.timer = self._clock.callLater(deadline_at - now, self._expire, call)
        self._calls[call] = None
        self._wait(call)
        for place in pool.on_trial(now):
            self._try_again(profile.each[place])
        return result

    def health(self) -> list[LaneHealth]:
        """Return the state of every endpoint called since the start."""
        return self._lanes.health(self._clock.seconds())

    def queue(self) -> list[WaitingCall]:
        """Return every call that no endpoint has now, and why; those that pause come last."""
        now = self._clock.seconds()
        pausing = [waiting_call(call, now, 0, RETRY) for call in self._calls if call.pause]
        return [*self._lanes.queue(now), *pausing]

    def pauses(self) -> dict[str, tuple[float, str]]:
        """Return the endpoints that this process paused, for other server processes."""
        return self._lanes.pauses(self._clock.seconds())

    def note_pauses(self, told: Mapping[str, Sequence[Any]]) -> None:
        """Pause the endpoints that another server process paused."""
        self._lanes.note_pauses(told, self._clock.seconds())

    def close(self) -> None:
        """Refuse new calls, fail others with TurnAborted; the next process resumes their turns."""
        self._shut_down(TurnAborted("The server is stopping; it calls no more models."))

    def switch_off(self, reason: str) -> None:
        """Refuse new calls, and fail all others with SwitchedOff, at once."""
        self._shut_down(SwitchedOff(reason))

    def open(self) -> None:
        """Accept calls again after `close` or `switch_off`."""
        self._shut = None

    def _shut_down(self, error: AssistantError) -> None:
        self._shut = error
        for call in list(self._calls):
            self._end(call, Failure(error))

    def _refusal(
        self, pool: Pool, profile: ModelProfile, deadline_at: float
    ) -> AssistantError | None:
        """Return why a call cannot be accepted, or None."""
        if self._shut is not None:
            return self._shut
        if profile.client not in self._clients:
            known = ", ".join(sorted(self._clients)) or "none"
            return ProviderMisconfigured(
                f"The profile '{profile.name}' names the client '{profile.client}', "
                f"which is not running. Running clients: {known}."
            )
        now = self._clock.seconds()
        if deadline_at <= now:
            return deadline_error(profile)
        if not pool.open_places(now):
            return pool.circuit_open(now)
        has_place = self.in_flight < self.limits.max_in_flight and pool.has_place(now)
        if not has_place and self.queued >= self.limits.max_queued:
            return Busy(
                f"{self.in_flight} model calls are in flight and {self.queued} are waiting; "
                "the queue is full."
            )
        return None

    def _try_again(self, endpoint: ModelProfile) -> None:
        """Ask an endpoint that failed for one token, so that no player waits for the trial."""
        if not self._lanes.pool_for(endpoint).waiting:
            trial = self.complete(TRIAL, endpoint, self._clock.seconds() + FIRST_DEADLINE_S)
            trial.addErrback(lambda failed: failed.trap(AssistantError, CancelledError))

    def _wait(self, call: Call) -> None:
        now = self._clock.seconds()
        patience_s = call.pool.patience_s(call, now)
        call.pause, call.waits_until = None, now + patience_s
        self._lanes.wait(call)
        self._start_waiting()
        if patience_s > 0 and call in call.pool.waiting:
            call.patience = self._clock.callLater(patience_s, self._start_waiting)

    def _start_waiting(self) -> None:
        """Start waiting calls while there are places; never recursively."""
        if self._starting:
            return
        self._starting = True
        while self._shut is None and (call := self._lanes.take(self._clock.seconds())):
            self._start(call)
        self._starting = False

    def _start(self, call: Call) -> None:
        now = self._clock.seconds()
        if not call.pool.open_places(now):
            self._end(call, Failure(call.pool.circuit_open(now)))
            return
        call.lane.breaker = breakers.after_start(call.lane.breaker)
        call.attempts += 1
        call.started_at = now
        profile = self._lanes.enter(call)
        call.work = maybeDeferred(call.client.complete, call.request, profile)
        call.work.addBoth(lambda outcome: self._judge(call, outcome))

    def _judge(self, call: Call, outcome: LLMReply | Failure) -> None:
        """Handle the end of an attempt: end the call with its outcome, or plan a retry."""
        if call.ended:
            return
        call.work = None
        self._lanes.leave(call)
        if isinstance(outcome, Failure):
            delay = self._retry_after(call, outcome)
            if delay is not None:
                call.pause = self._clock.callLater(delay, self._wait, call)
                call.waits_until = self._clock.seconds() + delay
                self._start_waiting()
                return
        else:
            call.lane.note_reply(self._clock.seconds() - call.started_at)
            call.lane.breaker = breakers.after_success(call.lane.breaker)
            outcome = replace(outcome, endpoint=call.place) if call.place else outcome
        self._end(call, outcome)

    def _retry_after(self, call: Call, failure: Failure) -> float | None:
        """Update the circuit breaker; return the seconds until a retry, or None."""
        error = failure.value
        if not isinstance(error, ProviderError):
            call.lane.breaker = breakers.after_abandoned(call.lane.breaker)
            return None
        self._note_failure(call.lane, error)
        now = self._clock.seconds()
        call.error = str(error)
        left_s = call.deadline_at - now
        call.tried.add(call.place)
        others = set(call.pool.open_places(now)) - call.tried
        if others and may_go_elsewhere(error) and left_s >= self.limits.retry.least_time_s:
            return 0.0
        call.tried = {call.place}
        delay = retry_delay(error, call.attempts, left_s, self._jitter(), self.limits.retry)
        return delay if delay is not None and call.pool.open_places(now + delay) else None

    def _note_failure(self, lane: Lane, error: ProviderError) -> None:
        """Update the circuit breaker; if it opened, fail the calls that no endpoint takes now."""
        if not breakers.judges_endpoint(error):
            lane.breaker = breakers.after_success(lane.breaker)
            return
        now = self._clock.seconds()
        limits, starting = self.limits.breaker, lane.starting
        lane.breaker = breakers.after_failure(lane.breaker, error, now, limits, starting)
        if lane.breaker.open_until is None:
            return
        if lane.warned_of != str(error):
            lane.warned_of = str(error)
            log.warn(PAUSED, name=lane.name, pause=lane.paused_s(now), error=error)
        for pool in self._lanes.pools_of(lane):
            for waiting in () if pool.open_places(now) else pool.waiting:
                self._end(waiting, Failure(pool.circuit_open(now)))

    def _expire(self, call: Call) -> None:
        """End a call at its deadline; after a fair wait, the endpoint has failed."""
        error = deadline_error(call.profile)
        waited_s = self._clock.seconds() - call.started_at
        if call.work is not None and waited_s >= FAIR_WAIT_S:
            self._note_failure(call.lane, error)
        self._end(call, Failure(error))

    def _end(self, call: Call, outcome: LLMReply | Failure) -> None:
        """End a call with its outcome, unless it has ended."""
        if not call.ended:
            self._finish(call, outcome)
            call.result.callback(outcome)

    def _finish(self, call: Call, outcome: LLMReply | Failure) -> None:
        """Free a call's place, stop its timers, cancel its work, and settle its cost."""
        call.ended = True
        self._calls.pop(call, None)
        self._lanes.leave(call)
        for timer in (call.timer, call.pause, call.patience):
            if timer is not None and timer.active():
                timer.cancel()
        if call.reserved:
            self.budgets.settle(call.reserved, call.usage(outcome), call.endpoint)
        if call.work is not None:
            call.lane.breaker = breakers.after_abandoned(call.lane.breaker)
            call.work.cancel()
        self._start_waiting()


def deadline_error(profile: ModelProfile) -> DeadlineExceeded:
    """Return the error of a call that ran out of time."""
    return DeadlineExceeded(
        f"The model '{profile.model}' of the profile '{profile.name}' did not reply in time."
    )

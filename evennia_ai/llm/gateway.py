"""The only way to a model: deadlines, retries, caps, circuit breakers, a fallback."""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from twisted.internet.defer import CancelledError, Deferred, fail, maybeDeferred
from twisted.logger import Logger
from twisted.python.failure import Failure

from evennia_ai import errors
from evennia_ai.config import ModelProfile, window_known
from evennia_ai.llm.endpoint_queues import EndpointQueue, EndpointQueues, QueuedCall, Settle
from evennia_ai.messages import NO_USAGE, LLMReply, Usage
from evennia_ai.policy.limits import retry
from evennia_ai.ports import Extension, LLMClient, LLMRequest, overriding
from evennia_ai.ports.extension import collect
from evennia_ai.scheduling import Clock, loggable

log = Logger()

PAUSED = "evennia_ai: no calls to the model {name} for {pause:.0f} s, after: {error}"
Learn = Callable[[ModelProfile, LLMReply | Failure, float], object]
FAIR_WAIT_S = 5.0  # a call with less time before its deadline says nothing about the endpoint


class ModelGateway:
    """`ports.Gateway` over named clients.

    A call waits in the lane of its endpoint until there is a place. Assistants take turns, and
    players come before background work. At an endpoint with one slot that begins after a quiet
    minute only; what is in flight when a player's call comes starts anew later, without loss of
    its time, and a turn that nobody waits for ends with `Busy`.

    A call counts as in flight only while its client has it, not during the pause before a retry. It
    frees its place as soon as it ends for its caller, even if the client is still busy with it.
    What an endpoint cannot answer goes to the profile's fallback, as a call of its own.

    ``learn`` is called with the profile, each reply or failure, and the seconds that it took;
    ``told`` returns a profile with what was learnt.

    Args:
        clients: by the names that profiles use; extensions do not judge calls of ``offline``.
        jitter: draws evenly from 0 to 1.
    """

    def __init__(
        self,
        clock: Clock,
        clients: Mapping[str, LLMClient],
        limits: retry.GatewayLimits = retry.DEFAULTS,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._clock = clock
        self._clients = clients
        self.limits = limits
        self._jitter = jitter
        self.learn: Learn = lambda _profile, _outcome, _took_s: None
        self.told: Callable[[ModelProfile], ModelProfile] = lambda profile: profile
        self.lanes = EndpointQueues(clock, limits.max_in_flight)
        self.extensions: Sequence[Extension] = ()  # which may refuse a call
        self._starting = False
        self._shut: errors.AssistantError | None = None

    def complete(
        self, request: LLMRequest, profile: ModelProfile, deadline_at: float
    ) -> Deferred[LLMReply]:
        """Call a model before ``deadline_at``, in the clock's seconds.

        Waiting in the queue counts. Transient failures are retried while there is time; after that
        the profile's fallback is asked, if it has one: half of the time is left to it, 20 s at
        most, also if the endpoint falls silent. Fires with the reply. Fails with the
        client's last error, or with DeadlineExceeded, CircuitOpen, Busy (the queue is full),
        BudgetExhausted or another error
        of an extension, ProviderMisconfigured (no such client), SwitchedOff, or TurnAborted once
        the gateway is closed; if the fallback fails, too, with the profile's own error. Cancelling
        frees the place.
        """
        reply = self._ask(request, profile, deadline_at)
        if profile.fallback is None:
            return reply
        return reply.addErrback(self._fall_back, request, profile.fallback, deadline_at)

    def close(self) -> None:
        """Refuse new calls, fail others with TurnAborted; the next process resumes their turns."""
        self._shut_down(errors.TurnAborted("The server is stopping; it calls no more models."))

    def switch_off(self, reason: str) -> None:
        """Refuse new calls, and fail all others with SwitchedOff, at once."""
        self._shut_down(errors.SwitchedOff(reason))

    def open(self) -> None:
        self._shut = None

    def give_way(self, assistant: str) -> None:
        """End the calls of an assistant's turn that nobody asked for: somebody speaks to it."""
        for call in list(self.lanes.calls):
            caller = call.request.caller
            if caller.assistant == assistant and caller.background and not caller.may_wait:
                self._end(call, Failure(players_first(call.profile)))

    def _shut_down(self, error: errors.AssistantError) -> None:
        self._shut = error
        for call in list(self.lanes.calls):
            self._end(call, Failure(error))

    # --- the fallback -----------------------------------------------------------------------------

    def _fall_back(
        self, failed: Failure, request: LLMRequest, fallback: ModelProfile, deadline_at: float
    ) -> Deferred[LLMReply]:
        """Ask the fallback for what its profile's endpoint could not answer, if it can help."""
        error, left_s = failed.value, deadline_at - self._clock.seconds()
        window = window_known(fallback).tokens
        fits = window is None or request.tokens + (request.max_tokens or 0) <= window
        is_its_case = isinstance(error, errors.ProviderError) and retry.may_fall_back(error)
        if not (is_its_case and fits and left_s >= self.limits.retry.least_time_s):
            return fail(failed)
        reply = self._ask(request, fallback, deadline_at)
        return reply.addCallbacks(
            partial(replace, from_fallback=True), lambda second: more_telling(failed, second)
        )

    # --- one call to one endpoint -----------------------------------------------------------------

    def _ask(
        self, request: LLMRequest, profile: ModelProfile, deadline_at: float
    ) -> Deferred[LLMReply]:
        lane, now = self.lanes.lane_for(profile), self._clock.seconds()
        problem = self._refusal(lane, request, profile, deadline_at)
        if problem is not None:
            return fail(problem)
        try:
            settle = self._ask_extensions(request, profile) if profile.has_model else ()
        except errors.ProviderError as error:
            return fail(error)
        client = self._clients[profile.client]
        result = Deferred[LLMReply](lambda _: self._finish(call, Failure(CancelledError())))
        call = QueuedCall(client, request, profile, lane, deadline_at, result, now, settle)
        call.timer = self._clock.callLater(deadline_at - now, self._expire, call)
        if not request.caller.background:
            self._make_way(lane)
        self.lanes.calls[call] = None
        self._wait(call)
        return result

    def _ask_extensions(self, request: LLMRequest, profile: ModelProfile) -> list[Settle]:
        """Return what to call when the call has ended; raises ProviderError if it may not begin."""
        settle: list[Settle] = []
        for extension in overriding(self.extensions, "before_model_call"):
            try:
                end = called_at_end(extension.before_model_call(request, profile))
            except Exception as error:
                settle_all(settle, NO_USAGE)
                if isinstance(error, errors.ProviderError):
                    raise
                line = "evennia_ai: {name} refuses a model call"
                log.failure(line, loggable(True), name=extension.name)
                raise errors.ProviderMisconfigured(
                    f"The extension '{extension.name}' failed before a model call, which is "
                    "refused. The server log has the details."
                ) from error
            settle += [end] if end else []
        return settle

    def missing_client(self, profile: ModelProfile) -> str:
        """Return why nothing can answer for a profile, in a sentence for admins; "" if it can."""
        if profile.client in self._clients:
            return ""
        if not profile.has_model:
            return (
                f"The profile '{profile.name}' has no model, and the stand-in is left out. Name a "
                "model, for example by OPENAI_BASE_URL and EVENNIA_AI_MODEL in the environment."
            )
        known = ", ".join(sorted(self._clients)) or "none"
        return (
            f"The profile '{profile.name}' names the client '{profile.client}', "
            f"which is not running. Running clients: {known}."
        )

    def _refusal(
        self, lane: EndpointQueue, request: LLMRequest, profile: ModelProfile, deadline_at: float
    ) -> errors.AssistantError | None:
        if self._shut is not None:
            return self._shut
        if problem := self.missing_client(profile):
            return errors.ProviderMisconfigured(problem)
        if deadline_at <= self._clock.seconds():
            return deadline_error(profile)
        if lane.paused_s:
            return lane.circuit_open()
        caller = request.caller
        if not caller.may_wait and self.lanes.talk_s(lane, caller):
            return players_first(profile)
        is_full = self.lanes.is_full or not lane.has_place
        if is_full and self.lanes.waiting >= self.limits.max_queued:
            return errors.Busy(
                f"{self.lanes.in_flight} model calls are in flight and {self.lanes.waiting} are "
                "waiting; the queue is full."
            )
        return None

    def _make_way(self, lane: EndpointQueue) -> None:
        """Let background work wait that holds a player's call up; a turn of nobody's ends."""
        for call in self.lanes.note_talk(lane):
            if not call.request.caller.may_wait:
                self._end(call, Failure(players_first(lane.profile)))
            elif call.pause is None:
                call.attempts -= call.work is not None
                call.withdraw()
                self._wait(call)

    def _wait(self, call: QueuedCall) -> None:
        """Let a call wait for its turn; while players talk, background work pauses instead."""
        call.pause = None
        talk_s = self.lanes.talk_s(call.lane, call.request.caller)
        if talk_s and call.timer is not None:
            call.deadline_at += talk_s
            call.timer.delay(talk_s)
            call.pause = self._clock.callLater(talk_s, self._wait, call)
        else:
            call.lane.waiting[call] = None
        self._start_waiting()

    def _start_waiting(self) -> None:
        """Start waiting calls while there are places; never recursively."""
        if self._starting:
            return
        self._starting = True
        while self._shut is None and (call := self.lanes.take()):
            self._start(call)
        self._starting = False

    def _start(self, call: QueuedCall) -> None:
        if call.lane.paused_s:
            self._end(call, Failure(call.lane.circuit_open()))
            return
        call.lane.breaker = retry.with_probe(call.lane.breaker, self._clock.seconds())
        call.attempts += 1
        call.started_at = self._clock.seconds()
        call.lane.in_flight.add(call)
        own_s = call.deadline_at - call.started_at - call.for_fallback_s
        request = replace(call.request, silence_s=own_s)
        call.work = maybeDeferred(call.client.complete, request, self._told(call))
        call.work.addBoth(lambda outcome: self._judge(call, outcome))

    def _told(self, call: QueuedCall) -> ModelProfile:
        """Return a call's profile with what was learnt, and with the fields of extensions."""
        profile = self.told(call.profile)
        extensions = overriding(self.extensions, "request_fields") if profile.has_model else ()
        fields = collect(
            extensions, lambda item: item.request_fields(call.request, profile).items()
        )
        return replace(profile, extra={**profile.extra, **dict(fields)}) if fields else profile

    def _judge(self, call: QueuedCall, outcome: LLMReply | Failure) -> None:
        """Handle the end of an attempt: end the call with its outcome, or plan a retry."""
        if call.ended or call.work is None:  # or it made way
            return
        call.work = None
        call.lane.leave(call)
        if call.profile.has_model:
            self.learn(call.profile, outcome, self._clock.seconds() - call.started_at)
        if isinstance(outcome, Failure):
            delay = self._retry_after(call, outcome)
            if delay is not None:
                call.pause = self._clock.callLater(delay, self._wait, call)
                self._start_waiting()
                return
        else:
            call.lane.answered, call.lane.warned_of = True, ""
            call.lane.breaker = retry.Breaker()
        self._end(call, outcome)

    def _retry_after(self, call: QueuedCall, failure: Failure) -> float | None:
        """Update the circuit breaker; return the seconds until a retry, or None."""
        error = failure.value
        if not isinstance(error, errors.ProviderError):
            call.lane.breaker = retry.with_probe(call.lane.breaker, None)
            return None
        self._note_failure(call, error)
        now = self._clock.seconds()
        call.error = str(error)
        if error.code == retry.LOADING_CODE and call.profile.fallback:
            return None  # it answers meanwhile; each call asks the endpoint first
        left_s = call.deadline_at - now - call.for_fallback_s
        delay = retry.retry_delay(error, call.attempts, left_s, self._jitter(), self.limits.retry)
        is_open = delay is not None and retry.paused_s(call.lane.breaker, now + delay) > 0
        return None if is_open else delay

    def _note_failure(self, call: QueuedCall, error: errors.ProviderError) -> None:
        """Update the circuit breaker; if it opened, fail the calls that wait."""
        lane = call.lane
        if (lane.breaker.probed_at or 0.0) > call.started_at:
            return  # a later probe will tell
        if not retry.judges_endpoint(error):
            lane.breaker = retry.Breaker()
            return
        starting = not lane.answered and lane.profile.is_local
        lane.breaker = retry.after_failure(
            lane.breaker, error, self._clock.seconds(), self.limits.breaker, starting
        )
        if lane.breaker.closed:
            return
        cause, _, _own_words = str(error).partition("): ")
        if lane.warned_of != cause:
            lane.warned_of = cause
            log.warn(PAUSED, name=lane.name, pause=lane.paused_s, error=error)
        for waiting in list(lane.waiting):
            self._end(waiting, Failure(lane.circuit_open()))

    def _expire(self, call: QueuedCall) -> None:
        """End a call at its deadline; after a fair wait, the endpoint has failed."""
        error = deadline_error(call.profile)
        waited_s = self._clock.seconds() - call.started_at
        if call.work is not None and waited_s >= FAIR_WAIT_S:
            self._note_failure(call, error)
        self._end(call, Failure(error))

    def _end(self, call: QueuedCall, outcome: LLMReply | Failure) -> None:
        if not call.ended:
            self._finish(call, outcome)
            call.result.callback(outcome)

    def _finish(self, call: QueuedCall, outcome: LLMReply | Failure) -> None:
        """Free a call's place, stop its timers, cancel its work, and settle its cost."""
        call.ended = True
        self.lanes.calls.pop(call, None)
        for timer in (call.timer, call.pause):
            if timer is not None and timer.active():
                timer.cancel()
        settle_all(call.settle, call.usage(outcome))
        call.withdraw()
        self._start_waiting()


def called_at_end(answer: Settle | None) -> Settle | None:
    """Return an extension's answer before a call; raises TypeError if nobody can call it."""
    if answer is not None and not callable(answer):
        raise TypeError(f"before_model_call returned {answer!r}, which is no function")
    return answer


def settle_all(settle: Iterable[Settle], usage: Usage) -> None:
    """Tell extensions what a call used that they let pass."""
    for tell in settle:
        try:
            tell(usage)
        except Exception:  # noqa: BLE001  # an extension may raise anything
            log.failure("evennia_ai: an extension failed at the end of a model call")


def more_telling(first: Failure, second: Failure) -> Failure:
    """Return the failure to report if the fallback failed, too: its own if that ends the turn."""
    error = second.value
    is_usual = isinstance(error, errors.ProviderError) and not error.begun
    return first if is_usual and not isinstance(error, errors.SwitchedOff) else second


def players_first(profile: ModelProfile) -> errors.Busy:
    """Return the error of a call that nobody waits for while players talk."""
    return errors.Busy(
        f"Players talk with the model '{profile.model}'; nobody waits for this call."
    )


def deadline_error(profile: ModelProfile) -> errors.DeadlineExceeded:
    return errors.DeadlineExceeded(
        f"The model '{profile.model}' of the profile '{profile.name}' did not reply in time."
    )

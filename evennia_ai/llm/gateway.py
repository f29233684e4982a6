"""The only way to a model: choice of client, one deadline per call, caps on calls in flight."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from twisted.internet.defer import Deferred, fail, maybeDeferred
from twisted.internet.interfaces import IReactorTime
from twisted.python.failure import Failure

from evennia_ai.config import ModelProfile
from evennia_ai.errors import (
    AssistantError,
    Busy,
    DeadlineExceeded,
    ProviderMisconfigured,
    TurnAborted,
)
from evennia_ai.ports import LLMClient, LLMReply, LLMRequest


@dataclass(eq=False)
class Call:
    """One request on its way: waiting while ``work`` is None, in flight after.

    ``result`` is what the caller holds, ``work`` what the client gave us.
    """

    client: LLMClient
    request: LLMRequest
    profile: ModelProfile
    result: Deferred[LLMReply]
    timer: Any = None
    work: Deferred[Any] | None = None


class ModelGateway:
    """`ports.Gateway` over named clients.

    Calls start in the order they came. A place is free again the moment a call ends for its
    caller, by reply, deadline or cancel, whatever its client does about it.
    """

    def __init__(
        self,
        clock: IReactorTime,
        clients: Mapping[str, LLMClient],
        max_in_flight: int = 64,
        max_queued: int = 256,
    ) -> None:
        self._clock: Any = clock  # zope's interfaces mean nothing to a type checker
        self._clients = clients
        self._max_in_flight = max_in_flight
        self._max_queued = max_queued
        self._waiting: deque[Call] = deque()
        self._in_flight: set[Call] = set()
        self._starting = False
        self._closed = False

    @property
    def in_flight(self) -> int:
        """How many calls are with their clients now."""
        return len(self._in_flight)

    @property
    def queued(self) -> int:
        """How many calls wait for a place."""
        return len(self._waiting)

    def complete(
        self, request: LLMRequest, profile: ModelProfile, deadline_at: float
    ) -> Deferred[LLMReply]:
        """Ask before ``deadline_at``, in the clock's seconds; waiting for a place counts.

        Fires with the reply; fails with what the client failed with, with DeadlineExceeded, with
        Busy where the queue is full, with ProviderMisconfigured where there is no such client, and
        with TurnAborted once the gateway is closed. Cancelling frees the place.
        """
        client = self._clients.get(profile.client)
        left_s = deadline_at - self._clock.seconds()
        problem = self._refusal(client, profile, left_s)
        if client is None or problem is not None:
            return fail(problem)
        call = Call(client, request, profile, Deferred(lambda _: self._release(call)))
        call.timer = self._clock.callLater(left_s, self._expire, call)
        self._waiting.append(call)
        self._start_waiting()
        return call.result

    def close(self) -> None:
        """Refuse new calls and fail every other with TurnAborted: none of them is to be answered.

        The turns they belong to are taken up again by whoever comes after us.
        """
        self._closed = True
        for call in [*self._in_flight, *self._waiting]:
            self._end(call, Failure(closing()))

    def _refusal(
        self, client: LLMClient | None, profile: ModelProfile, left_s: float
    ) -> AssistantError | None:
        """Why a call is not even taken, or None."""
        if self._closed:
            return closing()
        if client is None:
            known = ", ".join(sorted(self._clients)) or "none"
            return ProviderMisconfigured(
                f"The profile '{profile.name}' wants the client '{profile.client}', "
                f"which is not running; there are: {known}."
            )
        if left_s <= 0:
            return late(profile)
        if self.in_flight >= self._max_in_flight and self.queued >= self._max_queued:
            return Busy(
                f"{self.in_flight} model calls are under way and {self.queued} wait: "
                "there is no room for another."
            )
        return None

    def _start_waiting(self) -> None:
        """Start calls while there is room; never within itself, however fast clients fail."""
        if self._starting:
            return
        self._starting = True
        while self._waiting and self.in_flight < self._max_in_flight and not self._closed:
            self._start(self._waiting.popleft())
        self._starting = False

    def _start(self, call: Call) -> None:
        self._in_flight.add(call)
        call.work = maybeDeferred(call.client.complete, call.request, call.profile)
        call.work.addBoth(lambda outcome: self._end(call, outcome))

    def _expire(self, call: Call) -> None:
        self._end(call, Failure(late(call.profile)))

    def _end(self, call: Call, outcome: LLMReply | Failure) -> None:
        """Give the caller the outcome and the place to the next; what comes later is dropped."""
        if call in self._in_flight or call in self._waiting:
            self._release(call)
            call.result.callback(outcome)

    def _release(self, call: Call) -> None:
        """Forget a call: free its place, stop its timer, cancel its work."""
        self._in_flight.discard(call)
        if call in self._waiting:
            self._waiting.remove(call)
        if call.timer is not None and call.timer.active():
            call.timer.cancel()
        if call.work is not None:
            call.work.cancel()
        self._start_waiting()


def closing() -> TurnAborted:
    """The error of calls that a closing gateway lets go."""
    return TurnAborted("The server is stopping: no model is asked any more.")


def late(profile: ModelProfile) -> DeadlineExceeded:
    """The error of calls that ran out of time."""
    return DeadlineExceeded(
        f"The model '{profile.model}' of the profile '{profile.name}' did not reply in time."
    )

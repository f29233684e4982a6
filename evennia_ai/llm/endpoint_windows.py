"""What endpoints tell of their models' windows: each is asked once, when it has answered well.

By then it is known to work, and a local server has loaded the model, without which it tells
nothing. Who is idle, or thinks offline, is never asked.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from twisted.internet.defer import CancelledError, Deferred
from twisted.logger import Logger
from twisted.python.failure import Failure

from evennia_ai.config import ModelProfile
from evennia_ai.messages import LLMReply
from evennia_ai.ports import LLMClient, LLMRequest

log = Logger()

Ask = Callable[[ModelProfile], Deferred[int | None]]


class EndpointWindows:
    """The windows that endpoints told, for as long as this process lives.

    Args:
        ask: asks a profile's endpoint for its model's window, off the reactor; fires with it in
            tokens, with None where it tells nothing. A failure counts as nothing told.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._told: dict[tuple[str, str], int | None] = {}

    def told(self, base_url: str, model: str) -> int | None:
        """What an endpoint told of a model, in tokens; None where it did not, or was not asked."""
        return self._told.get((base_url, model))

    def learn(self, profile: ModelProfile) -> None:
        """Ask a profile's endpoint, once. Where the profile says the window there is no need."""
        key = (profile.base_url, profile.model)
        if profile.context_window or key in self._told:
            return
        self._told[key] = None
        self._ask(profile).addCallbacks(partial(self._keep, key), partial(self._note, key))

    def _keep(self, key: tuple[str, str], window: int | None) -> None:
        self._told[key] = window

    def _note(self, key: tuple[str, str], failure: Failure) -> None:
        if not failure.check(CancelledError):
            problem = failure.getErrorMessage()
            log.info("the window of {model} is not told: {problem}", model=key[1], problem=problem)


class LearningClient:
    """A client whose endpoints are asked for their windows at their first good reply."""

    def __init__(self, client: LLMClient, windows: EndpointWindows) -> None:
        self._client = client
        self._windows = windows

    def complete(self, request: LLMRequest, profile: ModelProfile) -> Deferred[LLMReply]:
        """Ask once. Fires and fails as the client does."""
        return self._client.complete(request, profile).addCallback(self._learn, profile)

    def _learn(self, reply: LLMReply, profile: ModelProfile) -> LLMReply:
        self._windows.learn(profile)
        return reply

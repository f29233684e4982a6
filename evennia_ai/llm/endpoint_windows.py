"""The context windows that endpoints report.

Each endpoint is asked once, after its first good reply. By then it is known to work, and a local
server has loaded the model; before that it reports no window. The endpoint of an idle assistant is
never asked.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from twisted.internet.defer import CancelledError, Deferred
from twisted.logger import Logger
from twisted.python.failure import Failure

from evennia_ai.config import ModelProfile
from evennia_ai.messages import LLMReply
from evennia_ai.policy.secrecy import hide_secrets
from evennia_ai.ports import LLMClient, LLMRequest

log = Logger()

Ask = Callable[[ModelProfile], Deferred[int | None]]


class EndpointWindows:
    """The context windows that endpoints reported to this process.

    ``ask`` asks a profile's endpoint, off the reactor; it fires with the window in tokens, or None
    if the endpoint does not report it. A failure counts as None.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._told: dict[tuple[str, str], int | None] = {}

    def told(self, base_url: str, model: str) -> int | None:
        """Return the window that an endpoint reported, in tokens; None if unknown."""
        return self._told.get((base_url, model))

    def learn(self, profile: ModelProfile) -> None:
        """Ask a profile's endpoint once, unless the profile sets the window."""
        key = (profile.base_url, profile.model)
        if profile.context_window or key in self._told:
            return
        self._told[key] = None
        self._ask(profile).addCallbacks(partial(self._keep, key), partial(self._note, key))

    def _keep(self, key: tuple[str, str], window: int | None) -> None:
        self._told[key] = window

    def _note(self, key: tuple[str, str], failure: Failure) -> None:
        if not failure.check(CancelledError):
            log.info(
                "evennia_ai: the endpoint of {model} did not report its context window "
                "({problem}); the model's name or max_context_tokens decides",
                model=key[1],
                problem=hide_secrets(failure.getErrorMessage()),
            )


class LearningClient:
    """A client that asks each endpoint for its window after the first good reply."""

    def __init__(self, client: LLMClient, windows: EndpointWindows) -> None:
        self._client = client
        self._windows = windows

    def complete(self, request: LLMRequest, profile: ModelProfile) -> Deferred[LLMReply]:
        """Send one request. Fires and fails as the client does."""
        return self._client.complete(request, profile).addCallback(self._learn, profile)

    def _learn(self, reply: LLMReply, profile: ModelProfile) -> LLMReply:
        self._windows.learn(profile)
        return reply

"""What is known of endpoints: window, request form, speed; kept across restarts.

Each endpoint is asked for its context window once a process, after its first good reply. By then it
is known to work, and a local server has loaded the model; before that it reports no window. The
endpoint of an idle assistant is never asked. Speed is measured with every reply. A probe may find
the request form.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from time import time
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from twisted.internet.defer import CancelledError, Deferred, inlineCallbacks
from twisted.logger import Logger
from twisted.python.failure import Failure

from evennia_ai.config import ModelProfile
from evennia_ai.config.profiles import OPENAI_ADDRESS
from evennia_ai.errors import ContextOverflow, StoreUnavailable
from evennia_ai.llm.openai_client import OpenAIClient
from evennia_ai.messages import LLMReply
from evennia_ai.policy.context.windows import list_models, window_from_models
from evennia_ai.policy.limits import endpoints
from evennia_ai.policy.redaction import hide_secrets, shown_address
from evennia_ai.scheduling import Clock, Coroutine

log = Logger()

Ask = Callable[[ModelProfile], Deferred[int | None]]
ASK_S, LOCAL_ASK_S = 30.0, 120.0  # a local model may run on a CPU
# Pages of local servers that tell the context window; such a server is recognised by its usual port
# or by the ``owned_by`` of its models.
WINDOW_PAGES = ((8080, "llamacpp", "/props"), (11434, "library", "/api/ps"))


class EndpointRegistry:
    """What is known of each endpoint and model.

    Args:
        ask: asks a profile's endpoint for its window, off the reactor; it fires with the window in
            tokens, or None if the endpoint does not report it. A failure counts as None.
        load: returns what `save` stored last, by endpoint and model; called at the first use.
        save: stores the facts as plain data across restarts; raises StoreUnavailable.
        now: returns the time in seconds of the epoch.
    """

    def __init__(
        self,
        ask: Ask,
        load: Callable[[], Mapping[str, Any]],
        save: Callable[[dict[str, Any]], object],
        now: Callable[[], float] = time,
    ) -> None:
        self._ask, self._load, self._save, self._now = ask, load, save, now

    def told(self, profile: ModelProfile) -> ModelProfile:
        """Return the profile and its fallback with what is known of their endpoints and models."""
        fallback = profile.fallback and self.told(profile.fallback)
        return replace(profile, told=self._known(key_of(profile)), fallback=fallback)

    def learn(self, profile: ModelProfile, outcome: LLMReply | Failure, took_s: float) -> None:
        """Learn from the end of a call; after the first good reply ask for the window.

        The window that a refusal names counts more than what was known.
        """
        key = key_of(profile)
        facts = self._known(key)
        if isinstance(outcome, Failure):
            if isinstance(outcome.value, ContextOverflow):
                self._keep_window(key, outcome.value.window)
            return
        for part in outcome.refused.keys() - facts.refused.keys():
            log.info(
                "evennia_ai: {key} refuses a request for {part}; later ones differ ({words})",
                key=key,
                part=part,
                words=outcome.refused[part] or "its words may be private",
            )
        self._keep(key, endpoints.after_reply(facts, outcome, took_s, self._now()))
        if not (facts.answered or profile.context_window):
            request = self._ask(profile)
            request.addCallbacks(partial(self._keep_window, key), partial(note_failure, key))

    def note_probe(
        self,
        profile: ModelProfile,
        form: str,
        system: bool,
        speed: endpoints.Speed,
        refused: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Keep what a probe found; what was refused before it counts no more."""
        key = key_of(profile)
        facts = self._known(key)
        speed = endpoints.smooth_speed(facts.speed, speed)
        facts = replace(facts, refused={**refused}, refused_at=self._now())
        self._keep(key, replace(facts, form=form, system=system, speed=speed))

    @cached_property
    def _stored(self) -> dict[str, endpoints.EndpointFacts]:
        return {name: endpoints.read_facts(stored) for name, stored in self._load().items()}

    @cached_property
    def _facts(self) -> dict[str, endpoints.EndpointFacts]:
        return dict(self._stored)

    def _known(self, key: str) -> endpoints.EndpointFacts:
        """Return what is known; what was refused a day ago counts no more."""
        facts = self._facts.get(key, endpoints.NOTHING_KNOWN)
        is_old = self._now() - facts.refused_at >= endpoints.REFUSED_S
        return replace(facts, refused={}) if facts.refused and is_old else facts

    def _keep(self, key: str, facts: endpoints.EndpointFacts) -> None:
        """Keep facts, and store them if they differ enough from the stored ones."""
        self._facts[key] = facts
        if not endpoints.should_store(self._stored.get(key, endpoints.NOTHING_KNOWN), facts):
            return
        try:
            self._save({name: endpoints.stored_facts(known) for name, known in self._facts.items()})
            self._stored = dict(self._facts)
        except StoreUnavailable as error:  # the next reply tries again
            log.info(
                "evennia_ai: {key}: what is known is not stored yet ({error})", key=key, error=error
            )

    def _keep_window(self, key: str, window: int | None) -> None:
        """Keep the window; with another one the server was started anew, and may refuse less."""
        if window is not None:
            facts = self._known(key)
            refused = facts.refused if facts.window in (None, window) else {}
            self._keep(key, replace(facts, window=window, refused=refused))


def note_failure(key: str, failure: Failure) -> None:
    if not failure.check(CancelledError):  # the model's name or max_context_tokens decides
        problem = hide_secrets(failure.getErrorMessage())
        log.info("evennia_ai: {key} told no context window ({problem})", key=key, problem=problem)


def key_of(profile: ModelProfile) -> str:
    """Return the key of an endpoint and a model, without secrets."""
    try:
        address = shown_address(profile.base_url or OPENAI_ADDRESS)
    except ValueError:
        address = "?"  # an address of no server: nothing is ever learnt about it
    return f"{address} {profile.model}"


@inlineCallbacks
def ask_window(clock: Clock, client: OpenAIClient, profile: ModelProfile) -> Coroutine[int | None]:
    """Ask an endpoint for its model's context window.

    Fires with it in tokens, None if not told. Fails with CancelledError if the server stops.
    """
    deadline_at = clock.seconds() + (LOCAL_ASK_S if profile.is_local else ASK_S)
    models = list_models(
        (yield client.page(profile, "models", clock, deadline_at - clock.seconds()))
    )
    window = window_from_models(models, profile.model)
    owners = {entry.get("owned_by") for entry in models if entry["id"] == profile.model}
    for port, owner, path in WINDOW_PAGES:
        is_its = urlsplit(profile.base_url).port == port or owner in owners
        if not window and is_its:
            left_s = max(0.0, deadline_at - clock.seconds())
            page = yield client.page(profile, path, clock, left_s)
            window = window_from_models(page, profile.model)
    return window

"""Let local models read the beginning of every prompt before the first player speaks.

A local server keeps the prompt it read last. One request with the part that all prompts share
spares the first player that time, and makes the server load the model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from evennia.typeclasses.attributes import Attribute
from twisted.internet.defer import CancelledError, Deferred, inlineCallbacks
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger
from twisted.python.failure import Failure

from evennia_ai.config import ModelProfile, resolve_lenient, resolve_profile
from evennia_ai.config.profiles import request_form
from evennia_ai.errors import ConfigError, ProviderError
from evennia_ai.game.settings import game_setting, game_settings
from evennia_ai.messages import LLMReply
from evennia_ai.policy.conversation.persona import Persona
from evennia_ai.policy.limits.backoff import LOADING_PAUSE_S
from evennia_ai.policy.limits.deadlines import FIRST_DEADLINE_S
from evennia_ai.policy.limits.retry import LOADING_CODE
from evennia_ai.policy.overflow import is_local
from evennia_ai.policy.request_forms.form import Schema
from evennia_ai.ports import Caller, LLMClient, LLMRequest, Scene
from evennia_ai.scheduling import Clock, Steps
from evennia_ai.store.attributes import SCRIPT_KEY

log = Logger()

PURPOSE = "warm_up"
NOBODY = Scene("", Persona(), ())
Told = Callable[[ModelProfile, str], ModelProfile]


class WarmUp:
    """Warms up each local model that assistants use, once.

    ``client`` sends the requests past the gateway: nobody pays for them, and their failures do not
    open a circuit breaker.
    """

    def __init__(self, clock: Clock, client: LLMClient) -> None:
        self._clock = clock
        self._client = client
        self._running: list[Deferred[None]] = []

    def begin(self, profiles: Sequence[ModelProfile], tools: Sequence[Schema]) -> None:
        """Send one request to each profile's endpoint, in the background."""
        for profile in profiles:
            running = self.warm_up(profile, shared_prefix(profile, tools))
            running.addErrback(note_failure, profile)
            self._running.append(running)

    def stop(self) -> None:
        """Cancel the requests that still run."""
        for running in self._running:
            running.cancel()

    @inlineCallbacks
    def warm_up(self, profile: ModelProfile, request: LLMRequest) -> Steps[None]:
        """Send one request; while the server loads the model, send it again.

        Gives up after `FIRST_DEADLINE_S` seconds. Fails as the client does.
        """
        reactor_time = cast(IReactorTime, self._clock)
        started = self._clock.seconds()
        deadline_at = started + FIRST_DEADLINE_S
        while True:
            call = self._client.complete(request, profile)
            call.addTimeout(deadline_at - self._clock.seconds(), reactor_time)
            try:
                reply: LLMReply = yield call
            except ProviderError as error:
                left_s = deadline_at - self._clock.seconds()
                if error.code != LOADING_CODE or left_s <= LOADING_PAUSE_S:
                    raise
                yield deferLater(reactor_time, LOADING_PAUSE_S)
                continue
            log.info(
                "evennia_ai: {purpose}: {model} read {tokens} tokens that all prompts share, in "
                "{seconds:.1f} s",
                purpose=PURPOSE,
                model=profile.model,
                tokens=reply.usage.prompt_tokens if reply.usage else "the",
                seconds=self._clock.seconds() - started,
            )
            return


def note_failure(failure: Failure, profile: ModelProfile) -> None:
    """Log why a model was not warmed up; nothing else depends on it."""
    if not failure.check(CancelledError):
        log.info(
            "evennia_ai: {purpose}: not done for {model}: {problem}",
            purpose=PURPOSE,
            model=profile.model,
            problem=failure.getErrorMessage() or "it took too long",
        )


def shared_prefix(profile: ModelProfile, tools: Sequence[Schema]) -> LLMRequest:
    """Return a request with the part that all prompts of the game begin with."""
    form = request_form(profile)
    rules = {"role": "system", "content": form.rules(tools)}
    return LLMRequest(
        messages=[rules, {"role": "user", "content": "Ready?"}],
        scene=NOBODY,
        tools=tools,
        max_tokens=1,
        caller=Caller(background=True),
        form=form.name,
    )


def local_models(profiles: Mapping[str, Mapping[str, Any]], told: Told) -> list[ModelProfile]:
    """Return the profile of each local model that assistants use; wrong settings are skipped."""
    found: dict[tuple[str, str], ModelProfile] = {}
    for own in own_models():
        try:
            chosen, _ = resolve_lenient([game_settings(), own])
            profile = resolve_profile(chosen.profile, profiles)
        except ConfigError:
            continue
        config, _ = resolve_lenient([game_settings(), profile.settings, own])
        model = config.llm_model or profile.model
        if profile.client == "openai" and model and is_local(profile.base_url):
            found[profile.base_url, model] = replace(told(profile, model), model=model)
    return list(found.values())


def own_models() -> Collection[Mapping[str, object]]:
    """Return the different choices of profile and model, the game's own (empty) among them."""
    rows = Attribute.objects.filter(
        scriptdb__db_key=SCRIPT_KEY, db_key__in=("profile", "llm_model")
    ).values_list("scriptdb__id", "db_key", "db_value")
    choices: dict[int, dict[str, object]] = {}
    for script_id, name, value in rows:
        choices.setdefault(script_id, {})[name] = value
    return {repr(sorted(choice.items())): choice for choice in ({}, *choices.values())}.values()


def is_wanted() -> bool:
    """Return False if the game's settings turn the warm-up off."""
    return bool(game_setting("WARM_UP", True))

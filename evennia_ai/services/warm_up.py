"""Let local models read the beginning of every prompt before the first player speaks.

A local server keeps the prompt it read last. One request with the part that all prompts share
spares the first player that time, and makes the server load the model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from evennia.typeclasses.attributes import Attribute
from twisted.logger import Logger
from twisted.python.failure import Failure

from evennia_ai.config import ModelProfile, choose_settings
from evennia_ai.config.profiles import request_form
from evennia_ai.errors import TurnAborted
from evennia_ai.game.settings import game_settings
from evennia_ai.messages import LLMReply
from evennia_ai.policy.limits.endpoint_facts import FIRST_DEADLINE_S
from evennia_ai.policy.request_forms.form import Schema
from evennia_ai.ports import NO_SCENE, Caller, Gateway, LLMRequest
from evennia_ai.scheduling import Clock
from evennia_ai.store.attributes import SCRIPT_KEY

log = Logger()

PURPOSE = "warm_up"
Told = Callable[[ModelProfile], ModelProfile]


def warm_up(
    gateway: Gateway, clock: Clock, profiles: Sequence[ModelProfile], tools: Sequence[Schema]
) -> None:
    """Send one request to each profile's endpoint, in the background; no player pays for it."""
    for profile in profiles:
        started = clock.seconds()
        call = gateway.complete(shared_prefix(profile, tools), profile, started + FIRST_DEADLINE_S)
        call.addCallback(note_done, profile.model, clock, started)
        call.addErrback(note_failure, profile.model)


def note_done(reply: LLMReply, model: str, clock: Clock, started: float) -> None:
    """Log that a model read what all prompts share."""
    log.info(
        "evennia_ai: {purpose}: {model} read the beginning of all prompts ({size}) in "
        "{seconds:.1f} s",
        purpose=PURPOSE,
        model=model,
        size=f"{reply.usage.prompt_tokens} tokens" if reply.usage else "of unknown size",
        seconds=clock.seconds() - started,
    )


def note_failure(failure: Failure, model: str) -> None:
    """Log why a model was not warmed up; it reads the whole prompt with the first line instead."""
    if not failure.check(TurnAborted):
        log.info(
            "evennia_ai: {purpose}: not done for {model}, its first answer takes longer: {problem}",
            purpose=PURPOSE,
            model=model,
            problem=failure.getErrorMessage(),
        )


def shared_prefix(profile: ModelProfile, tools: Sequence[Schema]) -> LLMRequest:
    """Return a request with the part that all prompts of the game begin with."""
    form = request_form(profile)
    rules = {"role": "system", "content": form.rules(tools)}
    return LLMRequest(
        messages=[rules, {"role": "user", "content": "Ready?"}],
        scene=NO_SCENE,
        tools=tools,
        max_tokens=1,
        caller=Caller(background=True),
        form=form.name,
    )


def local_models(profiles: Mapping[str, Mapping[str, Any]], told: Told) -> list[ModelProfile]:
    """Return the profile of each local model that assistants use; wrong settings are skipped."""
    found: dict[tuple[str, str], ModelProfile] = {}
    for own in own_models():
        profile = choose_settings(game_settings(), own, profiles).profile
        for one in profile.each if profile.client == "openai" and profile.model else ():
            if one.is_local:
                found[one.base_url, one.model] = told(one)
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

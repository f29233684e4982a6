"""The models of a check: the game's profiles and clients; nothing they learn or spend is stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.db import DatabaseError

from evennia_ai.config import AssistantConfig, ModelProfile, choose_settings, fit_settings
from evennia_ai.config.fields import known_setting
from evennia_ai.config.profiles import (
    DEFAULT_PROFILE,
    OFFLINE,
    Profiles,
    default_profiles,
    merge_profiles,
    resolve_profile,
)
from evennia_ai.errors import ConfigError
from evennia_ai.game.settings import game_setting, game_settings
from evennia_ai.llm.endpoint_facts import EndpointRegistry, LearningClient
from evennia_ai.llm.gateway import ModelGateway
from evennia_ai.llm.loop_thread import LoopThread
from evennia_ai.llm.openai_client import OpenAIClient
from evennia_ai.llm.probe import Prober
from evennia_ai.llm.reply_client import ReplyClient
from evennia_ai.offline import OfflineBrain
from evennia_ai.policy.scenes.format import Scene
from evennia_ai.ports import Gateway
from evennia_ai.scheduling import Clock
from evennia_ai.store.server_settings import StoredFacts

GUESSED_PROMPT = 1_600  # tokens


class KnownFacts(StoredFacts):
    """What the game's server learnt about endpoints, read only."""

    def load(self) -> Mapping[str, Any]:
        """Return the stored facts, none if the game has no database yet."""
        try:
            return super().load()
        except DatabaseError:
            return {}

    def save(self, facts: Mapping[str, Any]) -> None:
        """Store nothing."""


class CheckModels:
    """The gateway to all models of the game, and the settings for a scene."""

    def __init__(self, gateway: Gateway, profiles: Profiles, told: Callable[..., ModelProfile]):
        self.gateway, self.profiles = gateway, profiles
        self._told = told
        self.answered = False  # whether any model call succeeded

    def choose(
        self, scene: Scene, own: Mapping[str, Any], profile: str
    ) -> tuple[ModelProfile, AssistantConfig]:
        """Return profile and settings for a scene; ``profile`` beats the scene's and its own.

        Raises ConfigError if any of them is wrong.
        """
        for setting in scene.settings:
            known_setting(setting)
        layers = {**own, **scene.settings}
        name = profile or scene.profile
        if name:
            layers |= {"profile": name, "llm_model": scene.settings.get("llm_model")}
        self.resolve(str(layers.get("profile") or game_setting("profile", DEFAULT_PROFILE)))
        chosen = choose_settings(game_settings(), layers, self.profiles)
        if chosen.complaints:
            raise ConfigError(" ".join(chosen.complaints))
        told = self._told(chosen.profile)
        return told, fit_settings(chosen.values, told, lambda _: GUESSED_PROMPT)

    def resolve(self, name: str) -> ModelProfile:
        """Return a profile; raises ConfigError if it is unknown or wrong."""
        return resolve_profile(name, self.profiles)

    def judge(self, name: str) -> ModelProfile:
        """Return the profile of a judging model; raises ConfigError for the offline brain."""
        profile = self.resolve(name)
        if profile.client == OFFLINE["client"]:
            raise ConfigError(f"The profile '{name}' is the offline brain, which cannot judge.")
        return self._told(profile)


def open_models(
    clock: Clock, environ: Mapping[str, str], call_from_thread: Callable[..., object]
) -> tuple[CheckModels, Callable[[], None]]:
    """Return the game's models with their clients running, and a function that ends them.

    Raises ConfigError if the game's profiles are wrong.
    """
    profiles = merge_profiles(default_profiles(environ), game_setting("PROFILES", {}))
    thread = LoopThread(call_from_thread)
    client = OpenAIClient(thread, environ)
    endpoints = EndpointRegistry(Prober(clock, client).window, KnownFacts())
    learning = LearningClient(ReplyClient(client, call_from_thread), endpoints, clock)
    gateway = ModelGateway(clock, {"openai": learning, "offline": OfflineBrain()})
    thread.start()

    def close() -> None:
        gateway.close()  # first, so that the turn in flight is dropped
        thread.stop()

    return CheckModels(gateway, profiles, endpoints.told), close

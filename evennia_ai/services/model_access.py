"""Everything between the assistants and their language models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from twisted.logger import Logger

from evennia_ai.config import FIELDS
from evennia_ai.config.profiles import default_profiles, merge_profiles
from evennia_ai.game.crowd import account_of
from evennia_ai.game.settings import SettingReader, game_setting, game_settings
from evennia_ai.llm.endpoint_facts import EndpointRegistry, LearningClient
from evennia_ai.llm.gateway import GatewayLimits, ModelGateway
from evennia_ai.llm.loop_thread import LoopThread
from evennia_ai.llm.openai_client import OpenAIClient
from evennia_ai.llm.probe import Prober
from evennia_ai.llm.reply_client import ReplyClient
from evennia_ai.llm.tokenizers import load_for
from evennia_ai.offline import OfflineBrain
from evennia_ai.store.server_settings import StoredFacts
from evennia_ai.store.usage import spent_on

log = Logger()

PLAYER_TOKENS = 1_000_000  # a day; about 200 turns with a prompt of 5,000 tokens
LONGEST_TURN_S = float(FIELDS["turn_deadline"].metadata["high"])


class ModelAccess:
    """The model profiles, the clients and the gateway that calls them.

    ``environ`` holds the endpoints' keys; ``call_from_thread(f, *args)`` runs ``f`` in the
    reactor's thread.
    """

    def __init__(
        self,
        clock: Any,
        environ: Mapping[str, str],
        settings: SettingReader,
        call_from_thread: Callable[..., object],
    ) -> None:
        merge = partial(merge_profiles, default_profiles(environ))
        self.profiles = settings.read("PROFILES", merge, {})
        self.loop_thread = LoopThread(call_from_thread)
        self.client = OpenAIClient(self.loop_thread, environ, LONGEST_TURN_S)
        self.prober = Prober(clock, self.client)
        self.endpoints = EndpointRegistry(self.prober.window, StoredFacts())
        self.prober.keep = self.endpoints.note_probe
        reading = ReplyClient(self.client, call_from_thread)
        learning = LearningClient(reading, self.endpoints, clock)
        self.gateway = ModelGateway(
            clock,
            {"openai": learning, "offline": OfflineBrain()},
            read_limits(settings),
            spent_on,
            owner_of=account_of,
        )

    def start(self) -> None:
        """Start the thread for model calls and load what the first call would wait for."""
        self.loop_thread.start()
        named = {"default", str(game_setting("profile", "default")), *game_setting("PROFILES", ())}
        profiles = [self.profiles[name] for name in sorted(named) if name in self.profiles]
        if not any(profile.get("client") == "openai" for profile in profiles):
            return
        models = (game_setting("llm_model", ""), *(one.get("model") for one in profiles))
        # Loading a tokenizer holds every thread for a moment (measured): not while players wait.
        load_for([str(model) for model in models if model])
        problem = "evennia_ai: cannot load the package openai; model calls will fail"
        self.client.warm_up().addErrback(partial(log.failure, problem))


def read_limits(settings: SettingReader) -> GatewayLimits:
    """Return the limits that the game sets for all model calls."""
    default = GatewayLimits()
    return GatewayLimits(
        max_in_flight=settings.read("MAX_CALLS_IN_FLIGHT", read_count, default.max_in_flight),
        max_queued=settings.read("MAX_CALLS_WAITING", read_count, default.max_queued),
        player_tokens_per_day=read_player_budget(settings),
        game_tokens_per_day=settings.read("GAME_TOKENS_PER_DAY", read_budget, None),
    )


def read_player_budget(settings: SettingReader) -> int | None:
    """Return each player's budget; unlike elsewhere, None is no limit and not the default."""
    given = game_settings().get("PLAYER_TOKENS_PER_DAY", PLAYER_TOKENS)
    default = None if given is None else PLAYER_TOKENS
    return settings.read("PLAYER_TOKENS_PER_DAY", read_budget, default)


def read_count(value: Any) -> int:
    """Return a number of calls; raises ValueError if it is less than 1."""
    if int(value) < 1:
        raise ValueError(f"it must be at least 1, not {value!r}.")
    return int(value)


def read_budget(value: Any) -> int | None:
    """Return a budget in tokens, None for no limit; raises ValueError below 0."""
    if value is None:
        return None
    if int(value) < 0:
        raise ValueError(f"it must be 0 or more, not {value!r}.")
    return int(value)

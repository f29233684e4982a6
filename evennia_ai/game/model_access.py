"""Everything between the assistants and their language models."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from django.db import DatabaseError
from twisted.internet.defer import CancelledError, Deferred, succeed
from twisted.logger import Logger
from twisted.python.failure import Failure

from evennia_ai.config import FIELDS
from evennia_ai.config.profiles import CLIENTS, default_profiles, merge_profiles
from evennia_ai.game.extensions import extension_classes
from evennia_ai.game.settings import SettingReader, game_setting
from evennia_ai.llm.endpoint_facts import EndpointRegistry, ask_window
from evennia_ai.llm.gateway import ModelGateway
from evennia_ai.llm.loop_thread import LoopThread
from evennia_ai.llm.openai_client import OpenAIClient
from evennia_ai.llm.sdk_clients import quiet_http_logs
from evennia_ai.policy.limits.retry import GatewayLimits
from evennia_ai.ports import LLMClient
from evennia_ai.store.server_settings import FACTS, read_mapping, write

log = Logger()

CURRENCY = re.compile(r"\w{1,8}|[€£$¥]")
LONGEST_TURN_S = float(FIELDS["turn_deadline"].metadata["high"])


class ModelAccess:
    """The model profiles, the clients and the gateway; ``environ`` holds the endpoints' keys.

    With ``is_apart``, as scenes need it, what is learnt of endpoints is not stored, and no database
    is needed.
    """

    def __init__(
        self,
        clock: Any,
        environ: Mapping[str, str],
        settings: SettingReader,
        call_from_thread: Callable[..., object],
        is_apart: bool = False,
    ) -> None:
        self.loop_thread = LoopThread(call_from_thread)
        self.client = OpenAIClient(self.loop_thread, environ, LONGEST_TURN_S)
        clients = {"openai": self.client, **clients_of_extensions(settings, is_strict=is_apart)}
        CLIENTS.extend(clients.keys() - set(CLIENTS))
        merge = partial(merge_profiles, default_profiles(environ))
        self.profiles = settings.read("PROFILES", merge, {})
        save = (lambda _facts: None) if is_apart else partial(write, FACTS)
        load = known_facts if is_apart else partial(read_mapping, FACTS)
        self.endpoints = EndpointRegistry(partial(ask_window, clock, self.client), load, save)
        limits = GatewayLimits() if is_apart else read_limits(settings)
        self.gateway = ModelGateway(clock, clients, limits)
        self.gateway.learn, self.gateway.told = self.endpoints.learn, self.endpoints.told

    def start(self) -> Deferred[None]:
        """Start the thread and load what the first call would wait for; fires when that ended."""
        self.loop_thread.start()
        quiet_http_logs()  # also those of a store of long-term memory
        named = {"default", str(game_setting("profile", "default")), *game_setting("PROFILES", ())}
        profiles = [self.profiles[name] for name in sorted(named) if name in self.profiles]
        if not any(profile.get("client") == "openai" for profile in profiles):
            return succeed(None)
        problem = "evennia_ai: cannot load the package openai; model calls will fail"
        loaded = self.client.warm_up()
        loaded.addErrback(Failure.trap, CancelledError)  # a server that stops at once is no fault
        return loaded.addErrback(partial(log.failure, problem))


def clients_of_extensions(settings: SettingReader, is_strict: bool) -> dict[str, LLMClient]:
    """Return the clients that extensions add; staff read of those that cannot be made.

    With ``is_strict``, the first of their errors is raised.
    """
    clients: dict[str, LLMClient] = {}
    for extension in extension_classes()[0]:
        try:
            clients |= extension.model_clients(settings)
        except Exception as error:
            if is_strict:
                raise
            log.failure("evennia_ai: no model clients of {name}", name=extension.name)
            settings.complain(f"The extension {extension.name} has no model clients: {error}")
    return clients


def known_facts() -> dict[str, Any]:
    """Return what the game's server learnt about endpoints, nothing without a database."""
    try:
        return read_mapping(FACTS)
    except DatabaseError:
        return {}


def read_limits(settings: SettingReader) -> GatewayLimits:
    default = GatewayLimits()
    return GatewayLimits(
        max_in_flight=settings.read("MAX_CALLS_IN_FLIGHT", read_count, default.max_in_flight),
        max_queued=settings.read("MAX_CALLS_WAITING", read_count, default.max_queued),
        currency=settings.read("CURRENCY", read_currency, default.currency),
    )


def read_count(value: Any) -> int:
    if int(value) < 1:
        raise ValueError(f"it must be at least 1, not {value!r}.")
    return int(value)


def read_currency(value: Any) -> str:
    if not isinstance(value, str) or not CURRENCY.fullmatch(value):
        raise ValueError(f"it must be a short word such as 'EUR', not {value!r}.")
    return value

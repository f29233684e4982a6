"""What Evennia loads of us, as a service plugin and as a start-stop module: the door to `services`.

Evennia swallows an ImportError of a plugin without a word about its reason, and lets any other
error end the server's start. Here the reason is logged, with what to do about it, and the game runs
without minds. Imports nothing of ours before the server starts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from django.db import DatabaseError
from twisted.logger import Logger

log = Logger()

SERVICES = "evennia_ai.services.assistant_service"
COMMANDS = "evennia_ai.commands.cmdset"
HOOKS = "at_server_"
MISSING = (
    "A module cannot be imported: {error}. Install it into the game's environment, or mend its "
    "name where it is imported or named in AI_ASSISTANT"
)
NO_TABLES = "The database refused: {error}. Run `evennia migrate`"
OTHER = (
    "The last lines of what follows name the place. If it is a file of your game, such as a module "
    "named in AI_ASSISTANT, mend it; if not, please report it"
)


class Plugin:
    """Gives what Evennia calls to `services`, until something goes wrong there."""

    services: Any = None

    def start(self, server: Any) -> None:
        """Evennia's plugin hook; never fails."""
        try:
            services = import_module(SERVICES)
            import_module(COMMANDS).add_to_characters()
            services.start_plugin_services(server)
        except Exception as error:  # noqa: BLE001  # a game's modules may raise anything
            explain(error)
        else:
            self.services = services

    def call(self, hook: str) -> None:
        """A hook of a start-stop module; never fails."""
        try:
            getattr(self.services, hook, nothing)()
        except Exception as error:  # noqa: BLE001  # nor may the game's start, or its stop
            explain(error)


def nothing() -> None:
    """In the place of a hook that there is not."""


def explain(error: Exception) -> None:
    """Log what went wrong, where, and what to do."""
    log.failure(
        "evennia_ai is not running: the characters of this game have no minds. {advice}, and "
        "restart the game.",
        advice=advice_on(error),
    )


def advice_on(error: Exception) -> str:
    """What to do about an error."""
    if isinstance(error, ImportError):
        return MISSING.format(error=error)
    return NO_TABLES.format(error=error) if isinstance(error, DatabaseError) else OTHER


plugin = Plugin()
start_plugin_services = plugin.start


def __getattr__(name: str) -> Callable[[], None]:
    """Whatever start-stop hook Evennia asks for."""
    if name.startswith(HOOKS):
        return partial(plugin.call, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

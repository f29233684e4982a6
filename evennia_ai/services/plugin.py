"""The module that Evennia loads, as a service plugin and as a start-stop module.

Evennia drops an ImportError of a plugin without naming its reason, and any other error ends the
server's start. This module logs the reason, and the game runs without assistants. It imports
nothing of this package before the server starts.
"""

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
    """Passes Evennia's calls on to `assistant_service`, if that could be started."""

    services: Any = None

    def start(self, server: Any) -> None:
        """Start the service when Evennia calls its plugin hook; never raises."""
        try:
            services = import_module(SERVICES)
            import_module(COMMANDS).add_to_characters()
            services.start_plugin_services(server)
        except Exception as error:  # noqa: BLE001  # a game's modules may raise anything
            explain(error)
        else:
            self.services = services

    def call(self, hook: str) -> None:
        """Call a hook of the start-stop module, if there is one; never raises."""
        try:
            getattr(self.services, hook, lambda: None)()
        except Exception as error:  # noqa: BLE001  # the game must start and stop all the same
            explain(error)


def explain(error: Exception) -> None:
    log.failure(
        "evennia_ai is not running: no assistant of this game answers. {advice}, and "
        "restart the game.",
        advice=advice_on(error),
    )


def advice_on(error: Exception) -> str:
    if isinstance(error, ImportError):
        return MISSING.format(error=error)
    return NO_TABLES.format(error=error) if isinstance(error, DatabaseError) else OTHER


plugin = Plugin()
start_plugin_services = plugin.start


def __getattr__(name: str) -> Callable[[], None]:
    """Return the start-stop hook that Evennia asks for."""
    if name.startswith(HOOKS):
        return partial(plugin.call, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

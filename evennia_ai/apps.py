"""The Django app: tells Evennia of our service, so that a game edits nothing but INSTALLED_APPS."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.db import connections
from django.db.backends.signals import connection_created
from django.db.models.signals import post_migrate

from evennia_ai.game.settings import game_settings

MODULES = {
    "SERVER_SERVICES_PLUGIN_MODULES": "evennia_ai.services.plugin",
    "AT_SERVER_STARTSTOP_MODULE": "evennia_ai.services.plugin",
    "FILE_HELP_ENTRY_MODULES": "evennia_ai.game.help_entries",
    "INPUT_FUNC_MODULES": "evennia_ai.web.inputfuncs",
    "STATICFILES_DIRS": str(Path(__file__).parent / "web" / "static"),
}
# Deleted rows' bytes leave the file too: "forget me" must mean it.
PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=NORMAL",
    "PRAGMA busy_timeout=10000",
    "PRAGMA secure_delete=ON",
)
# Each with the entry of AI_ASSISTANT that turns it off.
MIDDLEWARE = {
    "LOCAL_LIBRARIES": "evennia_ai.web.middleware.LocalLibraries",
    "TYPING_INDICATOR": "evennia_ai.web.middleware.ClientPlugin",
}
# What must see the pages after us, as it compresses, stores or digests them.
LATER = (
    "django.middleware.cache.UpdateCacheMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "django.middleware.http.ConditionalGetMiddleware",
)


class EvenniaAIConfig(AppConfig):
    """Runs in launcher, portal and server alike, before twistd forks: no thread may start here."""

    name = "evennia_ai"
    verbose_name = "AI assistants"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Add our modules to those that Evennia's server process loads, and our middleware."""
        os.register_at_fork(before=close_connections)
        connection_created.connect(prepare_sqlite, dispatch_uid="evennia_ai.sqlite")
        post_migrate.connect(leave_write_ahead_log, sender=self, dispatch_uid="evennia_ai.leave")
        for name, module in MODULES.items():
            listed = getattr(settings, name)
            modules = [listed] if isinstance(listed, str) else list(listed)
            if module not in modules:
                setattr(settings, name, [*modules, module])
        settings.MIDDLEWARE = with_our_middleware(settings.MIDDLEWARE, game_settings())


def with_our_middleware(installed: Iterable[str], game: Mapping[str, Any]) -> list[str]:
    """The middleware of a game with ours among it: before all that makes pages (flat pages are
    made on the way out), after what packs them up."""
    ours = [path for name, path in MIDDLEWARE.items() if game.get(name, True)]
    others = [path for path in installed if path not in MIDDLEWARE.values()]
    first = 1 + max((i for i, path in enumerate(others) if path in LATER), default=-1)
    return [*others[:first], *ours, *others[first:]]


def prepare_sqlite(connection: Any, **kwargs: Any) -> None:
    """Let web pages read while the game writes, as long as our tables are there.

    Without write-ahead mode a 1.3 s read in a web thread held one insert on the reactor for 1.2 s
    (measured). A game that has taken us out must not be left in it: Evennia 5.0.1 alone would lose
    what it writes, see `close_connections`.
    """
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        if not has_our_tables(cursor):
            return
        for pragma in PRAGMAS:
            cursor.execute(pragma)


def has_our_tables(cursor: Any) -> bool:
    """True where the app is migrated."""
    cursor.execute("SELECT 1 FROM sqlite_master WHERE name = 'evennia_ai_event'")
    return cursor.fetchone() is not None


def leave_write_ahead_log(using: str, **kwargs: Any) -> None:
    """After our tables were taken out, give the database its ordinary mode back."""
    connection = connections[using]
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        return
    with connection.cursor() as cursor:
        if not has_our_tables(cursor):
            cursor.execute("PRAGMA journal_mode=DELETE")


def close_connections() -> None:
    """Let no SQLite connection live on in a forked process.

    twistd forks after Evennia has asked the database something. The child's connection has lost
    its locks; in write-ahead mode the next process that closes the file then deletes the log the
    server still writes to, and everything since is lost. Evennia 6 reconnects, 5.0.1 does not.
    """
    for connection in connections.all(initialized_only=True):
        if connection.vendor == "sqlite" and not connection.in_atomic_block:
            connection.close()

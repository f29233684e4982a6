"""The Django app: with it in INSTALLED_APPS, a game needs no other change."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import register
from django.core.management import get_commands
from django.db import connections
from django.db.backends.signals import connection_created
from django.db.models.signals import post_migrate

from evennia_ai.game.extensions import management_commands
from evennia_ai.game.settings import check_file_modes, game_settings

PACKAGE = Path(__file__).parent
MODULES = {
    "SERVER_SERVICES_PLUGIN_MODULES": "evennia_ai.services.plugin",
    "AT_SERVER_STARTSTOP_MODULE": "evennia_ai.services.plugin",
    "FILE_HELP_ENTRY_MODULES": "evennia_ai.game.help_entries",
    "INPUT_FUNC_MODULES": "evennia_ai.web.inputfuncs",
    "STATICFILES_DIRS": str(PACKAGE / "web" / "static"),
}
# secure_delete overwrites deleted rows in the file, as "forget me" promises.
PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=NORMAL",
    "PRAGMA busy_timeout=10000",
    "PRAGMA secure_delete=ON",
)
# By the entry of AI_ASSISTANT that turns each off.
MIDDLEWARE = {
    "LOCAL_LIBRARIES": "evennia_ai.web.middleware.local_libraries",
    "TYPING_INDICATOR": "evennia_ai.web.middleware.client_plugin",
}
OF_EXTENSIONS = "evennia_ai.web.middleware.of_extensions"
# The pages of extensions, behind the addresses of the game's own module, which `ready` keeps.
SITE_URLS = "evennia_ai.web.site_urls"
# Middleware that must run after ours on the way out: it compresses, caches or hashes pages.
LATER = (
    "django.middleware.cache.UpdateCacheMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "django.middleware.http.ConditionalGetMiddleware",
)


class EvenniaAIConfig(AppConfig):
    """The app. It runs in launcher, portal and server before twistd forks: start no thread here."""

    name = "evennia_ai"
    verbose_name = "AI assistants"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Add this package's modules, middleware and pages to Evennia's settings."""
        os.register_at_fork(before=close_connections)
        # For matrices as small as ours, numpy's threads made a search on busy cores take 120 ms
        # instead of 20 (measured). Without effect if the game has loaded numpy before.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        connection_created.connect(prepare_sqlite, dispatch_uid="evennia_ai.sqlite")
        post_migrate.connect(leave_write_ahead_log, sender=self, dispatch_uid="evennia_ai.leave")
        register(check_file_modes)
        get_commands().update(management_commands())
        for name, module in MODULES.items():
            listed = getattr(settings, name)
            modules = [listed] if isinstance(listed, str) else list(listed)
            if module not in modules:
                setattr(settings, name, [*modules, module])
        # An extension's lock functions are there for every process, also where it is off.
        locks = sorted(PACKAGE.glob("contrib/*/lock_functions.py"))
        functions = [f"evennia_ai.contrib.{file.parent.name}.{file.stem}" for file in locks]
        listed = [*settings.LOCK_FUNC_MODULES, *functions]
        settings.LOCK_FUNC_MODULES = list(dict.fromkeys(listed))
        settings.MIDDLEWARE = with_our_middleware(settings.MIDDLEWARE, game_settings())
        # An extension of the package has its templates and static files in its folder.
        static = [str(folder) for folder in sorted(PACKAGE.glob("contrib/*/static"))]
        settings.STATICFILES_DIRS = list(dict.fromkeys([*settings.STATICFILES_DIRS, *static]))
        templates = [str(folder) for folder in sorted(PACKAGE.glob("contrib/*/templates"))]
        engine = settings.TEMPLATES[0]
        engine["DIRS"] = list(dict.fromkeys([*engine.get("DIRS", ()), *templates]))
        if settings.ROOT_URLCONF != SITE_URLS:
            settings.AI_ASSISTANT_SITE_URLS = settings.ROOT_URLCONF
            settings.ROOT_URLCONF = SITE_URLS


def with_our_middleware(installed: Iterable[str], game: Mapping[str, Any]) -> list[str]:
    """Return the middleware of a game with ours, which must see each page whole and uncompressed.

    So it comes before all that makes pages, such as flat pages, and after that of `LATER`.
    """
    chosen = [path for name, path in MIDDLEWARE.items() if game.get(name, True)]
    ours = [*chosen, OF_EXTENSIONS]
    others = [path for path in installed if path not in (*MIDDLEWARE.values(), OF_EXTENSIONS)]
    first = 1 + max((i for i, path in enumerate(others) if path in LATER), default=-1)
    return [*others[:first], *ours, *others[first:]]


def prepare_sqlite(connection: Any, **kwargs: Any) -> None:
    """Set an SQLite database with our tables to write-ahead mode.

    Web pages can then read while the game writes. Without it, a 1.3 s read in a web thread held an
    insert on the reactor for 1.2 s (measured). A game without this package must not stay in this
    mode: Evennia 5.0.1 alone would lose data, see `close_connections`.
    """
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        if not has_our_tables(cursor):
            return
        for pragma in PRAGMAS:
            cursor.execute(pragma)


def has_our_tables(cursor: Any) -> bool:
    cursor.execute("SELECT 1 FROM sqlite_master WHERE name = 'evennia_ai_event'")
    return cursor.fetchone() is not None


def leave_write_ahead_log(using: str, **kwargs: Any) -> None:
    """Set the database back to its ordinary mode after our tables were removed."""
    connection = connections[using]
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        return
    with connection.cursor() as cursor:
        if not has_our_tables(cursor):
            cursor.execute("PRAGMA journal_mode=DELETE")


def close_connections() -> None:
    """Close all database connections before a fork.

    twistd forks after Evennia has used the database, and a forked connection has lost its locks. In
    write-ahead mode, the next process that closes the file would then delete the log that the
    server still writes to; all later data would be lost. Evennia 6 reconnects, 5.0.1 does not. A
    connection to a server would have two processes that read from it.
    """
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()

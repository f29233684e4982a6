"""The Django app: tells Evennia of our service, so that a game edits nothing but INSTALLED_APPS."""

from django.apps import AppConfig
from django.conf import settings
from django.db.backends.signals import connection_created

SERVICES = "evennia_ai.services"
WAL_PRAGMAS = ("PRAGMA journal_mode=WAL", "PRAGMA busy_timeout=10000")


class EvenniaAIConfig(AppConfig):
    """Runs in launcher, portal and server alike, before twistd forks: no thread may start here."""

    name = "evennia_ai"
    verbose_name = "AI assistants"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Add the service to the modules that Evennia's server process loads."""
        connection_created.connect(use_write_ahead_log, dispatch_uid="evennia_ai.wal")
        for name in ("SERVER_SERVICES_PLUGIN_MODULES", "AT_SERVER_STARTSTOP_MODULE"):
            listed = getattr(settings, name)
            modules = [listed] if isinstance(listed, str) else list(listed)
            if SERVICES not in modules:
                setattr(settings, name, [*modules, SERVICES])


def use_write_ahead_log(connection, **kwargs) -> None:
    """Let web pages read while the game writes.

    Without it a 1.3 s read in a web thread held one insert on the reactor for 1.2 s (measured).
    """
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        for pragma in WAL_PRAGMAS:
            cursor.execute(pragma)

"""Who waits to be forgotten: kept until it is done, so that a restart resumes it."""

from __future__ import annotations

from collections.abc import Iterable

from evennia.server.models import ServerConfig

from evennia_ai.store.brief_transaction import brief_transaction

# The key in Evennia's table of server settings.
KEY = "evennia_ai_to_forget"


def wishes() -> list[str]:
    """Return the dbrefs of those who wait to be forgotten."""
    return list(ServerConfig.objects.conf(KEY) or ())


def add_wishes(people: Iterable[str]) -> None:
    """Note that some people are to be forgotten; raises StoreUnavailable."""
    store({*wishes(), *people})


def drop_wishes(people: Iterable[str]) -> None:
    """Note that some people are forgotten; raises StoreUnavailable."""
    store({*wishes()}.difference(people))


def store(people: set[str]) -> None:
    """Replace the stored dbrefs."""
    with brief_transaction():
        if people:
            ServerConfig.objects.conf(KEY, sorted(people))
        else:
            ServerConfig.objects.conf(KEY, delete=True)
